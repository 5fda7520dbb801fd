"""The time of a run: jobs by outcome, elapsed and CPU time, waits, and windows."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    ADJUSTED,
    AT_ONCE,
    COUNTED,
    CPU_ACCOUNT,
    FACTS,
    HOST,
    IMPORTED_TIMES,
    MEMORY,
    PHASES,
    PLAN,
    RATIO,
    REAL,
    TABLES,
    THROUGHPUT,
    WAITS,
    WINDOWS,
    Number,
    block,
    count,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    words,
)
from mawl.records.model.run import Overhead

NO_OWN_CPU = "the CPU time of mawl or of the jobs, or the elapsed time, is not known"
MAPPED = f"{WAITS}, Mapped files"


class KnownJobs(msgspec.Struct, kw_only=True):
    """How many jobs have each figure."""

    real_time: Annotated[int, count("Jobs that count and have real time.", COUNTED)]
    cpu: Annotated[int, count("Jobs that count and have CPU time.", COUNTED)]
    user_cpu: Annotated[int, count("Jobs that count and have user CPU time.", COUNTED)]
    system_cpu: Annotated[int, count("Jobs that count and have system CPU time.", COUNTED)]
    memory: Annotated[int, count("Jobs that count and have memory.", COUNTED)]
    os_memory: Annotated[int, count("Jobs that count and have peak resident size.", COUNTED)]


class KnownTimes(msgspec.Struct, kw_only=True):
    """Sums over the jobs that have a figure."""

    real_time_seconds: Annotated[
        Number | None, seconds("Sum of real time over the jobs that count and have it.", COUNTED)
    ]
    cpu_seconds: Annotated[
        Number | None, seconds("Sum of CPU time over the jobs that count and have it.", COUNTED)
    ]
    user_cpu_seconds: Annotated[
        Number | None, seconds("Sum of user CPU time over the jobs that count and have it.", COUNTED)
    ]
    system_cpu_seconds: Annotated[
        Number | None, seconds("Sum of system CPU time over the jobs that count and have it.", COUNTED)
    ]
    memory_bytes: Annotated[
        Number | None, size("Sum of memory over the jobs that count and have it.", COUNTED)
    ]
    os_memory_bytes: Annotated[
        Number | None, size("Sum of peak resident size over the jobs that count and have it.", COUNTED)
    ]
    jobs: KnownJobs


class Observed(msgspec.Struct, kw_only=True):
    """The part of an import that figures over time are of."""

    started_at: Annotated[str, text("Start of that part.", IMPORTED_TIMES)]
    ended_at: Annotated[str, text("End of that part.", IMPORTED_TIMES)]
    length_seconds: Annotated[Number | None, seconds("Its length.", IMPORTED_TIMES)]


class Period(msgspec.Struct, kw_only=True):
    """One of the periods of an import that is not one run."""

    started_at: Annotated[str, text("First start of a job in a period of an import.", IMPORTED_TIMES)]
    length_seconds: Annotated[Number | None, seconds("First start to last end in it.", IMPORTED_TIMES)]
    jobs: Annotated[int, count("Jobs that started in it.", IMPORTED_TIMES)]
    peak_concurrent: Annotated[int | None, count("Most jobs that ran at once in it.", AT_ONCE)]
    real_time_seconds: Annotated[
        Number | None, seconds("Sum over its jobs that count and have a real time.", REAL)
    ]
    recorded_seconds: Annotated[Number | None, seconds("Time of it that recordings cover.", IMPORTED_TIMES)]
    cpu_busy_ratio: Annotated[Number | None, share("host.cpu_busy_ratio over what is recorded of it.", HOST)]
    cpu_iowait_ratio: Annotated[Number | None, share("host.cpu_iowait_ratio over the same.", HOST)]
    device_read_bytes_per_second: Annotated[Number | None, rate("Read at devices over the same.", THROUGHPUT)]
    device_write_bytes_per_second: Annotated[
        Number | None, rate("Written at devices over the same.", THROUGHPUT)
    ]


class CpuRange(msgspec.Struct, kw_only=True):
    """The least and the most that a CPU time can be."""

    low: float
    high: float


class Time(msgspec.Struct, kw_only=True):
    """Phases of the run, and sums over the jobs that count."""

    elapsed_seconds: Annotated[
        Number | None, seconds("First start of a job to last end (or record, without one).", PHASES)
    ]
    active_seconds: Annotated[
        Number | None, seconds("Elapsed time before the tail; null where the tail is.", PHASES)
    ]
    tail_seconds: Annotated[
        Number | None,
        seconds(
            "Elapsed time after fewer than max(3, 10 % of the sessions) jobs, or only trail_out "
            "jobs, ran; 0 with fewer than four sessions, null where a run that did not go through"
            " had jobs yet to start.",
            PHASES,
        ),
    ]
    startup_seconds: Annotated[
        Number | None,
        seconds("Wall time from taking the roles and starting the launcher until the gate opened.", PHASES),
    ]
    real_time_seconds: Annotated[
        Number | None, seconds("Sum of the jobs' real time: the papers' workload response time.", REAL)
    ]
    cpu_seconds: Annotated[
        Number | None,
        seconds("Sum of the jobs' CPU time, user and system, also where only both are known.", COUNTED),
    ]
    user_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' user CPU time.", COUNTED)]
    system_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' system CPU time.", COUNTED)]
    memory_bytes: Annotated[Number | None, size("Sum of the jobs' memory.", MEMORY)]
    os_memory_bytes: Annotated[Number | None, size("Sum of the jobs' peak resident sizes.", MEMORY)]
    known: KnownTimes
    adjusted_cpu_seconds: Annotated[
        CpuRange | None,
        seconds(
            "CPU time without AIX's scaled accounting, as {low, high}: a range, since the share "
            "of a core that a thread uses is one; AIX sources only, null for others.",
            ADJUSTED,
        ),
    ]
    observed: Annotated[
        Observed | None,
        block("The part of an import that figures over time are of.", IMPORTED_TIMES, null_answers=True),
    ]
    periods: Annotated[
        list[Period],
        listing(
            "Of an import that is not one run its periods, at least imported.least_gap_seconds apart.",
            IMPORTED_TIMES,
        ),
    ]


class KnownCpuReal(msgspec.Struct, kw_only=True):
    """The ratio of the jobs that have both times."""

    of_sums: Annotated[Number | None, share("The same over the jobs that count and have both.", RATIO)]
    jobs: Annotated[int, count("How many jobs these are.", RATIO)]


class CpuReal(msgspec.Struct, kw_only=True):
    """CPU over real time."""

    of_sums: Annotated[Number | None, share("Summed CPU time over summed real time.", RATIO)]
    known: KnownCpuReal
    mean: Annotated[Number | None, share("Mean of the jobs' own ratios.", RATIO)]
    stddev: Annotated[Number | None, share("Sample standard deviation of the jobs' own ratios.", RATIO)]
    range: Annotated[Number | None, share("Largest less smallest of the jobs' own ratios.", RATIO)]
    without_run_queue: Annotated[
        Number | None,
        share("Summed CPU time over summed real time less the time that jobs waited for a CPU.", RATIO),
    ]


class CpuTimes(msgspec.Struct, kw_only=True):
    """User and system CPU time."""

    user_cpu_seconds: Annotated[Number | None, seconds("User CPU time of {of}.", CPU_ACCOUNT)]
    system_cpu_seconds: Annotated[Number | None, seconds("System CPU time of {of}.", CPU_ACCOUNT)]
    cpu_seconds: Annotated[Number | None, seconds("User and system CPU time of {of}.", CPU_ACCOUNT)]


class CpuAccount(msgspec.Struct, kw_only=True):
    """CPU time of every job, whatever its end, and of the launcher."""

    jobs: Annotated[CpuTimes, words(of="all jobs' own work, however they ended")]
    startup: Annotated[CpuTimes, words(of="starting the jobs' processes")]
    verify: Annotated[CpuTimes, words(of="checking answers")]
    launcher: Annotated[CpuTimes, words(of="the launcher, imports included")]
    total: Annotated[
        CpuTimes, words(of="all jobs' process trees and the launcher, null where one left no account")
    ]


class OwnCost(Overhead, frozen=True, kw_only=True):
    """What mawl itself used, and how it grows: what it used before the start is the same for long runs."""

    cpu_ratio: Annotated[
        float | None,
        share("CPU time of mawl itself over its sum with that of the jobs.", CPU_ACCOUNT, absent=NO_OWN_CPU),
    ] = None
    running_cpu_ratio: Annotated[
        float | None,
        share(
            "CPU seconds of mawl itself after the start for each elapsed second: this part grows with a run.",
            CPU_ACCOUNT,
            absent=NO_OWN_CPU,
        ),
    ] = None


class Blocked(msgspec.Struct, kw_only=True):
    """Time blocked by role."""

    data: Annotated[Number | None, seconds("Blocked in I/O of data.", WAITS)]
    work: Annotated[Number | None, seconds("Blocked in I/O of work.", WAITS)]
    util: Annotated[Number | None, seconds("Blocked in I/O of util.", WAITS)]
    other: Annotated[Number | None, seconds("Blocked in anything else.", WAITS)]


class TimeShares(msgspec.Struct, kw_only=True):
    """What the jobs that count did, as shares of their real time; with ``unknown_ratio`` they add up to 1."""

    on_cpu_ratio: Annotated[Number | None, share("Share of the jobs' real time on a CPU.", WAITS)]
    run_queue_ratio: Annotated[Number | None, share("Share of it waiting for a CPU.", WAITS)]
    data_ratio: Annotated[Number | None, share("Share of it blocked in I/O of data.", WAITS)]
    work_ratio: Annotated[Number | None, share("Share of it blocked in I/O of work.", WAITS)]
    util_ratio: Annotated[Number | None, share("Share of it blocked in I/O of util.", WAITS)]
    other_ratio: Annotated[Number | None, share("Share of it blocked in anything else.", WAITS)]
    unknown_ratio: Annotated[Number, share("Share of it of which mawl does not know what jobs did.", WAITS)]


class MappedFiles(msgspec.Struct, kw_only=True):
    """Mapped files of roles: waiting for their pages is in no role, but in other or unknown."""

    jobs: Annotated[int, count("Jobs that count, and whose counted calls mapped files of roles.", MAPPED)]
    roles: Annotated[list[str], listing("The roles of the files that jobs mapped.", MAPPED)]
    page_faults: Annotated[
        int,
        count(
            "Major page faults of jobs that mapped files of roles, also of programs and of swapped memory; a "
            "fault on a page that is being read ahead waits, too, and is not major.",
            MAPPED,
        ),
    ]
    at_most_seconds: Annotated[
        Number,
        seconds(
            "Real time of these jobs less their known CPU, run queue and I/O of roles: no more of it is "
            "for mapped pages.",
            MAPPED,
        ),
    ]


class Wait(msgspec.Struct, kw_only=True):
    """Where the time of the jobs that count went."""

    on_cpu_seconds: Annotated[Number | None, seconds("On a CPU.", WAITS)]
    run_queue_seconds: Annotated[Number | None, seconds("Waiting for a CPU.", WAITS)]
    blocked_seconds: Blocked
    blocked_at_most_seconds: Annotated[
        Number | None,
        seconds(
            "Real time less CPU time and, where it is known, run queue, job by job and never "
            "below 0: the most that jobs of one thread can have been blocked.",
            WAITS,
        ),
    ]
    mapped_files: Annotated[
        MappedFiles | None,
        block("How much waiting can be for mapped files.", MAPPED),
    ]
    shares: TimeShares


class Recorded(msgspec.Struct, kw_only=True):
    """How many rows the tables of the run folder hold."""

    jobs: Annotated[
        int, count("Rows of jobs; for a killed run's planned job without one a reader adds it.", TABLES)
    ]
    steps: Annotated[
        int | None, count("Rows of steps.", TABLES, absent="only the jobs' records were given, no run folder")
    ]
    samples: Annotated[
        int | None,
        count(
            "Rows of samples: one per node, second and series.",
            TABLES,
            absent="only the jobs' records were given, no run folder",
        ),
    ]
    events: Annotated[
        int | None,
        count("Rows of events.", TABLES, absent="only the jobs' records were given, no run folder"),
    ]


class JobsLeftOut(msgspec.Struct, kw_only=True):
    """Jobs that do not count, each under one reason."""

    wrong_answer: Annotated[int, count("Jobs not counted because their answer was wrong.", COUNTED)]
    failed: Annotated[int, count("Jobs not counted because they failed in any other way.", COUNTED)]
    timed_out: Annotated[int, count("Jobs not counted because they ran into their time limit.", COUNTED)]
    stopped: Annotated[int, count("Jobs not counted because they were stopped with the run.", COUNTED)]
    lost: Annotated[int, count("Jobs not counted because they left no account of their end.", COUNTED)]
    not_started: Annotated[int, count("Jobs not counted because they never got a process.", COUNTED)]


class Jobs(msgspec.Struct, kw_only=True):
    """Counts of jobs by outcome, and how many ran at once."""

    total: Annotated[int, count("Jobs with a record, however they ended.", COUNTED)]
    finished: Annotated[int, count("Jobs that ended well.", COUNTED)]
    failed: Annotated[int, count("Jobs that failed, a wrong answer and a time limit included.", COUNTED)]
    timed_out: Annotated[int, count("Those of the failed that ran into their time limit.", COUNTED)]
    stopped: Annotated[int, count("Jobs that were stopped with the run.", COUNTED)]
    lost: Annotated[int, count("Jobs that had started but left no account of their end.", COUNTED)]
    not_started: Annotated[int, count("Jobs that never got a process.", COUNTED)]
    unverified: Annotated[int, count("Finished jobs whose answer was not shown to be right.", COUNTED)]
    counted: Annotated[
        int,
        count(
            "Jobs whose figures are summed: finished, no answer known to be wrong; of imported logs also "
            "those that ended with errors.",
            COUNTED,
        ),
    ]
    left_out: JobsLeftOut
    planned_peak_concurrent: Annotated[int | None, count("Most jobs that the plan runs side by side.", PLAN)]
    peak_concurrent: Annotated[
        int | None, count("Most jobs that ran at once, those without an end included.", AT_ONCE)
    ]
    seconds_near_peak: Annotated[
        Number | None, seconds("Time with at least 90 % of the observed peak.", AT_ONCE)
    ]
    mean_concurrent: Annotated[
        Number | None,
        share(
            "Sum of all jobs' times from start to end, verify included, over the elapsed time; a "
            "job that left no end runs until the last thing the run recorded.",
            AT_ONCE,
        ),
    ]


class JobFailure(msgspec.Struct, kw_only=True):
    """A job that did not finish."""

    job: Annotated[str, text("A job that did not finish.", FACTS)]
    program: Annotated[str, text("Its program.", FACTS)]
    outcome: Annotated[str, text("failed, timed_out, stopped, lost or not_started.", FACTS)]
    reason: Annotated[str | None, text("The sentence that says why.", FACTS, absent="none was recorded")]


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
