"""Definitions of the figures of the host: the block ``host``, the volumes of the roles, the inputs' cache."""

from __future__ import annotations

from mawl.model.metric import (
    CACHE,
    FACTS,
    HOST,
    HOST_DEVICES,
    HOST_NETWORK,
    HOST_ROLES,
    Metric,
    bytes_metric,
    count_metric,
    flag_metric,
    object_metric,
    rate_metric,
    ratio_metric,
    seconds_metric,
    text_metric,
)

THREADS = "docs/design/threads.md, Busy cores"

_CPU_METRICS: tuple[Metric, ...] = (
    seconds_metric(
        "host.known_seconds",
        "How much of the time from first start to last end samples of the processors cover, of the least "
        "known node: sums of the host are of that part.",
        HOST,
    ),
    *(
        seconds_metric(
            f"host.{part}.*.known_seconds",
            f"How much of that time samples of the {what} cover: its sums are of that part.",
            HOST,
        )
        for part, what in (
            ("device", "device"),
            ("network", "interface"),
            ("fabric", "port"),
            ("mount", "mount"),
        )
    ),
    ratio_metric(
        "host.cpu_busy_ratio",
        "Share of the time of all processors in user, system and interrupts; raw: logical processors as the "
        "kernel counts them, nothing adjusted for threads of a core.",
        HOST,
    ),
    ratio_metric("host.cpu_user_ratio", "Share in user mode, nice included.", HOST),
    ratio_metric("host.cpu_system_ratio", "Share in the kernel, interrupts aside.", HOST),
    ratio_metric("host.cpu_interrupt_ratio", "Share in interrupts, hard and soft.", HOST),
    ratio_metric(
        "host.cpu_iowait_ratio",
        "Share idle while some task waited for a block device: no evidence of anything by itself.",
        HOST,
    ),
    ratio_metric("host.cpu_steal_ratio", "Share that the hypervisor gave to others.", HOST),
    seconds_metric("host.cpu_busy_seconds", "The time behind cpu_busy_ratio, processors added up.", HOST),
    seconds_metric(
        "host.core_busy_seconds",
        "Time in which a physical core was busy because any of its threads was, cores added up, never above "
        "cores times the time; core_busy_basis says whether that is exact or an estimate.",
        THREADS,
    ),
    seconds_metric(
        "host.core_busy_least_seconds",
        "The least that it can be: of each core the thread that was busy longest, second by second.",
        THREADS,
    ),
    seconds_metric(
        "host.core_busy_most_seconds",
        "The most that it can be: of each core the threads added up, second by second, and no more than a "
        "second of each.",
        THREADS,
    ),
    text_metric(
        "host.core_busy_basis",
        "exact (one thread a core), bounds (an estimate between them), estimate (a run before bounds were "
        "recorded), dispatched (PowerVM's account of the processors); several where nodes differ.",
        THREADS,
    ),
    ratio_metric(
        "host.core_busy_ratio",
        "core_busy_seconds over physical cores (else cores) times the time.",
        THREADS,
    ),
    seconds_metric(
        "host.physical_cpu_seconds",
        "Time of physical processors that PowerVM partitions used, of imported recordings; raw.",
        "docs/design/imported-host.md",
    ),
    text_metric("host.core_basis", "What cores counts: physical core, or vCPU on a virtual machine.", HOST),
    count_metric("host.cores", "Cores of all nodes, counted in core_basis.", HOST),
    bytes_metric("host.memory_bytes", "Memory of all nodes.", HOST),
    ratio_metric("host.runnable.mean", "Mean number of runnable tasks, running ones included.", HOST),
    ratio_metric("host.runnable.peak", "That of the highest window.", HOST),
    ratio_metric("host.blocked_processes", "Mean number of tasks blocked in I/O.", HOST),
    count_metric("host.context_switches", "Context switches.", HOST),
    Metric("host.frequency_hertz", "hertz", "float", "Mean clock rate of the processors (cpufreq).", HOST),
)

_MEMORY_METRICS: tuple[Metric, ...] = (
    bytes_metric("host.least_memory_available_bytes", "Smallest MemAvailable of any second and node.", HOST),
    bytes_metric(
        "host.most_memory_dirty_bytes", "Largest amount of dirty page cache of any second and node.", HOST
    ),
    count_metric("host.major_faults", "Page faults that needed I/O, of the whole machine.", HOST),
    bytes_metric("host.swap_read_bytes", "Bytes read from swap.", HOST),
    bytes_metric("host.swap_written_bytes", "Bytes written to swap.", HOST),
    bytes_metric(
        "host.cache_evicted_bytes",
        "Bytes of files that left the page cache for want of memory, of a control group or the machine.",
        HOST,
    ),
    bytes_metric("host.cache_reread_bytes", "Bytes of files that were read again after that.", HOST),
    *(
        ratio_metric(
            f"host.pressure.{resource}_{kind}_ratio",
            f"Share of the time in which {who} waited for {what}; the mean over nodes.",
            HOST,
        )
        for resource, kind, who, what in (
            ("cpu", "some", "some task", "a processor"),
            ("io", "some", "some task", "I/O"),
            ("io", "full", "all tasks that were not idle", "I/O"),
            ("memory", "some", "some task", "memory to be freed"),
            ("memory", "full", "all tasks that were not idle", "memory to be freed"),
        )
    ),
    bytes_metric(
        "host.group.most_memory_bytes", "Most memory, page cache included, of the jobs' control group.", HOST
    ),
    count_metric("host.group.memory_limit_hits", "Times that group met its memory limit.", HOST),
    seconds_metric(
        "host.group.cpu_throttled_seconds", "Time that group waited because its CPU quota was used up.", HOST
    ),
)

_DEVICE_METRICS: tuple[Metric, ...] = (
    count_metric("host.device.*.requests", "Requests of both directions that it completed.", HOST_DEVICES),
    *(
        seconds_metric(
            f"host.device.*.await_seconds.{name}",
            f"Time of requests of both directions over their number{words}.",
            HOST_DEVICES,
        )
        for name, words in (("mean", ""), ("peak", ": the highest window"))
    ),
    count_metric("host.device.*.reads", "Read requests that the device completed.", HOST_DEVICES),
    count_metric("host.device.*.writes", "Write requests that the device completed.", HOST_DEVICES),
    bytes_metric("host.device.*.read_bytes", "Bytes read from the device, whoever asked.", HOST_DEVICES),
    bytes_metric("host.device.*.written_bytes", "Bytes written to it, whoever asked.", HOST_DEVICES),
    count_metric("host.device.*.flushes", "Flushes of its cache (Linux 5.5 and later).", HOST_DEVICES),
    *(
        seconds_metric(f"host.{part}.*.{direction}_await_seconds.{name}", definition, source)
        for part, what, source in (
            ("device", "Time of {} requests from queueing to completion over their number", HOST_DEVICES),
            ("mount", "Time of {} requests over their number", HOST_NETWORK),
        )
        for direction in ("read", "write")
        for name, definition in (
            ("mean", f"{what.format(direction)}."),
            ("peak", f"{what.format(direction)}: the highest window."),
        )
    ),
    ratio_metric(
        "host.device.*.utilisation_ratio",
        "Share of the time with a request in flight; a device that serves many at once may do more at 1.",
        HOST_DEVICES,
    ),
    ratio_metric("host.device.*.queue_length", "Mean number of requests queued or in flight.", HOST_DEVICES),
    Metric("host.device.*.roles", "-", "list", "Roles that it holds, at any layer.", HOST_ROLES),
    bytes_metric(
        "host.role_devices.read_bytes",
        "Bytes read from the devices of the roles' file systems, each once, whoever asked.",
        HOST_ROLES,
    ),
    bytes_metric(
        "host.role_devices.written_bytes",
        "Bytes written to them, by whomever: writes of the kernel and journals included.",
        HOST_ROLES,
    ),
)

_NETWORK_METRICS: tuple[Metric, ...] = (
    *(
        metric
        for part, what in (("network", "network interface"), ("fabric", "fibre channel or InfiniBand port"))
        for way in ("received", "sent")
        for metric in (
            bytes_metric(f"host.{part}.*.{way}_bytes", f"Bytes {way} by the {what}.", HOST_NETWORK),
            *(
                rate_metric(
                    f"host.{part}.*.{way}_bytes_per_second.{name}",
                    f"Throughput {way}, {words}.",
                    HOST_NETWORK,
                )
                for name, words in (("mean", "over the whole time"), ("peak", "the highest window"))
            ),
        )
    ),
    *(
        count_metric(f"host.network.*.{way}_{what}", f"Packets {way} with {words}.", HOST_NETWORK)
        for way in ("received", "sent")
        for what, words in (("errors", "an error"), ("drops", "no place for them, so dropped"))
    ),
    count_metric("host.fabric.*.link_failures", "Times the link failed.", HOST_NETWORK),
    bytes_metric(
        "host.mount.*.application_read_bytes", "Bytes that programs read of the network mount.", HOST_NETWORK
    ),
    bytes_metric("host.mount.*.application_written_bytes", "Bytes that programs wrote to it.", HOST_NETWORK),
    bytes_metric("host.mount.*.read_bytes", "Bytes that came from its server.", HOST_NETWORK),
    bytes_metric("host.mount.*.written_bytes", "Bytes that went to its server.", HOST_NETWORK),
    count_metric("host.mount.*.retransmissions", "Requests that were sent again.", HOST_NETWORK),
)

_PART_METRICS: tuple[Metric, ...] = tuple(
    object_metric(f"host.{part}", definition, source)
    for part, definition, source in (
        ("device", "Block devices by name.", HOST_DEVICES),
        ("network", "Network interfaces by name.", HOST_NETWORK),
        ("fabric", "Fibre channel and InfiniBand ports by name.", HOST_NETWORK),
        ("mount", "NFS, Lustre and Spectrum Scale mounts by mount point.", HOST_NETWORK),
    )
)

_VOLUME_METRICS: tuple[Metric, ...] = (
    text_metric("volumes.*.role", "A role: data, work or util.", HOST_ROLES),
    text_metric("volumes.*.node", "The node whose directory it is.", HOST_ROLES),
    text_metric("volumes.*.directory", "One of its directories.", HOST_ROLES),
    text_metric("volumes.*.mount_point", "The mount that holds it.", HOST_ROLES),
    text_metric("volumes.*.file_system", "Type of the file system.", HOST_ROLES),
    text_metric("volumes.*.source", "What is mounted there.", HOST_ROLES),
    flag_metric("volumes.*.network", "Whether its storage is another machine's.", HOST_ROLES),
    *(
        Metric(f"volumes.*.{name}", "-", "list", definition, HOST_ROLES)
        for name, definition in (
            ("devices", "Block devices that the file system names as its own."),
            ("layers", "Block devices from there to the disks, top first."),
            ("disks", "Block devices at the bottom."),
            ("shared_with", "Other roles in the same file system or on one of its disks."),
        )
    ),
    text_metric("volumes.*.reason", "Why no device is known.", HOST_ROLES),
    text_metric(
        "volumes.*.transport",
        "How its disks are attached over a network or fabric: fc, iscsi, nvme-tcp, nvme-rdma or nvme-fc.",
        "docs/design/verdict.md, What a resource cost",
    ),
)

_CACHE_METRICS: tuple[Metric, ...] = (
    text_metric("inputs.mode", "cold or warm, where the run asked for it (--cache).", CACHE),
    bytes_metric("inputs.input_bytes", "Size of the input tables.", CACHE),
    bytes_metric("inputs.resident_bytes", "What of them was in the page cache before the start.", CACHE),
    ratio_metric("inputs.resident_ratio", "Share of them that was.", CACHE),
    text_metric("inputs.source", "The call that told: cachestat or mincore.", CACHE),
    text_metric("inputs.reason", "Why it is not known.", CACHE),
    flag_metric("inputs.machine_wide", "Whether all caches of the machine were dropped.", CACHE),
    Metric("inputs.remarks", "-", "list", "What could not be dropped or read, and why.", CACHE),
)

HOST_METRICS: tuple[Metric, ...] = (
    *_CPU_METRICS,
    *_MEMORY_METRICS,
    *_DEVICE_METRICS,
    *_NETWORK_METRICS,
    *_PART_METRICS,
    *_VOLUME_METRICS,
    *_CACHE_METRICS,
)

NODE_METRICS: tuple[Metric, ...] = (
    count_metric("nodes.*.sockets", "Its processor sockets.", FACTS),
    count_metric("nodes.*.physical_cores", "Its physical cores, as the kernel sees them.", FACTS),
    count_metric("nodes.*.logical_cpus", "Its logical processors.", FACTS),
    text_metric("nodes.*.smt", "Threads of a core: on, off, forceoff, notsupported, notimplemented.", FACTS),
    text_metric(
        "nodes.*.same_machine_as", "The node before it that is the same machine; null for others.", FACTS
    ),
    text_metric("nodes.*.virtual", "What shows that it is a virtual machine; null on bare metal.", FACTS),
)
