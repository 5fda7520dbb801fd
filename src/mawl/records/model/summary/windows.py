"""The figures of each window of a run."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import WINDOWS, Number, rate, seconds, share, text, words


class JobsBlocked(msgspec.Struct, kw_only=True):
    """Mean numbers of blocked jobs."""

    data: Annotated[Number | None, share("Mean number of jobs blocked in I/O of data.", WINDOWS)]
    work: Annotated[Number | None, share("Mean number of jobs blocked in I/O of work.", WINDOWS)]
    util: Annotated[Number | None, share("Mean number of jobs blocked in I/O of util.", WINDOWS)]
    other: Annotated[Number | None, share("Mean number of jobs blocked elsewhere.", WINDOWS)]
    unknown: Annotated[
        Number | None,
        share("Mean number of jobs that slept, of which mawl did not see all I/O.", WINDOWS),
    ]


class WindowRoleLatency(msgspec.Struct, kw_only=True):
    """Mean time inside calls on a role."""

    read_seconds: Annotated[
        Number | None, seconds("Mean time inside a read call on {role} in the window.", WINDOWS)
    ]
    write_seconds: Annotated[
        Number | None, seconds("Mean time inside a write call on {role} in the window.", WINDOWS)
    ]


class WindowLatency(msgspec.Struct, kw_only=True):
    """Mean time inside calls by role."""

    data: Annotated[WindowRoleLatency, words(role="data")]
    work: Annotated[WindowRoleLatency, words(role="work")]
    util: Annotated[WindowRoleLatency, words(role="util")]


class WindowReach(msgspec.Struct, kw_only=True):
    """Device over application bytes."""

    read_ratio: Annotated[Number | None, share("Device over application bytes read in the window.", WINDOWS)]
    write_ratio: Annotated[
        Number | None, share("Device over application bytes written in the window.", WINDOWS)
    ]


class Pressure(msgspec.Struct, kw_only=True):
    """Pressure stall information, as shares of the time."""

    cpu_some_ratio: Annotated[
        Number | None, share("Share of the time in which some task waited for CPU.", WINDOWS)
    ]
    io_some_ratio: Annotated[
        Number | None, share("Share of the time in which some task waited for I/O.", WINDOWS)
    ]
    io_full_ratio: Annotated[
        Number | None,
        share("Share of the time in which all tasks that were not idle waited for I/O.", WINDOWS),
    ]
    memory_some_ratio: Annotated[
        Number | None, share("Share of the time in which some task waited for memory.", WINDOWS)
    ]
    memory_full_ratio: Annotated[
        Number | None,
        share("Share of the time in which all tasks that were not idle waited for memory.", WINDOWS),
    ]


class WindowFigures(msgspec.Struct, kw_only=True):
    """What the run did in one window."""

    start_seconds: Annotated[
        Number,
        seconds("Start of the window, from the first start of a job, or of time.observed.", WINDOWS),
    ]
    length_seconds: Annotated[Number, seconds("Its length.", WINDOWS)]
    phase: Annotated[str, text("active or tail.", WINDOWS)]
    jobs_running: Annotated[Number | None, share("Mean number of jobs with a process.", WINDOWS)]
    jobs_on_cpu: Annotated[Number | None, share("Mean number of jobs on a CPU.", WINDOWS)]
    jobs_in_run_queue: Annotated[Number | None, share("Mean number of jobs that waited for a CPU.", WINDOWS)]
    jobs_blocked: JobsBlocked
    application_read_bytes_per_second: Annotated[
        Number | None, rate("Bytes read per second in the window, as programs asked for.", WINDOWS)
    ]
    application_write_bytes_per_second: Annotated[
        Number | None, rate("Bytes written per second in the window, as programs asked for.", WINDOWS)
    ]
    device_read_bytes_per_second: Annotated[
        Number | None, rate("Bytes read per second in the window, at the device.", WINDOWS)
    ]
    device_write_bytes_per_second: Annotated[
        Number | None, rate("Bytes written per second in the window, at the device.", WINDOWS)
    ]
    latency: WindowLatency
    reach: WindowReach
    cpu_busy_ratio: Annotated[
        Number | None,
        share("Share of the processors' time that was busy, as in host.cpu_busy_ratio.", WINDOWS),
    ]
    pressure: Pressure
