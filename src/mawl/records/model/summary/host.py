"""The hosts of a run: processors, memory, devices, networks and energy."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    HOST,
    HOST_DEVICES,
    HOST_NETWORK,
    HOST_ROLES,
    Number,
    block,
    count,
    flag,
    hertz,
    joules,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    watts,
    words,
)

IMPORTED_HOST = "docs/design/imported-host.md"
BUSY_CORES = "docs/design/threads.md, Busy cores"


class MeanAndPeakTime(msgspec.Struct, kw_only=True):
    """Mean over the whole time, and the highest window."""

    mean: Annotated[Number | None, seconds("{what}.", HOST_DEVICES)]
    peak: Annotated[Number | None, seconds("{what}: the highest window.", HOST_DEVICES)]


class MeanAndPeakRate(msgspec.Struct, kw_only=True):
    """Mean over the whole time, and the highest window."""

    mean: Annotated[Number | None, rate("Throughput {way}, over the whole time.", HOST_NETWORK)]
    peak: Annotated[Number | None, rate("Throughput {way}, the highest window.", HOST_NETWORK)]


class Runnable(msgspec.Struct, kw_only=True):
    """Runnable tasks."""

    mean: Annotated[Number | None, share("Mean number of runnable tasks, running ones included.", HOST)]
    peak: Annotated[Number | None, share("That of the highest window.", HOST)]


class HostPressure(msgspec.Struct, kw_only=True):
    """Pressure stall information, as shares of the time."""

    cpu_some_ratio: Annotated[
        Number | None,
        share("Share of the time in which some task waited for CPU; the mean over nodes.", HOST),
    ]
    io_some_ratio: Annotated[
        Number | None,
        share("Share of the time in which some task waited for I/O; the mean over nodes.", HOST),
    ]
    io_full_ratio: Annotated[
        Number | None,
        share(
            "Share of the time in which all tasks that were not idle waited for I/O; the mean over nodes.",
            HOST,
        ),
    ]
    memory_some_ratio: Annotated[
        Number | None,
        share(
            "Share of the time in which some task waited for memory to be freed; the mean over nodes.", HOST
        ),
    ]
    memory_full_ratio: Annotated[
        Number | None,
        share(
            "Share of the time in which all tasks that were not idle waited for memory to be "
            "freed; the mean over nodes.",
            HOST,
        ),
    ]


class ControlGroup(msgspec.Struct, kw_only=True):
    """The jobs' control group."""

    most_memory_bytes: Annotated[
        Number | None, size("Most memory, page cache included, of the jobs' control group.", HOST)
    ]
    memory_limit_hits: Annotated[Number | None, count("Times that group met its memory limit.", HOST)]
    cpu_throttled_seconds: Annotated[
        Number | None,
        seconds(
            "Time that its CPU quota, used up, let nothing of that group run; summed over processors.", HOST
        ),
    ]


class DeviceFigures(msgspec.Struct, kw_only=True):
    """A block device."""

    reads: Annotated[Number | None, count("Read requests that the device completed.", HOST_DEVICES)]
    writes: Annotated[Number | None, count("Write requests that the device completed.", HOST_DEVICES)]
    read_bytes: Annotated[Number | None, size("Bytes read from the device, for all programs.", HOST_DEVICES)]
    written_bytes: Annotated[Number | None, size("Bytes written to it, for all programs.", HOST_DEVICES)]
    flushes: Annotated[Number | None, count("Flushes of its cache (Linux 5.5 and later).", HOST_DEVICES)]
    known_seconds: Annotated[
        Number | None,
        seconds("How much of that time samples of the device cover: its sums are of that part.", HOST),
    ]
    read_await_seconds: Annotated[
        MeanAndPeakTime, words(what="Time of read requests from queueing to completion over their number")
    ]
    write_await_seconds: Annotated[
        MeanAndPeakTime, words(what="Time of write requests from queueing to completion over their number")
    ]
    requests: Annotated[Number | None, count("Requests of both directions that it completed.", HOST_DEVICES)]
    await_seconds: Annotated[
        MeanAndPeakTime, words(what="Time of requests of both directions over their number")
    ]
    utilisation_ratio: Annotated[
        Number | None,
        share(
            "Share of the time with a request in flight; a device that serves many at once may do more at 1.",
            HOST_DEVICES,
        ),
    ]
    queue_length: Annotated[
        Number | None, share("Mean number of requests queued or in flight.", HOST_DEVICES)
    ]
    roles: Annotated[list[str], listing("Roles that it holds, at any layer.", HOST_ROLES)]


class Interface(msgspec.Struct, kw_only=True):
    """A network interface."""

    received_bytes: Annotated[Number | None, size("Bytes received by the network interface.", HOST_NETWORK)]
    sent_bytes: Annotated[Number | None, size("Bytes sent by the network interface.", HOST_NETWORK)]
    received_errors: Annotated[Number | None, count("Packets received with an error.", HOST_NETWORK)]
    sent_errors: Annotated[Number | None, count("Packets sent with an error.", HOST_NETWORK)]
    received_drops: Annotated[
        Number | None, count("Packets received with no place for them, so dropped.", HOST_NETWORK)
    ]
    sent_drops: Annotated[
        Number | None, count("Packets sent with no place for them, so dropped.", HOST_NETWORK)
    ]
    known_seconds: Annotated[
        Number | None,
        seconds("How much of that time samples of the interface cover: its sums are of that part.", HOST),
    ]
    received_bytes_per_second: Annotated[MeanAndPeakRate, words(way="received")]
    sent_bytes_per_second: Annotated[MeanAndPeakRate, words(way="sent")]


class FabricPort(msgspec.Struct, kw_only=True):
    """A fibre channel or InfiniBand port."""

    received_bytes: Annotated[
        Number | None, size("Bytes received by the fibre channel or InfiniBand port.", HOST_NETWORK)
    ]
    sent_bytes: Annotated[
        Number | None, size("Bytes sent by the fibre channel or InfiniBand port.", HOST_NETWORK)
    ]
    link_failures: Annotated[Number | None, count("Times the link failed.", HOST_NETWORK)]
    known_seconds: Annotated[
        Number | None,
        seconds("How much of that time samples of the port cover: its sums are of that part.", HOST),
    ]
    received_bytes_per_second: Annotated[MeanAndPeakRate, words(way="received")]
    sent_bytes_per_second: Annotated[MeanAndPeakRate, words(way="sent")]


class NetworkMount(msgspec.Struct, kw_only=True):
    """A network mount."""

    application_read_bytes: Annotated[
        Number | None, size("Bytes that programs read of the network mount.", HOST_NETWORK)
    ]
    application_written_bytes: Annotated[
        Number | None, size("Bytes that programs wrote to it.", HOST_NETWORK)
    ]
    read_bytes: Annotated[Number | None, size("Bytes that came from its server.", HOST_NETWORK)]
    written_bytes: Annotated[Number | None, size("Bytes that went to its server.", HOST_NETWORK)]
    retransmissions: Annotated[Number | None, count("Requests that were sent again.", HOST_NETWORK)]
    known_seconds: Annotated[
        Number | None,
        seconds("How much of that time samples of the mount cover: its sums are of that part.", HOST),
    ]
    read_await_seconds: Annotated[
        MeanAndPeakTime, words(source=HOST_NETWORK, what="Time of read requests over their number")
    ]
    write_await_seconds: Annotated[
        MeanAndPeakTime, words(source=HOST_NETWORK, what="Time of write requests over their number")
    ]


class RoleDevices(msgspec.Struct, kw_only=True):
    """All devices of the roles together."""

    read_bytes: Annotated[
        Number | None,
        size("Bytes read from the devices of the roles' file systems, once, for all programs.", HOST_ROLES),
    ]
    written_bytes: Annotated[
        Number | None,
        size("Bytes written to them, by whomever: writes of the kernel and journals included.", HOST_ROLES),
    ]


class Host(msgspec.Struct, kw_only=True):
    """Processors, memory, devices and networks of the nodes."""

    known_seconds: Annotated[
        Number | None,
        seconds(
            "How much of the time from first start to last end samples of the processors cover, "
            "of the least known node: sums of the host are of that part.",
            HOST,
        ),
    ]
    cpu_busy_ratio: Annotated[
        Number | None,
        share(
            "Share of the time of all processors in user, system and interrupts; raw: logical "
            "processors as the kernel counts them, nothing adjusted for threads of a core.",
            HOST,
        ),
    ]
    cpu_user_ratio: Annotated[Number | None, share("Share in user mode, nice included.", HOST)]
    cpu_system_ratio: Annotated[Number | None, share("Share in the kernel, interrupts aside.", HOST)]
    cpu_interrupt_ratio: Annotated[Number | None, share("Share in interrupts, hard and soft.", HOST)]
    cpu_iowait_ratio: Annotated[
        Number | None,
        share(
            "Share idle while some task waited for a block device: no evidence of anything by itself.", HOST
        ),
    ]
    cpu_steal_ratio: Annotated[Number | None, share("Share that the hypervisor gave to others.", HOST)]
    cpu_busy_seconds: Annotated[
        Number | None, seconds("The time behind cpu_busy_ratio, processors added up.", HOST)
    ]
    physical_cpu_seconds: Annotated[
        Number | None,
        seconds(
            "Time of physical processors that PowerVM partitions used, of imported recordings; raw.",
            IMPORTED_HOST,
        ),
    ]
    core_busy_seconds: Annotated[
        Number | None,
        seconds(
            "Time in which a physical core was busy because any of its threads was, cores added "
            "up, never above cores times the time; core_busy_basis says whether that is exact or "
            "an estimate.",
            BUSY_CORES,
        ),
    ]
    core_busy_least_seconds: Annotated[
        Number | None,
        seconds(
            "The least that it can be: of each core the thread that was busy longest, second by second.",
            BUSY_CORES,
        ),
    ]
    core_busy_most_seconds: Annotated[
        Number | None,
        seconds(
            "The most that it can be: of each core the threads added up, second by second, and no"
            " more than a second of each.",
            BUSY_CORES,
        ),
    ]
    core_busy_ratio: Annotated[
        Number | None,
        share("core_busy_seconds over physical cores (else cores) times the time.", BUSY_CORES),
    ]
    core_busy_basis: Annotated[
        str | None,
        text(
            "exact (one thread a core), bounds (an estimate between them), estimate (a run before"
            " bounds were recorded), dispatched (PowerVM's account of the processors); several "
            "where nodes differ.",
            BUSY_CORES,
        ),
    ]
    core_basis: Annotated[
        str | None, text("What cores counts: physical core, or vCPU on a virtual machine.", HOST)
    ]
    cores: Annotated[int | None, count("Cores of all nodes, counted in core_basis.", HOST)]
    memory_bytes: Annotated[Number | None, size("Memory of all nodes.", HOST)]
    runnable: Runnable
    blocked_processes: Annotated[Number | None, share("Mean number of tasks blocked in I/O.", HOST)]
    least_memory_available_bytes: Annotated[
        Number | None, size("Smallest MemAvailable of any second and node.", HOST)
    ]
    most_memory_dirty_bytes: Annotated[
        Number | None, size("Largest amount of dirty page cache of any second and node.", HOST)
    ]
    context_switches: Annotated[Number | None, count("Context switches.", HOST)]
    major_faults: Annotated[Number | None, count("Page faults that needed I/O, of the whole machine.", HOST)]
    swap_read_bytes: Annotated[Number | None, size("Bytes read from swap.", HOST)]
    swap_written_bytes: Annotated[Number | None, size("Bytes written to swap.", HOST)]
    cache_evicted_bytes: Annotated[
        Number | None,
        size(
            "Bytes of files that left the page cache for want of memory, of a control group or the machine.",
            HOST,
        ),
    ]
    cache_reread_bytes: Annotated[
        Number | None, size("Bytes of files that were read again after that.", HOST)
    ]
    frequency_hertz: Annotated[Number | None, hertz("Mean clock rate of the processors (cpufreq).", HOST)]
    pressure: HostPressure
    group: ControlGroup
    device: Annotated[
        dict[str, DeviceFigures] | None, block("Block devices by name.", HOST_DEVICES, member="device")
    ]
    network: Annotated[
        dict[str, Interface] | None, block("Network interfaces by name.", HOST_NETWORK, member="interface")
    ]
    fabric: Annotated[
        dict[str, FabricPort] | None,
        block("Fibre channel and InfiniBand ports by name.", HOST_NETWORK, member="port"),
    ]
    mount: Annotated[
        dict[str, NetworkMount] | None,
        block("NFS, Lustre and Spectrum Scale mounts by mount point.", HOST_NETWORK, member="mount"),
    ]
    role_devices: RoleDevices


ENERGY_PAGE = "docs/design/energy.md"
ENERGY_COUNT = f"{ENERGY_PAGE}, What is counted"
ENERGY_PER_JOB = f"{ENERGY_PAGE}, Energy of a job"


class EnergyDomain(msgspec.Struct, kw_only=True):
    """What one counter or meter saw."""

    joules: Annotated[
        Number | None, joules("Energy that the counter or meter saw in known_seconds.", ENERGY_COUNT)
    ]
    mean_watts: Annotated[Number | None, watts("Its joules divided by its known_seconds.", ENERGY_COUNT)]
    known_seconds: Annotated[Number | None, seconds("Time that its samples cover.", ENERGY_COUNT)]
    counted: Annotated[
        bool,
        flag("Whether the run's sum includes it; a part of another domain is not included.", ENERGY_COUNT),
    ]


class Energy(msgspec.Struct, kw_only=True):
    """Energy from the first start of a job to the last end, each joule counted once."""

    scope: Annotated[
        str | None,
        text(
            "What was measured: machine, processors and memory, or processors. Only equal scopes compare.",
            ENERGY_COUNT,
        ),
    ]
    known_seconds: Annotated[
        Number | None,
        seconds("Time that samples cover: the shortest among the counted domains.", ENERGY_COUNT),
    ]
    joules: Annotated[
        Number | None,
        joules(
            "Energy of all machines, idle power and other programs included: sum over the counted domains.",
            ENERGY_COUNT,
        ),
    ]
    mean_watts: Annotated[
        Number | None,
        watts("Mean power: sum over the counted domains, each over its known_seconds.", ENERGY_COUNT),
    ]
    joules_per_job: Annotated[
        Number | None, joules("energy.joules divided by the number of jobs that count.", ENERGY_PER_JOB)
    ]
    domain: Annotated[dict[str, EnergyDomain], block(member="domain")]
