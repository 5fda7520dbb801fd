"""Definitions of the host's series in ``samples``, and of the inventory of settings in ``run.json``.

A setting is named ``inventory.FAMILY.SUBJECT.NAME``; the subject ``machine`` is for what a machine has once.
``*`` stands for any device, interface, port or mount point.
"""

from __future__ import annotations

from mawl.records.definitions import SERIES, Kind, Metric, Unit, bytes_metric, count_metric, seconds_metric

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
    Metric("host.frequency_hertz", "Mean clock rate at that second, every fifth.", SERIES, "hertz", "float"),
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
        "Energy that a RAPL zone or power meter counted since the first look; cumulative.",
        _ENERGY,
        "joules",
        "float",
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
        "Used share of a mounted file system at that second, of imported recordings.",
        _IMPORTED,
        "-",
        "float",
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


def registry_name(series: str) -> str | None:
    """The registry's name of a host series (``device.sda.reads`` is ``device.*.reads``); None for others."""
    kind, _, rest = series.partition(".")
    names = {metric.name for metric in SERIES_METRICS}
    for candidate in (series, f"{kind}.*.{rest.rpartition('.')[2]}"):
        if candidate in names:
            return candidate
    return None


MACHINE = "machine"
INVENTORY_PAGE = "docs/design/tuning.md, The inventory"

TEXT_FAMILIES = (
    *("vmo", "ioo", "no", "schedo", "raso", "sys0", "ulimit", "hdisk", "fcs", "fscsi", "en", "ent"),
    *("smtctl", "lparstat", "lspath", "lsdev", "lsmap", "mount"),
    *("mmlsconfig", "mmdiag", "mmlsfs", "mmlsdisk", "mmlsnsd", "iomemory_vsl"),
)
"""AIX, Spectrum Scale and driver settings that a recording or a collection holds, by the command that prints
them or the device they are of: their figures are those that it prints (docs/design/tuning.md)."""

_Row = tuple[str, Unit, str]

_SYSCTLS: tuple[_Row, ...] = (
    ("swappiness", "-", "vm.swappiness: how readily anonymous memory is swapped, 0 to 200."),
    ("dirty_ratio", "-", "vm.dirty_ratio, per cent of available memory: there writers must write; 0: bytes."),
    ("dirty_background_ratio", "-", "vm.dirty_background_ratio, per cent: there the kernel begins to."),
    ("dirty_bytes", "bytes", "vm.dirty_bytes; 0 where the ratio counts."),
    ("dirty_background_bytes", "bytes", "vm.dirty_background_bytes; 0 where the ratio counts."),
    ("dirty_expire_seconds", "seconds", "vm.dirty_expire_centisecs: age at which dirty data must go."),
    ("dirty_writeback_seconds", "seconds", "vm.dirty_writeback_centisecs: how often the kernel looks."),
    ("vfs_cache_pressure", "-", "vm.vfs_cache_pressure, per cent: how readily inodes and names are dropped."),
    ("min_free_bytes", "bytes", "vm.min_free_kbytes."),
    ("watermark_scale_factor", "-", "vm.watermark_scale_factor, in 1/10000 of memory."),
    ("overcommit_memory", "-", "vm.overcommit_memory: 0 heuristic, 1 always, 2 never."),
    ("zone_reclaim_mode", "-", "vm.zone_reclaim_mode, a bit mask; 0: off."),
    ("max_map_count", "count", "vm.max_map_count."),
    ("huge_pages", "count", "vm.nr_hugepages."),
)
_MEMORY_INVENTORY: tuple[_Row, ...] = (
    *_SYSCTLS,
    ("transparent_huge_pages", "text", "Which anonymous memory gets huge pages: always, madvise, never."),
    ("transparent_huge_page_defrag", "text", "How hard the kernel tries to find one at a page fault."),
    ("swap_bytes", "bytes", "Swap space of the machine."),
    ("nodes", "count", "NUMA nodes that are online."),
    ("numa_balancing", "-", "kernel.numa_balancing: 0 off, 1 on; null on kernels without."),
    ("ksm", "-", "Whether equal pages are merged: /sys/kernel/mm/ksm/run."),
)
_KERNEL: tuple[_Row, ...] = (
    ("sched_autogroup_enabled", "-", "Whether the scheduler groups tasks by session (sched(7))."),
    ("sched_min_granularity_seconds", "seconds", "Shortest slice of a task; in debugfs (root) since 5.13."),
    ("sched_wakeup_granularity_seconds", "seconds", "Lead a woken task needs; gone since 6.6."),
    ("sched_migration_cost_seconds", "seconds", "How long a task counts as cache-hot."),
    ("pid_max", "count", "kernel.pid_max."),
    ("threads_max", "count", "kernel.threads-max."),
    ("preemption", "text", "Model of preemption; in debugfs (root)."),
    ("tuned_profile", "text", "Profile that tuned-adm says is active."),
    ("command_line", "text", "Arguments the kernel was started with that are settings of performance."),
)
_LIMITS: tuple[_Row, ...] = (
    ("open_files", "count", "Soft limit of this process; text unlimited where there is none."),
    ("open_files_most", "count", "Hard limit of it."),
    ("processes", "count", "Soft limit of processes of the user."),
    ("locked_memory_bytes", "bytes", "Soft limit."),
    ("stack_bytes", "bytes", "Soft limit."),
    ("file_size_bytes", "bytes", "Soft limit."),
    ("file_max", "count", "fs.file-max: open files of the machine."),
    ("aio_max_requests", "count", "fs.aio-max-nr."),
)
_BLOCK_INVENTORY: tuple[_Row, ...] = (
    ("scheduler", "text", "I/O scheduler in use."),
    ("schedulers", "text", "Those it could have."),
    ("read_ahead_bytes", "bytes", "Largest read-ahead (read_ahead_kb)."),
    ("requests", "count", "Requests the queue holds (nr_requests)."),
    ("queue_depth", "count", "Commands the device takes at once (SCSI queue_depth)."),
    ("max_request_bytes", "bytes", "Largest request the kernel sends (max_sectors_kb)."),
    ("max_hardware_request_bytes", "bytes", "Largest the hardware takes."),
    ("optimal_request_bytes", "bytes", "What the device says is best, 0 where it says nothing."),
    ("logical_block_bytes", "bytes", "Smallest addressable unit."),
    ("physical_block_bytes", "bytes", "Smallest unit it writes without reading first."),
    ("rotational", "-", "Whether the kernel takes it for a spinning disk."),
    ("write_cache", "text", "write back or write through."),
    ("no_merges", "-", "0 merges requests, 1 simple merges only, 2 none."),
    ("request_affinity", "-", "rq_affinity: 1 completes on the group of the asking CPU, 2 on it."),
    ("write_throttling_seconds", "seconds", "wbt_lat_usec: latency target that holds writes back; 0: off."),
    ("transport", "text", "nvme, scsi, virtio, loop, device mapper, md, memory."),
    ("zoned", "text", "none, host-aware or host-managed."),
    ("model", "text", "What the device calls itself."),
    ("size_bytes", "bytes", "Its size."),
    ("members", "text", "Devices that it is made of."),
)
_MULTIPATH: tuple[_Row, ...] = (
    ("paths", "count", "Paths that the kernel has."),
    ("paths_usable", "count", "Those whose device runs, or whose controller is live."),
    (
        "policy",
        "text",
        "How a path is chosen: nvme iopolicy; for device mapper only root can read it.",
    ),
)
_FILE_SYSTEM: tuple[_Row, ...] = (
    ("type", "text", "ext4, xfs, nfs4..."),
    ("network", "-", "Whether its storage is another machine's."),
    ("mount_options", "text", "Options of the mount and of the file system, as mountinfo has them."),
    ("access_times", "text", "noatime, relatime or strictatime."),
    ("block_bytes", "bytes", "Its block (statvfs f_frsize)."),
    ("request_bytes", "bytes", "What it prefers (statvfs f_bsize); of a network one what it transfers."),
    ("stripe_unit_bytes", "bytes", "What it thinks one disk of a stripe holds in one piece; 0: no stripe."),
    ("stripe_width_bytes", "bytes", "What it thinks a whole stripe holds; 0: no stripe."),
    ("allocation_groups", "count", "Of xfs."),
    ("log_bytes", "bytes", "Log of xfs."),
    ("log_buffer_bytes", "bytes", "logbsize of xfs."),
    ("commit_seconds", "seconds", "commit= of ext4 and btrfs where it is not the default."),
    ("read_bytes", "bytes", "rsize of NFS."),
    ("write_bytes", "bytes", "wsize of NFS."),
    ("connections", "count", "nconnect of NFS; 1 where the option is not there."),
    ("version", "text", "vers of NFS."),
    ("compression", "text", "compress= of btrfs; none where the option is not there."),
    ("data_mode", "text", "data= of ext4 where it is not the default."),
    ("read_ahead_bytes", "bytes", "Read-ahead of its backing device info (bdi)."),
    ("discard", "-", "Whether it discards as it deletes."),
    ("used_ratio", "ratio", "Used over size, at the time of reading."),
)
_NETWORK_INVENTORY: tuple[_Row, ...] = (
    ("speed_bits_per_second", "-", "Speed of the link, bits per second."),
    ("fast", "-", "Whether the link is of 10 Gb/s or more."),
    ("mtu_bytes", "bytes", "Largest packet."),
    ("duplex", "text", "full or half."),
    ("transmit_queue_length", "count", "tx_queue_len."),
    ("receive_queues", "count", "Receive queues."),
    ("transmit_queues", "count", "Transmit queues."),
    ("receive_ring", "count", "Descriptors of its receive ring (ETHTOOL_GRINGPARAM)."),
    ("receive_ring_most", "count", "What the hardware takes."),
    ("transmit_ring", "count", "Descriptors of its transmit ring."),
    ("transmit_ring_most", "count", "What the hardware takes."),
    ("segmentation_offload", "-", "TSO (ETHTOOL_GTSO)."),
    ("generic_receive_offload", "-", "GRO (ETHTOOL_GGRO)."),
    ("receive_checksum_offload", "-", "ETHTOOL_GRXCSUM."),
    ("transmit_checksum_offload", "-", "ETHTOOL_GTXCSUM."),
    ("driver", "text", "Kernel driver."),
)
_TCP: tuple[_Row, ...] = (
    ("receive_most_bytes", "bytes", "Third of net.ipv4.tcp_rmem: largest receive buffer."),
    ("send_most_bytes", "bytes", "Third of net.ipv4.tcp_wmem."),
    ("core_receive_most_bytes", "bytes", "net.core.rmem_max."),
    ("core_send_most_bytes", "bytes", "net.core.wmem_max."),
    ("congestion_control", "text", "net.ipv4.tcp_congestion_control."),
    ("queueing", "text", "net.core.default_qdisc."),
    ("backlog", "count", "net.core.netdev_max_backlog."),
    ("slow_start_after_idle", "-", "net.ipv4.tcp_slow_start_after_idle."),
    ("window_scaling", "-", "net.ipv4.tcp_window_scaling."),
    ("selective_acknowledgement", "-", "net.ipv4.tcp_sack."),
    ("nfs_slots", "count", "sunrpc.tcp_slot_table_entries: requests of an NFS mount at once, at first."),
    ("nfs_slots_most", "count", "sunrpc.tcp_max_slot_table_entries."),
)
_ADAPTER: tuple[_Row, ...] = (
    ("kind", "text", "scsi, fibre channel or nvme."),
    ("driver", "text", "Kernel driver."),
    ("speed", "text", "Of a fibre-channel port, as the driver says it."),
    ("state", "text", "Of a port or controller."),
    ("queue", "count", "Commands the adapter takes (can_queue), of nvme its queues (queue_count)."),
    ("commands_per_device", "count", "cmd_per_lun."),
    (
        "lun_queue_depth",
        "count",
        "Parameter of lpfc (lpfc_lun_queue_depth) or qla2xxx (ql2xmaxqdepth).",
    ),
    ("queue_entries", "count", "Entries of an nvme queue (sqsize + 1)."),
    ("numa_node", "-", "Memory node it is attached to; -1: none."),
    ("transport", "text", "Of nvme: pcie, fc, rdma, tcp."),
)
_CPU_INVENTORY: tuple[_Row, ...] = (
    ("governor", "text", "cpufreq governor, all of them where processors differ."),
    ("driver", "text", "cpufreq driver."),
    ("energy_preference", "text", "energy_performance_preference."),
    ("lowest_frequency_hertz", "-", "scaling_min_freq, least of all processors."),
    ("highest_frequency_hertz", "-", "scaling_max_freq, most of all processors."),
    ("turbo", "-", "Whether it may go above its base frequency."),
    ("smt", "text", "The kernel's word: on, off, forceoff, notsupported, notimplemented."),
    ("threads_per_core", "count", "Hardware threads of a core that are on."),
    ("idle_driver", "text", "cpuidle driver."),
    ("idle_states", "text", "Names of the C-states that are not disabled."),
    ("idle_exit_seconds", "seconds", "Longest exit latency of those."),
    ("isolated", "text", "Processors kept from the scheduler (isolcpus)."),
    ("virtual", "text", "What shows that the machine is virtual; none on bare metal."),
)
_CONTAINER: tuple[_Row, ...] = (
    ("container", "text", "Its name; none outside."),
    ("cpu_quota_cores", "-", "Processors its control group may use; null without a bound."),
    ("memory_limit_bytes", "bytes", "Memory of its control group; null without a bound."),
    ("usable_cpus", "count", "Processors that this process may run on."),
    ("io_limits", "text", "io.max of its control group (version 2); null without one."),
)
_OPTIONS: tuple[_Row, ...] = (
    ("memsize_bytes", "bytes", "Memory of one job, as if at scale full."),
    ("sortsize_bytes", "bytes", "Memory of a step that sorts or spills, as if at scale full."),
    ("bufsize_bytes", "bytes", "Size of one sequential request to a table."),
    ("cpucount", "count", "Threads of one job."),
    ("queue_depth", "count", "Random requests of one job under way at a time."),
    ("compress", "-", "The table formats' own compression."),
    ("fullstimer", "-", "Every step's figures in the job's SAS-style log."),
    ("direct", "text", "Whether what can passes by the page cache: auto, yes, no."),
)
_LUSTRE: tuple[_Row, ...] = (
    ("max_read_ahead_bytes", "bytes", "llite.*.max_read_ahead_mb."),
    ("max_read_ahead_per_file_bytes", "bytes", "llite.*.max_read_ahead_per_file_mb."),
    ("max_cached_bytes", "bytes", "llite.*.max_cached_mb, its line max_cached_mb."),
    ("requests_in_flight", "count", "osc.*.max_rpcs_in_flight."),
    ("pages_per_request", "count", "osc.*.max_pages_per_rpc."),
    ("dirty_bytes", "bytes", "osc.*.max_dirty_mb."),
    ("checksums", "-", "osc.*.checksums."),
)
_ROLES: tuple[_Row, ...] = (
    ("directories", "count", "Directories that the run was given for the role."),
    ("devices", "count", "Devices that hold them, each once; from the run's volumes, not recorded."),
    (
        "limited",
        "-",
        "Whether the run's verdict is storage and this role's I/O cost most (or none is named).",
    ),
)

_FAMILIES: dict[str, tuple[_Row, ...]] = {
    "memory": _MEMORY_INVENTORY,
    "kernel": _KERNEL,
    "limits": _LIMITS,
    "block": _BLOCK_INVENTORY,
    "multipath": _MULTIPATH,
    "file_system": _FILE_SYSTEM,
    "network": _NETWORK_INVENTORY,
    "tcp": _TCP,
    "adapter": _ADAPTER,
    "cpu": _CPU_INVENTORY,
    "container": _CONTAINER,
    "options": _OPTIONS,
    "lustre": _LUSTRE,
    "roles": _ROLES,
}

_KINDS: dict[Unit, Kind] = {"text": "text", "count": "integer", "bytes": "integer", "-": "integer"}

FIGURES: dict[str, dict[str, Metric]] = {
    family: {
        name: Metric(
            f"inventory.{family}.*.{name}", definition, INVENTORY_PAGE, unit, _KINDS.get(unit, "float")
        )
        for name, unit, definition in rows
    }
    for family, rows in _FAMILIES.items()
}
"""Family to its figures by name."""

INVENTORY_METRICS: tuple[Metric, ...] = tuple(
    metric for figures in FIGURES.values() for metric in figures.values()
)
