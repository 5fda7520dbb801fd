"""Definitions of the host's series in ``samples``; ``*`` stands for a device, interface, port or mount."""

from __future__ import annotations

from mawl.definitions.metric import SERIES, Metric, bytes_metric, count_metric, seconds_metric

_CPU = "proc_stat(5)"
_MEMORY = "proc_meminfo(5)"
_PAGING = "proc_vmstat(5)"
_STALLS = f"{SERIES}; Linux Documentation/accounting/psi.rst"
_BLOCK = f"{SERIES}; Linux Documentation/admin-guide/iostats.rst"
_NETWORK = "proc_pid_net(5)"
_MOUNT = SERIES
_ENERGY = "docs/design/energy.md, What is counted"
_IMPORTED = "docs/design/imported-host.md"
_GROUP = f"{SERIES}; Linux Documentation/admin-guide/cgroup-v2.rst"

HOST_SERIES: tuple[Metric, ...] = (
    *(
        seconds_metric(f"host.cpu_{kind}_seconds", f"Time of all processors {words}; cumulative.", _CPU)
        for kind, words in (
            ("user", "in user mode, nice and guests included"),
            ("system", "in the kernel, interrupts aside"),
            ("iowait", "idle while a task waited for a block device"),
            ("idle", "idle without that"),
            ("steal", "that the hypervisor gave to others"),
            ("interrupt", "in interrupts, hard and soft"),
        )
    ),
    seconds_metric(
        "host.core_busy_seconds",
        "Time in which physical cores were busy; cumulative, since the first look where cores have threads.",
        SERIES,
    ),
    seconds_metric(
        "host.core_busy_least_seconds",
        "The least that it can be: of each core the thread that was busy longest; where cores have threads.",
        SERIES,
    ),
    seconds_metric(
        "host.core_busy_most_seconds",
        "The most that it can be: of each core all threads added up, and no more than went by.",
        SERIES,
    ),
    seconds_metric(
        "host.physical_cpu_seconds",
        "Time of physical processors that a PowerVM partition used, idle time it did not give away included; "
        "cumulative, of imported recordings.",
        _IMPORTED,
    ),
    count_metric("host.runnable", "Runnable tasks at that second.", _CPU),
    count_metric("host.blocked_processes", "Tasks blocked in I/O at that second.", _CPU),
    count_metric("host.context_switches", "Context switches; cumulative.", _CPU),
    *(
        bytes_metric(f"host.memory_{name}_bytes", f"{words} at that second.", _MEMORY)
        for name, words in (
            ("available", "Memory that could be had without swapping"),
            ("free", "Memory without any use, of imported recordings"),
            ("cached", "Page cache"),
            ("dirty", "Page cache not written yet"),
            ("writeback", "Page cache being written"),
        )
    ),
    bytes_metric("host.swap_read_bytes", "Bytes read from swap; cumulative.", _PAGING),
    bytes_metric("host.swap_written_bytes", "Bytes written to swap; cumulative.", _PAGING),
    bytes_metric(
        "host.cache_evicted_bytes",
        "Bytes of files that reclaim took out of the page cache (pgsteal_file); cumulative.",
        _PAGING,
    ),
    bytes_metric(
        "host.cache_reread_bytes",
        "Bytes of files read again after that (workingset_refault_file); cumulative.",
        _PAGING,
    ),
    bytes_metric("host.page_ins_bytes", "Bytes read from block devices (pgpgin); cumulative.", _PAGING),
    bytes_metric("host.page_outs_bytes", "Bytes written to block devices (pgpgout); cumulative.", _PAGING),
    count_metric("host.major_faults", "Page faults that needed I/O; cumulative.", _PAGING),
    *(
        seconds_metric(f"host.pressure_{name}_seconds", f"Time in which {words}; cumulative.", _STALLS)
        for name, words in (
            ("cpu_some", "some task waited for CPU"),
            ("io_some", "some task waited for I/O"),
            ("io_full", "all tasks that were not idle waited for I/O"),
            ("memory_some", "some task waited for memory"),
            ("memory_full", "all tasks that were not idle waited for memory"),
        )
    ),
    Metric("host.frequency_hertz", "hertz", "float", "Mean clock rate at that second, every fifth.", SERIES),
)

PART_SERIES: tuple[Metric, ...] = (
    count_metric("device.*.reads", "Read requests completed; cumulative.", _BLOCK),
    count_metric("device.*.writes", "Write requests completed; cumulative.", _BLOCK),
    count_metric(
        "device.*.requests",
        "Requests completed, of imported recordings, which may not separate reads from writes; cumulative.",
        _IMPORTED,
    ),
    seconds_metric("device.*.request_seconds", "Time of these requests; cumulative.", _IMPORTED),
    bytes_metric("device.*.read_bytes", "Bytes read; cumulative.", _BLOCK),
    bytes_metric("device.*.written_bytes", "Bytes written; cumulative.", _BLOCK),
    seconds_metric(
        "device.*.read_seconds", "Time of read requests; cumulative, 32-bit milliseconds.", _BLOCK
    ),
    seconds_metric(
        "device.*.write_seconds", "Time of write requests; cumulative, 32-bit milliseconds.", _BLOCK
    ),
    seconds_metric("device.*.busy_seconds", "Time with a request in flight; cumulative.", _BLOCK),
    seconds_metric("device.*.queue_seconds", "That time by the requests in flight; cumulative.", _BLOCK),
    count_metric("device.*.in_flight", "Requests in flight at that second.", _BLOCK),
    count_metric("device.*.flushes", "Flushes completed; cumulative.", _BLOCK),
    seconds_metric("device.*.flush_seconds", "Time of flushes; cumulative.", _BLOCK),
    *(
        metric
        for way in ("received", "sent")
        for metric in (
            bytes_metric(f"network.*.{way}_bytes", f"Bytes {way}; cumulative.", _NETWORK),
            count_metric(f"network.*.{way}_errors", f"Packets {way} with an error; cumulative.", _NETWORK),
            count_metric(f"network.*.{way}_drops", f"Packets {way} and dropped; cumulative.", _NETWORK),
            bytes_metric(f"fabric.*.{way}_bytes", f"Bytes {way} by the port; cumulative.", SERIES),
        )
    ),
    *(
        count_metric(f"fabric.*.{name}", f"{words}; cumulative.", SERIES)
        for name, words in (
            ("reads", "Read requests of a fibre channel port"),
            ("writes", "Write requests of a fibre channel port"),
            ("error_frames", "Frames with an error on a fibre channel port"),
            ("received_errors", "Packets received with an error by an InfiniBand port"),
            ("sent_drops", "Packets that an InfiniBand port dropped instead of sending them"),
            ("link_failures", "Times the link failed"),
        )
    ),
    Metric(
        "energy.*.joules",
        "joules",
        "float",
        "Energy that a RAPL zone or power meter counted since the first look; cumulative.",
        _ENERGY,
    ),
    bytes_metric("mount.*.application_read_bytes", "Bytes that programs read; cumulative.", _MOUNT),
    bytes_metric("mount.*.application_written_bytes", "Bytes that programs wrote; cumulative.", _MOUNT),
    bytes_metric("mount.*.read_bytes", "Bytes from the server of an NFS mount; cumulative.", _MOUNT),
    bytes_metric("mount.*.written_bytes", "Bytes to the server of an NFS mount; cumulative.", _MOUNT),
    count_metric("mount.*.reads", "Read requests of NFS, read calls elsewhere; cumulative.", _MOUNT),
    count_metric("mount.*.writes", "Write requests of NFS, write calls elsewhere; cumulative.", _MOUNT),
    seconds_metric("mount.*.read_seconds", "Time of these reads; cumulative.", _MOUNT),
    seconds_metric("mount.*.write_seconds", "Time of these writes; cumulative.", _MOUNT),
    count_metric("mount.*.retransmissions", "Requests of NFS sent again; cumulative.", _MOUNT),
    count_metric("mount.*.opens", "Opens on Spectrum Scale; cumulative.", _MOUNT),
    count_metric("mount.*.closes", "Closes on Spectrum Scale; cumulative.", _MOUNT),
    Metric(
        "file_system.*.used_ratio",
        "-",
        "float",
        "Used share of a mounted file system at that second, of imported recordings.",
        _IMPORTED,
    ),
    seconds_metric(
        "gpu.*.busy_seconds", "Time a GPU was busy; cumulative, of imported recordings.", _IMPORTED
    ),
    bytes_metric("group.memory_bytes", "Memory of the jobs' control group, page cache included.", _GROUP),
    count_metric("group.memory_limit_hits", "Times it met its memory limit; cumulative.", _GROUP),
    count_metric(
        "group.cpu_throttled_periods", "Periods in which its quota was used up; cumulative.", _GROUP
    ),
    seconds_metric(
        "group.cpu_throttled_seconds",
        "Time it waited for its quota, summed over processors; cumulative.",
        _GROUP,
    ),
)

SERIES_METRICS: tuple[Metric, ...] = (*HOST_SERIES, *PART_SERIES)
"""Series that are no figure of a job and no path of a summary."""


def defined(series: str) -> str | None:
    """The registry's name of a host series (``device.sda.reads`` is ``device.*.reads``); None for others."""
    kind, _, rest = series.partition(".")
    names = {metric.name for metric in SERIES_METRICS}
    for candidate in (series, f"{kind}.*.{rest.rpartition('.')[2]}"):
        if candidate in names:
            return candidate
    return None
