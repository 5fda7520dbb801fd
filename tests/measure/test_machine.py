"""Machine facts from a folder that stands in for a machine.

Sockets, cores, threads and memory nodes from a folder that stands in for sysfs.

Signals that come while a block must not be interrupted.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from mawl.measure.machine import (
    Limits,
    Machine,
    Topology,
    core_siblings,
    parse_cpu_list,
    read_machine,
    read_topology,
)
from mawl.measure.processes import uninterrupted
from tests.fakes.tree import plant

CPUINFO = """processor\t: 0
model name\t: Some  CPU @ 2.5 GHz
flags\t\t: fpu sse {flag}

processor\t: 1
model name\t: Some  CPU @ 2.5 GHz
flags\t\t: fpu sse {flag}
"""
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                96365                processes
Max open files            1024                 524288               files
Max locked memory         unlimited            unlimited            bytes
"""


@pytest.fixture
def metal(tmp_path: Path) -> Path:
    """A machine of 2 cores with 2 threads each, no hypervisor, no container, no control groups."""
    plant(
        tmp_path,
        {
            "proc/cpuinfo": CPUINFO.format(flag="avx"),
            "proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\nSwapTotal: 0 kB\n",
            "proc/loadavg": "0.50 0.25 0.10 1/200 999\n",
            "proc/self/status": "Name:\tx\nCpus_allowed_list:\t0,2-3\n",
            "proc/self/limits": LIMITS,
            "proc/self/cgroup": "0::/\n",
            "proc/sys/kernel/hostname": "node1\n",
            "proc/sys/kernel/osrelease": "6.1.0\n",
            "proc/sys/kernel/random/boot_id": "abc\n",
            "proc/sys/kernel/sched_autogroup_enabled": "1\n",
            "sys/devices/system/cpu/online": "0-3\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
            "sys/class/dmi/id/sys_vendor": "Maker Inc.\n",
            **{
                f"sys/devices/system/cpu/cpu{n}/topology/core_cpus_list": f"{n % 2},{n % 2 + 2}\n"
                for n in range(4)
            },
        },
    )
    return tmp_path


def read(root: Path) -> Machine:
    return read_machine(root / "proc", root / "sys", root)


@pytest.mark.parametrize(
    ("basis", "logical", "usable", "quota", "expected"),
    [
        ("vCPU", 8, list(range(8)), None, 8),
        ("vCPU", 8, [0, 4], None, 2),
        ("vCPU", 64, list(range(64)), 8.0, 8),
        ("vCPU", 64, [0, 1, 2, 3], 8.0, 4),
        ("vCPU", 8, None, 0.5, 1),
        ("vCPU", None, None, 2.0, None),
        ("physical core", 4, [0, 2, 3], None, 2),
        ("physical core", 4, None, 2.0, 1),
    ],
)
def test_affinity_and_quota_leave_a_part_of_the_cores(
    metal: Path,
    basis: str,
    logical: int | None,
    usable: list[int] | None,
    quota: float | None,
    expected: int | None,
) -> None:
    """The last two are of the machine with two cores of two threads each: a CPU is half a core."""
    changes = {
        "core_basis": basis,
        "logical_cpus": logical,
        "usable_cpus": usable,
        "cpu_quota_cores": quota,
    }
    assert msgspec.structs.replace(read(metal), **changes).available_cores == expected


def test_only_a_quota_or_limit_below_the_machine_binds(metal: Path) -> None:
    machine = read(metal)
    assert machine.memory_bytes is not None

    def held(quota: float | None, limit: int | None) -> tuple[float | None, int | None]:
        one = msgspec.structs.replace(machine, cpu_quota_cores=quota, memory_limit_bytes=limit)
        return one.binding_cpu_quota, one.binding_memory_limit

    assert held(1.5, machine.memory_bytes - 1) == (1.5, machine.memory_bytes - 1)
    assert held(3.0, machine.memory_bytes) == held(None, None) == (None, None), "it may run on three CPUs"


def test_a_physical_machine_counts_cores_not_threads(metal: Path) -> None:
    machine = read(metal)
    assert (machine.logical_cpus, machine.physical_cores) == (4, 2)
    assert (machine.core_basis, machine.cores) == ("physical core", 2)
    assert machine.virtual is None
    assert machine.cpu_model == "Some CPU @ 2.5 GHz"
    assert machine.usable_cpus == [0, 2, 3]
    assert (machine.memory_bytes, machine.memory_available_bytes) == (1000 * 1024, 600 * 1024)
    assert machine.swap_bytes == 0
    assert machine.load_average == (0.5, 0.25, 0.1)
    assert (machine.name, machine.kernel, machine.boot_id, machine.clock_source) == (
        "node1",
        "6.1.0",
        "abc",
        "tsc",
    )
    assert machine.autogroup is True
    assert machine.limits == Limits(
        open_files=1024, open_files_most=524288, processes=96365, locked_memory_bytes="unlimited"
    )
    assert machine.missing == {}


@pytest.mark.parametrize(
    "files",
    [
        {"proc/cpuinfo": CPUINFO.format(flag="hypervisor")},
        {"sys/class/dmi/id/sys_vendor": "QEMU\n"},
        {"sys/class/dmi/id/product_name": "VMware Virtual Platform\n"},
        {"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "m6g.large\n"},
        {"sys/hypervisor/type": "xen\n"},
    ],
)
def test_a_virtual_machine_counts_vcpus(metal: Path, files: dict[str, str]) -> None:
    plant(metal, files)
    machine = read(metal)
    assert (machine.core_basis, machine.cores) == ("vCPU", 4)
    assert machine.virtual


def test_a_bare_metal_instance_of_a_cloud_is_no_virtual_machine(metal: Path) -> None:
    plant(
        metal, {"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "m6g.metal\n"}
    )
    assert read(metal).core_basis == "physical core"


AZURE_DATA = """{"v1": {"cloud_name": "azure"}, "ds": {"meta_data": {"imds": {"compute":
{"vmSize": "Standard_E16ds_v5", "location": "westeurope"}}}}}"""
DMI = "sys/class/dmi/id"
DATA = "run/cloud-init/instance-data.json"


@pytest.mark.parametrize(
    ("files", "cloud", "kind"),
    [
        ({f"{DMI}/sys_vendor": "Amazon EC2\n", f"{DMI}/product_name": "m6i.4xlarge\n"}, "aws", "m6i.4xlarge"),
        ({f"{DMI}/sys_vendor": "Xen\n", f"{DMI}/product_name": "HVM domU\n"}, None, None),
        (
            {
                f"{DMI}/sys_vendor": "Xen\n",
                DATA: '{"v1": {"cloud_name": "aws"}, "ds": {"meta_data": {"instance-type": "m4.large"}}}',
            },
            "aws",
            "m4.large",
        ),
        (
            {f"{DMI}/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n", DATA: AZURE_DATA},
            "azure",
            "Standard_E16ds_v5",
        ),
        (
            {f"{DMI}/sys_vendor": "Microsoft Corporation\n", f"{DMI}/product_name": "Virtual Machine\n"},
            None,
            None,
        ),
        ({f"{DMI}/sys_vendor": "Google\n", f"{DMI}/product_name": "Google Compute Engine\n"}, "gcp", None),
        ({f"{DMI}/sys_vendor": "Google\n", f"{DMI}/product_name": "Eve\n"}, None, None),  # a laptop
        ({f"{DMI}/chassis_asset_tag": "OracleCloud.com\n", DATA: "{"}, "oci", None),
        ({DATA: '{"v1": {"cloud_name": "nocloud"}, "ds": []}'}, None, None),
    ],
)
def test_the_cloud_and_the_instance_type_are_what_firmware_and_cloud_init_tell(
    metal: Path, files: dict[str, str], cloud: str | None, kind: str | None
) -> None:
    plant(metal, files)
    machine = read(metal)
    assert (machine.cloud, machine.instance_type) == (cloud, kind)


def test_what_cannot_be_read_is_none_with_a_reason_and_never_zero(tmp_path: Path) -> None:
    machine = read(tmp_path)
    assert machine.memory_bytes is None
    assert machine.load_average is None
    assert machine.usable_cpus is None
    assert machine.cores is None
    assert "no such file" in machine.missing["memory_bytes"]
    assert machine.missing["physical_cores"]
    nameless = {"virtual", "container", "cpu_quota_cores", "memory_limit_bytes", "cloud", "instance_type"}
    absent = {name for name in machine.__struct_fields__ if getattr(machine, name) is None}
    assert absent - nameless == set(machine.missing)


def test_an_arm_machine_without_a_model_name_says_so(metal: Path) -> None:
    plant(metal, {"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 50\nCPU part\t: 0xd0c\n"})
    machine = read(metal)
    assert machine.cpu_model is None
    assert machine.missing["cpu_model"] == "the kernel does not say"


def test_memory_at_hand_is_bounded_by_the_control_group(metal: Path) -> None:
    plant(
        metal,
        {
            "sys/fs/cgroup/cgroup.controllers": "memory cpu\n",
            "sys/fs/cgroup/memory.max": str(400 * 1024),
            "sys/fs/cgroup/memory.current": str(300 * 1024),
            "sys/fs/cgroup/memory.stat": f"anon 5\ninactive_file {100 * 1024}\n",
        },
    )
    machine = read(metal)
    assert machine.memory_limit_bytes == 400 * 1024
    assert machine.memory_available_bytes == 200 * 1024


def test_cpu_lists_of_the_kernel() -> None:
    assert parse_cpu_list("0-3,8,10-11\n") == [0, 1, 2, 3, 8, 10, 11]
    assert parse_cpu_list("") == []


def test_this_machine_can_be_read() -> None:
    machine = read_machine()
    assert machine.logical_cpus is not None and machine.logical_cpus >= 1
    assert machine.memory_bytes is not None and machine.memory_available_bytes is not None
    assert machine.memory_available_bytes <= machine.memory_bytes
    assert machine.kernel is not None


CPUS = "sys/devices/system/cpu"


def test_two_sockets_with_threads(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            f"{CPUS}/online": "0-7\n",
            f"{CPUS}/smt/control": "on\n",
            f"{CPUS}/cpu0/cpufreq/scaling_driver": "intel_pstate\n",
            f"{CPUS}/cpu0/cpufreq/scaling_governor": "performance\n",
            "sys/devices/system/node/online": "0-1\n",
            **{f"{CPUS}/cpu{n}/topology/physical_package_id": f"{n % 4 // 2}\n" for n in range(8)},
            **{f"{CPUS}/cpu{n}/topology/thread_siblings_list": f"{n % 4},{n % 4 + 4}\n" for n in range(8)},
        },
    )
    assert read_topology(tmp_path / "sys") == Topology(
        logical_cpus=8,
        physical_cores=4,
        sockets=2,
        smt="on",
        memory_nodes=2,
        frequency_policy="intel_pstate, performance",
    )


def test_threads_that_are_switched_off_are_no_siblings(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            f"{CPUS}/online": "0-1\n",
            **{f"{CPUS}/cpu{n}/topology/core_cpus_list": f"{n}\n" for n in range(4)},
        },
    )
    assert core_siblings(tmp_path / "sys") == [[0], [1]]


def test_a_machine_that_says_nothing(tmp_path: Path) -> None:
    assert read_topology(tmp_path) == Topology(
        logical_cpus=None,
        physical_cores=None,
        sockets=None,
        smt=None,
        memory_nodes=None,
        frequency_policy=None,
    )


NUMBERS = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def seen() -> Iterator[list[int]]:
    """The signals that a handler outside of the block gets."""
    found: list[int] = []
    before = {number: signal.signal(number, lambda which, _: found.append(which)) for number in NUMBERS}
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_each_signal_waits_for_the_outermost_block_and_comes_once(seen: list[int]) -> None:
    with uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
        assert seen == []
    assert seen == [signal.SIGTERM, signal.SIGINT]
    signal.raise_signal(signal.SIGINT)
    assert len(seen) == 3, "the handlers are back"


def test_a_signal_is_not_lost_in_a_block_that_fails(seen: list[int]) -> None:
    with pytest.raises(OSError, match="no such program"), uninterrupted():
        signal.raise_signal(signal.SIGTERM)
        raise OSError("no such program")
    assert seen == [signal.SIGTERM]


def test_what_a_signal_raises_has_the_error_of_the_block_as_its_context() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as raised, uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise OSError("no such program")
    finally:
        signal.signal(signal.SIGINT, before)
    assert isinstance(raised.value.__context__, OSError)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
