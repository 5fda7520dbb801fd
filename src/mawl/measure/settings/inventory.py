"""The settings of one machine as an inventory; every file is read once, and nothing is run or changed.

Sources: Linux Documentation/admin-guide/sysctl/vm.rst, mm/transhuge.rst, admin-guide/pm, cputopology.rst,
sysfs-class-net; ethtool(8) by its ioctl, with commands that only read.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mawl.measure.machine import Machine, core_siblings, limit_of_process, online_processors, parse_cpu_list
from mawl.measure.settings.storage import (
    KIB,
    Subject,
    known_text,
    names_in,
    read_adapters,
    read_block,
    read_file_system,
    read_lustre,
)
from mawl.records.model.node import Figures, Inventory
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Options


def read_inventory(
    machine: Machine,
    *,
    devices: Iterable[str],
    places: Iterable[Path],
    options: Options | None = None,
    proc: Path = Path("/proc"),
    sys: Path = Path("/sys"),
    root: Path = Path("/"),
) -> Inventory:
    """The settings of this machine; ``devices`` are block devices (disks and layers above them),
    ``places`` directories of the roles, ``options`` those a user gave.  Nothing is raised: what cannot
    be read is None with its reason.
    """
    began = time.thread_time()
    families: dict[str, dict[str, Figures]] = {}
    missing: dict[str, str] = {}
    for subject in _subjects(machine, devices, places, proc, sys, root):
        families.setdefault(subject.family, {})[subject.name] = subject.figures
        missing |= subject.missing
    if options is not None:
        families["options"] = {"machine": msgspec.to_builtins(options)}
    for family, reason in (
        ("block", "no block device is known under the roles"),
        ("multipath", "no device has several paths that this process sees"),
        ("adapter", "no SCSI host and no NVMe controller"),
        ("lustre", "no Lustre client"),
        ("network", "no interface but the loopback"),
        ("file_system", "no mount holds the roles"),
    ):
        if family not in families:
            missing[family] = reason
    return Inventory(families=families, missing=missing, cpu_seconds=time.thread_time() - began)


def inventory_of(machine: Machine, volumes: Sequence[VolumeFacts], options: Options) -> Inventory:
    """The settings of this machine; of its devices and mounts those that hold the volumes."""
    return read_inventory(
        machine,
        devices=dict.fromkeys(name for volume in volumes for name in (*volume.layers, *volume.disks)),
        places=[Path(volume.directory) for volume in volumes],
        options=options,
    )


def _subjects(
    machine: Machine, devices: Iterable[str], places: Iterable[Path], proc: Path, sys: Path, root: Path
) -> Iterator[Subject]:
    yield from read_memory(proc, sys)
    yield from read_kernel(proc, sys, root)
    yield from read_block(sys, devices)
    yield from read_file_system(proc, sys, places)
    yield from read_network(proc, sys, ask=sys == Path("/sys"))
    yield from read_adapters(sys)
    yield from read_lustre(proc, sys)
    yield from read_processors(sys, machine)
    yield read_container(proc, sys, machine)


BILLION = 10**9
TUNING_ARGUMENTS = {
    "mitigations", "processor.max_cstate", "intel_idle.max_cstate", "idle", "transparent_hugepage",
    "isolcpus", "nohz_full", "rcu_nocbs", "numa_balancing", "preempt", "nosmt", "intel_pstate", "amd_pstate",
    "elevator",
    "nvme_core.multipath", "nvme_core.iopolicy", "nvme_core.io_timeout", "nvme.poll_queues", "hugepages",
    "hugepagesz", "cpufreq.default_governor", "scsi_mod.use_blk_mq", "pcie_aspm", "iommu", "intel_iommu",
}  # fmt: skip
LIMITS = {
    "open_files": "Max open files",
    "processes": "Max processes",
    "locked_memory_bytes": "Max locked memory",
    "stack_bytes": "Max stack size",
    "file_size_bytes": "Max file size",
}


def read_kernel(proc: Path, sys: Path, root: Path) -> Iterator[Subject]:
    """Settings of the scheduler and the boot command line; then the limits of this process."""
    kernel = Subject("kernel")
    kernel.sysctls(proc)
    debug = sys / "kernel/debug/sched"
    for figure, names in (
        ("sched_min_granularity_seconds", ("min_granularity_ns", "base_slice_ns")),
        ("sched_wakeup_granularity_seconds", ("wakeup_granularity_ns",)),
        ("sched_migration_cost_seconds", ("migration_cost_ns",)),
    ):
        # Until Linux 5.13 a sysctl; then in debugfs, since 6.6 under another name (kernel/sched/debug.c).
        if kernel.figures[figure] is None:
            places = [debug / name for name in names]
            there = next((place for place in places if os.access(place, os.R_OK)), places[-1])
            kernel.seconds(figure, there, BILLION)
    kernel.read("preemption", sys / "kernel/debug/sched/preempt", _preemption)
    kernel.text("tuned_profile", root / "etc/tuned/active_profile")
    kernel.read("command_line", proc / "cmdline", _tuning_arguments)
    yield kernel
    yield _limits(proc)


def _tuning_arguments(text: str) -> str:
    """The arguments that are settings of performance; others may tell what is nobody's business."""
    kept = [word for word in text.split() if word.partition("=")[0] in TUNING_ARGUMENTS]
    return " ".join(kept) or "none of them"


def _preemption(text: str) -> str | None:
    match = re.search(r"\(([a-z]+)\)", text)
    return match[1] if match else None


def _limits(proc: Path) -> Subject:
    subject = Subject("limits")
    for figure, name in LIMITS.items():
        subject.read(figure, proc / "self/limits", lambda text, name=name: limit_of_process(text, name, 1))  # type: ignore[misc]
    subject.read(
        "open_files_most", proc / "self/limits", lambda text: limit_of_process(text, "Max open files", 2)
    )
    subject.sysctls(proc)
    return subject


def read_memory(proc: Path, sys: Path) -> Iterator[Subject]:
    """Virtual memory, huge pages, swap and NUMA of the whole machine: one subject."""
    subject = Subject("memory")
    subject.sysctls(proc)
    pages = sys / "kernel/mm/transparent_hugepage"
    subject.chosen("transparent_huge_pages", pages / "enabled")
    subject.chosen("transparent_huge_page_defrag", pages / "defrag")
    subject.read("swap_bytes", proc / "meminfo", _swap_bytes)
    subject.read("nodes", sys / "devices/system/node/online", lambda text: len(parse_cpu_list(text)))
    subject.number("ksm", sys / "kernel/mm/ksm/run")
    yield subject


def _swap_bytes(text: str) -> int | None:
    match = re.search(r"^SwapTotal:\s+([0-9]+) kB", text, re.M)
    return None if match is None else int(match[1]) * KIB


SIOCETHTOOL = 0x8946
GRINGPARAM = 0x10
OFFLOADS = {
    "receive_checksum_offload": 0x14,
    "transmit_checksum_offload": 0x16,
    "segmentation_offload": 0x1E,
    "generic_receive_offload": 0x2B,
}
"""Read commands of include/uapi/linux/ethtool.h, which need no root."""
MEGABIT = 10**6
FAST_BITS_PER_SECOND = 10**10


def read_network(proc: Path, sys: Path, ask: bool = True) -> Iterator[Subject]:
    """Interfaces other than the loopback, then TCP; ``ask`` the kernel what sysfs does not tell."""
    for name in names_in(sys / "class/net"):
        directory = sys / "class/net" / name
        if name != "lo" and directory.is_dir():
            yield _interface(name, directory, ask)
    tcp = Subject("tcp")
    tcp.sysctls(proc)
    yield tcp


def _interface(name: str, directory: Path, ask: bool) -> Subject:
    subject = Subject("network", name)
    subject.read("speed_bits_per_second", directory / "speed", lambda text: _speed(text))
    speed = subject.figures["speed_bits_per_second"]
    subject.put(
        "fast",
        speed >= FAST_BITS_PER_SECOND if isinstance(speed, int) else None,
        "its speed is not known",
    )
    subject.number("mtu_bytes", directory / "mtu")
    subject.text("duplex", directory / "duplex")
    subject.number("transmit_queue_length", directory / "tx_queue_len")
    queues = names_in(directory / "queues")
    for figure, start in (("receive_queues", "rx-"), ("transmit_queues", "tx-")):
        subject.put(figure, sum(queue.startswith(start) for queue in queues) or None)
    driver = directory / "device/driver"
    subject.put("driver", driver.resolve().name if driver.exists() else None, "it has no device")
    _ethtool(subject, name, ask)
    return subject


def _speed(text: str) -> int | None:
    """-1 stands for unknown: no link, or a virtual interface."""
    return int(text) * MEGABIT if int(text) > 0 else None


def _ethtool(subject: Subject, name: str, ask: bool) -> None:
    rings = ("receive_ring_most", "transmit_ring_most", "receive_ring", "transmit_ring")
    if not ask:
        for figure in (*rings, *OFFLOADS):
            subject.put(figure, None, "not asked: the folders replace a machine")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        told = _ethtool_answer(channel, name, struct.pack("=9I", GRINGPARAM, *[0] * 8))
        numbers = struct.unpack("=9I", told) if isinstance(told, bytes) else None
        for figure, place in zip(rings, (1, 4, 5, 8), strict=True):
            subject.put(figure, numbers[place] if numbers else None, str(told))
        for figure, command in OFFLOADS.items():
            told = _ethtool_answer(channel, name, struct.pack("=2I", command, 0))
            value = bool(struct.unpack("=2I", told)[1]) if isinstance(told, bytes) else None
            subject.put(figure, value, str(told))


def _ethtool_answer(channel: socket.socket, name: str, question: bytes) -> bytes | str:
    """The kernel's answer in the question's own form, or why there is none."""
    buffer = ctypes.create_string_buffer(question, len(question))
    request = struct.pack("16sP16x", name.encode()[:15], ctypes.addressof(buffer))
    try:
        fcntl.ioctl(channel, SIOCETHTOOL, request)
    except OSError as error:
        return f"ethtool: {(error.strerror or str(error)).lower()}"
    return buffer.raw


KILOHERTZ = 1000
MICROSECONDS = 10**6
HOST_DECIDES = "no cpufreq: on a virtual machine its host decides"


def read_processors(sys: Path, machine: Machine) -> Iterator[Subject]:
    """Frequency, turbo, hardware threads and idle states: one subject for all processors."""
    cpu = sys / "devices/system/cpu"
    subject = Subject("cpu")
    numbers = online_processors(sys)
    policies = [cpu / f"cpu{number}/cpufreq" for number in numbers]

    def all_of(name: str) -> list[str]:
        return [text for policy in policies if (text := known_text(policy / name)) is not None]

    for figure, name in (
        ("governor", "scaling_governor"),
        ("driver", "scaling_driver"),
        ("energy_preference", "energy_performance_preference"),
    ):
        subject.put(figure, ", ".join(sorted(set(all_of(name)))) or None, HOST_DECIDES)
    bounds: tuple[tuple[str, str, Callable[[list[int]], int]], ...] = (
        ("lowest_frequency_hertz", "scaling_min_freq", min),
        ("highest_frequency_hertz", "scaling_max_freq", max),
    )
    for figure, name, end in bounds:
        values = [int(text) * KILOHERTZ for text in all_of(name) if text.isdigit()]
        subject.put(figure, end(values) if values else None, HOST_DECIDES)
    off, boost = known_text(cpu / "intel_pstate/no_turbo"), known_text(cpu / "cpufreq/boost")
    turbo = {"0": True, "1": False}.get(off or "", {"0": False, "1": True}.get(boost or ""))
    subject.put("turbo", turbo, HOST_DECIDES)
    subject.text("smt", cpu / "smt/control")
    siblings = core_siblings(sys)
    subject.put("threads_per_core", max(map(len, siblings), default=None))
    _idle_states(subject, cpu, numbers)
    subject.put("isolated", known_text(cpu / "isolated") or "none")
    subject.put("virtual", machine.virtual or "none")
    yield subject


def _idle_states(subject: Subject, cpu: Path, numbers: list[int]) -> None:
    """Of the first processor that is on: they are alike, but for what somebody disabled on one alone."""
    subject.read("idle_driver", cpu / "cpuidle/current_driver", lambda text: text or None)
    directory = cpu / f"cpu{numbers[0] if numbers else 0}/cpuidle"
    names, exits = [], []
    for state in names_in(directory):
        if known_text(directory / state / "disable") == "0":
            names.append(known_text(directory / state / "name") or state)
            exits.append(int(known_text(directory / state / "latency") or 0) / MICROSECONDS)
    reason = "no cpuidle: on a virtual machine its host decides"
    subject.put("idle_states", " ".join(names) or None, reason)
    subject.put("idle_exit_seconds", max(exits, default=None), reason)


def read_container(proc: Path, sys: Path, machine: Machine) -> Subject:
    """The bounds that a container or control group puts on this process."""
    subject = Subject("container")
    subject.put("container", machine.container or "none")
    subject.put("cpu_quota_cores", machine.cpu_quota_cores, "no bound")
    subject.put("memory_limit_bytes", machine.memory_limit_bytes, "no bound")
    subject.put("usable_cpus", len(machine.usable_cpus) if machine.usable_cpus else None)
    own = next(
        (
            line[3:]
            for line in (known_text(proc / "self/cgroup") or "").splitlines()
            if line.startswith("0::")
        ),
        None,
    )
    group = sys / "fs/cgroup" / (own or "/").lstrip("/")
    subject.put("io_limits", known_text(group / "io.max"), "no bound by io.max of its control group")
    return subject
