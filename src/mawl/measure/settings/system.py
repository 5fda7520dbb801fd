"""Settings of the kernel, memory, network, processors and container.

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
from collections.abc import Callable, Iterator
from pathlib import Path

from mawl.measure.machine import Machine, core_siblings, limit_of_process, online_processors, parse_cpu_list
from mawl.measure.settings.reading import KIB, Subject, known_text, names_in

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
    kernel.number("sched_autogroup_enabled", proc / "sys/kernel/sched_autogroup_enabled")
    debug = sys / "kernel/debug/sched"
    for name, later in (
        ("sched_min_granularity", ("min_granularity_ns", "base_slice_ns")),
        ("sched_wakeup_granularity", ("wakeup_granularity_ns",)),
        ("sched_migration_cost", ("migration_cost_ns",)),
    ):
        # Until Linux 5.13 a sysctl; then in debugfs, since 6.6 under another name (kernel/sched/debug.c).
        places = [proc / f"sys/kernel/{name}_ns", *(debug / one for one in later)]
        there = next((place for place in places if os.access(place, os.R_OK)), places[-1])
        kernel.seconds(f"{name}_seconds", there, BILLION)
    kernel.number("pid_max", proc / "sys/kernel/pid_max")
    kernel.number("threads_max", proc / "sys/kernel/threads-max")
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
    found = Subject("limits")
    for figure, name in LIMITS.items():
        found.read(figure, proc / "self/limits", lambda text, name=name: limit_of_process(text, name, 1))  # type: ignore[misc]
    found.read(
        "open_files_most", proc / "self/limits", lambda text: limit_of_process(text, "Max open files", 2)
    )
    found.number("file_max", proc / "sys/fs/file-max")
    found.number("aio_max_requests", proc / "sys/fs/aio-max-nr")
    return found


VM_SYSCTLS = {
    "swappiness": "swappiness",
    "dirty_ratio": "dirty_ratio",
    "dirty_background_ratio": "dirty_background_ratio",
    "dirty_bytes": "dirty_bytes",
    "dirty_background_bytes": "dirty_background_bytes",
    "vfs_cache_pressure": "vfs_cache_pressure",
    "watermark_scale_factor": "watermark_scale_factor",
    "overcommit_memory": "overcommit_memory",
    "zone_reclaim_mode": "zone_reclaim_mode",
    "max_map_count": "max_map_count",
    "huge_pages": "nr_hugepages",
}


def read_memory(proc: Path, sys: Path) -> Iterator[Subject]:
    """Virtual memory, huge pages, swap and NUMA of the whole machine: one subject."""
    found = Subject("memory")
    for figure, name in VM_SYSCTLS.items():
        found.number(figure, proc / "sys/vm" / name)
    found.number("min_free_bytes", proc / "sys/vm/min_free_kbytes", KIB)
    found.seconds("dirty_expire_seconds", proc / "sys/vm/dirty_expire_centisecs", 100)
    found.seconds("dirty_writeback_seconds", proc / "sys/vm/dirty_writeback_centisecs", 100)
    pages = sys / "kernel/mm/transparent_hugepage"
    found.chosen("transparent_huge_pages", pages / "enabled")
    found.chosen("transparent_huge_page_defrag", pages / "defrag")
    found.read("swap_bytes", proc / "meminfo", _swap_bytes)
    found.read("nodes", sys / "devices/system/node/online", lambda text: len(parse_cpu_list(text)))
    found.number("numa_balancing", proc / "sys/kernel/numa_balancing")
    found.number("ksm", sys / "kernel/mm/ksm/run")
    yield found


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
    yield _tcp(proc)


def _interface(name: str, directory: Path, ask: bool) -> Subject:
    found = Subject("network", name)
    found.read("speed_bits_per_second", directory / "speed", lambda text: _speed(text))
    speed = found.figures["speed_bits_per_second"]
    found.put(
        "fast",
        speed >= FAST_BITS_PER_SECOND if isinstance(speed, int) else None,
        "its speed is not known",
    )
    found.number("mtu_bytes", directory / "mtu")
    found.text("duplex", directory / "duplex")
    found.number("transmit_queue_length", directory / "tx_queue_len")
    queues = names_in(directory / "queues")
    for figure, start in (("receive_queues", "rx-"), ("transmit_queues", "tx-")):
        found.put(figure, sum(queue.startswith(start) for queue in queues) or None)
    driver = directory / "device/driver"
    found.put("driver", driver.resolve().name if driver.exists() else None, "it has no device")
    _ethtool(found, name, ask)
    return found


def _speed(text: str) -> int | None:
    """-1 stands for unknown: no link, or a virtual interface."""
    return int(text) * MEGABIT if int(text) > 0 else None


def _ethtool(found: Subject, name: str, ask: bool) -> None:
    rings = ("receive_ring_most", "transmit_ring_most", "receive_ring", "transmit_ring")
    if not ask:
        for figure in (*rings, *OFFLOADS):
            found.put(figure, None, "not asked: the folders replace a machine")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        told = _ethtool_answer(channel, name, struct.pack("=9I", GRINGPARAM, *[0] * 8))
        numbers = struct.unpack("=9I", told) if isinstance(told, bytes) else None
        for figure, place in zip(rings, (1, 4, 5, 8), strict=True):
            found.put(figure, numbers[place] if numbers else None, str(told))
        for figure, command in OFFLOADS.items():
            told = _ethtool_answer(channel, name, struct.pack("=2I", command, 0))
            value = bool(struct.unpack("=2I", told)[1]) if isinstance(told, bytes) else None
            found.put(figure, value, str(told))


def _ethtool_answer(channel: socket.socket, name: str, question: bytes) -> bytes | str:
    """The kernel's answer in the question's own form, or why there is none."""
    buffer = ctypes.create_string_buffer(question, len(question))
    request = struct.pack("16sP16x", name.encode()[:15], ctypes.addressof(buffer))
    try:
        fcntl.ioctl(channel, SIOCETHTOOL, request)
    except OSError as error:
        return f"ethtool: {(error.strerror or str(error)).lower()}"
    return buffer.raw


def _tcp(proc: Path) -> Subject:
    found, net = Subject("tcp"), proc / "sys/net"
    for figure, name in (("receive_most_bytes", "tcp_rmem"), ("send_most_bytes", "tcp_wmem")):
        found.read(figure, net / "ipv4" / name, lambda text: int(text.split()[2]))
    found.number("core_receive_most_bytes", net / "core/rmem_max")
    found.number("core_send_most_bytes", net / "core/wmem_max")
    found.text("congestion_control", net / "ipv4/tcp_congestion_control")
    found.text("queueing", net / "core/default_qdisc")
    found.number("backlog", net / "core/netdev_max_backlog")
    found.number("slow_start_after_idle", net / "ipv4/tcp_slow_start_after_idle")
    found.number("window_scaling", net / "ipv4/tcp_window_scaling")
    found.number("selective_acknowledgement", net / "ipv4/tcp_sack")
    found.number("nfs_slots", proc / "sys/sunrpc/tcp_slot_table_entries")
    found.number("nfs_slots_most", proc / "sys/sunrpc/tcp_max_slot_table_entries")
    return found


KILOHERTZ = 1000
MICROSECONDS = 10**6
HOST_DECIDES = "no cpufreq: on a virtual machine its host decides"


def read_processors(sys: Path, machine: Machine) -> Iterator[Subject]:
    """Frequency, turbo, hardware threads and idle states: one subject for all processors."""
    cpu = sys / "devices/system/cpu"
    found = Subject("cpu")
    numbers = online_processors(sys)
    policies = [cpu / f"cpu{number}/cpufreq" for number in numbers]

    def all_of(name: str) -> list[str]:
        return [text for policy in policies if (text := known_text(policy / name)) is not None]

    for figure, name in (
        ("governor", "scaling_governor"),
        ("driver", "scaling_driver"),
        ("energy_preference", "energy_performance_preference"),
    ):
        found.put(figure, ", ".join(sorted(set(all_of(name)))) or None, HOST_DECIDES)
    bounds: tuple[tuple[str, str, Callable[[list[int]], int]], ...] = (
        ("lowest_frequency_hertz", "scaling_min_freq", min),
        ("highest_frequency_hertz", "scaling_max_freq", max),
    )
    for figure, name, end in bounds:
        values = [int(text) * KILOHERTZ for text in all_of(name) if text.isdigit()]
        found.put(figure, end(values) if values else None, HOST_DECIDES)
    off, boost = known_text(cpu / "intel_pstate/no_turbo"), known_text(cpu / "cpufreq/boost")
    turbo = {"0": True, "1": False}.get(off or "", {"0": False, "1": True}.get(boost or ""))
    found.put("turbo", turbo, HOST_DECIDES)
    found.text("smt", cpu / "smt/control")
    siblings = core_siblings(sys)
    found.put("threads_per_core", max(map(len, siblings), default=None))
    _idle_states(found, cpu, numbers)
    found.put("isolated", known_text(cpu / "isolated") or "none")
    found.put("virtual", machine.virtual or "none")
    yield found


def _idle_states(found: Subject, cpu: Path, numbers: list[int]) -> None:
    """Of the first processor that is on: they are alike, but for what somebody disabled on one alone."""
    found.read("idle_driver", cpu / "cpuidle/current_driver", lambda text: text or None)
    directory = cpu / f"cpu{numbers[0] if numbers else 0}/cpuidle"
    names, exits = [], []
    for state in names_in(directory):
        if known_text(directory / state / "disable") == "0":
            names.append(known_text(directory / state / "name") or state)
            exits.append(int(known_text(directory / state / "latency") or 0) / MICROSECONDS)
    reason = "no cpuidle: on a virtual machine its host decides"
    found.put("idle_states", " ".join(names) or None, reason)
    found.put("idle_exit_seconds", max(exits, default=None), reason)


def read_container(proc: Path, sys: Path, machine: Machine) -> Subject:
    """The bounds that a container or control group puts on this process."""
    found = Subject("container")
    found.put("container", machine.container or "none")
    found.put("cpu_quota_cores", machine.cpu_quota_cores, "no bound")
    found.put("memory_limit_bytes", machine.memory_limit_bytes, "no bound")
    found.put("usable_cpus", len(machine.usable_cpus) if machine.usable_cpus else None)
    own = next(
        (
            line[3:]
            for line in (known_text(proc / "self/cgroup") or "").splitlines()
            if line.startswith("0::")
        ),
        None,
    )
    group = sys / "fs/cgroup" / (own or "/").lstrip("/")
    found.put("io_limits", known_text(group / "io.max"), "no bound by io.max of its control group")
    return found
