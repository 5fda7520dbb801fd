"""The inventory of a folder that stands in for a machine, and of this one, line by line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.measure.devices import volume_facts
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of, read_inventory
from mawl.records.model.node import Inventory
from mawl.records.model.series_metrics import FIGURES
from mawl.records.spec.program_options import Options
from tests.fakes.tree import plant

NFS = "nfs4 srv:/x rw,rsize=1048576,wsize=524288,vers=4.2"


@pytest.fixture
def recorded(tmp_path: Path) -> Inventory:
    """A bare-metal server with a disk of many paths, NVMe, fibre channel, and NFS."""
    plant(
        tmp_path,
        {
            "proc/sys/vm/swappiness": "10\n",
            "proc/sys/vm/min_free_kbytes": "67584\n",
            "proc/sys/vm/dirty_expire_centisecs": "3000\n",
            "proc/meminfo": "SwapTotal:  2048 kB\n",
            "proc/cmdline": "root=/dev/secret token=abc intel_idle.max_cstate=1\n",
            "proc/self/limits": "Max open files            1024                 524288               files\n",
            "proc/self/mountinfo": f"30 1 0:50 / /data rw,noatime - {NFS}\n",
            "proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            "sys/kernel/debug/sched/base_slice_ns": "3000000\n",
            "sys/class/block/dm-0/queue/scheduler": "[none] mq-deadline\n",
            "sys/class/block/dm-0/queue/read_ahead_kb": "4096\n",
            "sys/class/block/dm-0/queue/rotational": "1\n",
            "sys/class/block/dm-0/dm/uuid": "mpath-3600\n",
            "sys/class/block/dm-0/slaves/sda/device/state": "running\n",
            "sys/class/block/dm-0/slaves/sdb/device/state": "offline\n",
            "sys/class/nvme-subsystem/nvme-subsys0/iopolicy": "numa\n",
            "sys/class/nvme-subsystem/nvme-subsys0/nvme0/transport": "pcie\n",
            "sys/class/nvme-subsystem/nvme-subsys0/nvme0/state": "live\n",
            "sys/class/scsi_host/host1/proc_name": "lpfc\n",
            "sys/class/scsi_host/host1/can_queue": "8192\n",
            "sys/class/fc_host/host1/speed": "16 Gbit\n",
            "sys/module/lpfc/parameters/lpfc_lun_queue_depth": "64\n",
            "sys/class/nvme/nvme0/sqsize": "1023\n",
            "sys/class/net/eth0/speed": "25000\n",
            "sys/class/net/eth0/mtu": "9000\n",
            "sys/devices/system/cpu/online": "0-1\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state0/latency": "0\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state0/disable": "0\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state1/latency": "133\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state1/disable": "0\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state2/latency": "900\n",
            "sys/devices/system/cpu/cpu0/cpuidle/state2/disable": "1\n",
            "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
            "sys/fs/lustre/llite/fs-1/max_read_ahead_per_file_mb": "64\n",
            "sys/fs/lustre/osc/fs-OST0/max_rpcs_in_flight": "8\n",
            "etc/tuned/active_profile": "throughput-performance\n",
        },
    )
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    return read_inventory(
        read_machine(proc, sys, tmp_path),
        devices=["dm-0"],
        places=[Path("/data/mawl")],
        options=Options(),
        proc=proc,
        sys=sys,
        root=tmp_path,
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("memory.machine.swappiness", 10),
        ("memory.machine.min_free_bytes", 67584 * 1024),
        ("memory.machine.dirty_expire_seconds", 30.0),
        ("memory.machine.swap_bytes", 2048 * 1024),
        ("memory.machine.transparent_huge_pages", "madvise"),
        ("kernel.machine.sched_min_granularity_seconds", 0.003),
        ("kernel.machine.command_line", "intel_idle.max_cstate=1"),
        ("kernel.machine.tuned_profile", "throughput-performance"),
        ("limits.machine.open_files", 1024),
        ("limits.machine.open_files_most", 524288),
        ("block.dm-0.scheduler", "none"),
        ("block.dm-0.read_ahead_bytes", 4 * 2**20),
        ("block.dm-0.rotational", True),
        ("block.dm-0.transport", "device mapper"),
        ("block.dm-0.members", "sda sdb"),
        ("multipath.dm-0.paths", 2),
        ("multipath.dm-0.paths_usable", 1),
        ("multipath.dm-0.policy", None),
        ("multipath.nvme-subsys0.policy", "numa"),
        ("multipath.nvme-subsys0.paths_usable", 1),
        ("adapter.host1.kind", "fibre channel"),
        ("adapter.host1.lun_queue_depth", 64),
        ("adapter.nvme0.queue_entries", 1024),
        ("file_system./data.type", "nfs4"),
        ("file_system./data.network", True),
        ("file_system./data.access_times", "noatime"),
        ("file_system./data.read_bytes", 2**20),
        ("file_system./data.write_bytes", 2**19),
        ("file_system./data.connections", 1),
        ("network.eth0.speed_bits_per_second", 25 * 10**9),
        ("network.eth0.fast", True),
        ("network.eth0.mtu_bytes", 9000),
        ("tcp.machine.receive_most_bytes", 6291456),
        ("cpu.machine.governor", "performance, powersave"),
        ("cpu.machine.turbo", True),
        ("cpu.machine.idle_exit_seconds", 0.000133),
        ("lustre.llite.fs-1.max_read_ahead_per_file_bytes", 64 * 2**20),
        ("lustre.osc.fs-OST0.requests_in_flight", 8),
        ("options.machine.sortsize_bytes", 256 * 2**20),
    ],
)
def test_a_recorded_machine_is_read(recorded: Inventory, path: str, value: object) -> None:
    family, _, rest = path.partition(".")
    subject, _, figure = rest.rpartition(".")
    assert recorded.families[family][subject][figure] == value


def complaints(inventory: Inventory) -> list[str]:
    """Figures without a definition, and nulls without a reason."""
    return [
        f"{family}.{subject}.{name}"
        for family, subjects in inventory.families.items()
        for subject, figures in subjects.items()
        for name, value in figures.items()
        if name not in FIGURES[family]
        or ((value is None) is not (f"{family}.{subject}.{name}" in inventory.missing))
    ]


def test_every_figure_is_defined_and_every_null_has_its_reason(recorded: Inventory) -> None:
    assert complaints(recorded) == []
    assert recorded.missing["multipath.dm-0.policy"].startswith("the table of dm-0 is for root")
    assert recorded.missing["memory.machine.dirty_ratio"].endswith("dirty_ratio: no such file or directory")


def test_this_machine_says_what_its_files_say(tmp_path: Path) -> None:
    volumes = volume_facts({"data": [tmp_path]}, "here")
    found = inventory_of(read_machine(), volumes, Options())
    assert complaints(found) == []
    for name in ("swappiness", "dirty_ratio", "dirty_background_ratio", "vfs_cache_pressure"):
        told = int(Path("/proc/sys/vm", name).read_text())
        assert found.families["memory"]["machine"][name] == told
    for device, figures in found.families.get("block", {}).items():
        queue = Path("/sys/class/block", device, "queue")
        assert figures["read_ahead_bytes"] == int((queue / "read_ahead_kb").read_text()) * 1024
        assert figures["requests"] == int((queue / "nr_requests").read_text())
        assert f"[{figures['scheduler']}]" in (queue / "scheduler").read_text()
    (mount,) = found.families["file_system"].values()
    assert mount["block_bytes"] == os.statvfs(tmp_path).f_frsize


def test_an_empty_machine_has_reasons_only(tmp_path: Path) -> None:
    read = read_machine(tmp_path, tmp_path, tmp_path)
    found = read_inventory(read, devices=["sda"], places=[], proc=tmp_path, sys=tmp_path, root=tmp_path)
    assert complaints(found) == []
    assert set(found.missing) >= {"block", "multipath", "adapter", "lustre", "network", "file_system"}
