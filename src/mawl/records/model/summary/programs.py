"""The figures of each program, and the queue time of imported jobs."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    COUNTED,
    MEMORY,
    PROGRAM_WAITS,
    REAL,
    Number,
    block,
    count,
    instant,
    joules,
    listing,
    seconds,
    share,
    size,
    text,
    words,
)


class RealTimes(msgspec.Struct, kw_only=True):
    """Real times of the jobs of a program that count."""

    median: Annotated[Number | None, seconds("Median real time of a job that counts.", REAL)]
    min: Annotated[Number | None, seconds("Shortest real time of a job that counts.", REAL)]
    max: Annotated[Number | None, seconds("Longest real time of a job that counts.", REAL)]
    sum: Annotated[Number | None, seconds("Sum of the jobs' real time.", COUNTED)]


class ProgramWaits(msgspec.Struct, kw_only=True):
    """Where the time of the jobs of a program went, in sums."""

    on_cpu_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time on a processor.", PROGRAM_WAITS)
    ]
    run_queue_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time waiting for one.", PROGRAM_WAITS)
    ]
    blocked_data_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of data.", PROGRAM_WAITS)
    ]
    blocked_work_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of work.", PROGRAM_WAITS)
    ]
    blocked_util_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked in I/O of util.", PROGRAM_WAITS)
    ]
    blocked_other_seconds: Annotated[
        Number | None, seconds("Sum over the jobs that count: time blocked elsewhere.", PROGRAM_WAITS)
    ]


class ProgramFigures(msgspec.Struct, kw_only=True):
    """A program: its jobs, and the figures of those that count."""

    jobs: Annotated[int, count("Jobs of the program.", COUNTED)]
    counted: Annotated[int, count("Those of them whose figures are summed.", COUNTED)]
    real_time_seconds: RealTimes
    cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' user and system CPU time.", COUNTED)]
    user_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' user CPU time.", COUNTED)]
    system_cpu_seconds: Annotated[Number | None, seconds("Sum of the jobs' system CPU time.", COUNTED)]
    application_read_bytes: Annotated[
        Number | None, size("Sum of the jobs' application bytes read.", COUNTED)
    ]
    application_written_bytes: Annotated[
        Number | None, size("Sum of the jobs' application bytes written.", COUNTED)
    ]
    memory_bytes: Annotated[Number | None, size("Largest memory of a job that counts.", MEMORY)]
    joules_per_job: Annotated[
        Number | None,
        joules(
            "Mean energy of a job that counts: the run's energy, shared out to all jobs by the CPU time of "
            "their process trees.",
            "docs/design/energy.md, Energy of a job",
            absent="no job of this program counts",
        ),
    ]
    wait: ProgramWaits


QUEUE_PAGE = "docs/design/queue-time.md, Figures"


class QueueTimes(msgspec.Struct, kw_only=True):
    """Queue times of jobs."""

    jobs: Annotated[int, count("Jobs {of} with a queue time, however they ended.", QUEUE_PAGE)]
    median_seconds: Annotated[Number, seconds("Median queue time of these jobs.", QUEUE_PAGE)]
    p95_seconds: Annotated[
        Number, seconds("95th percentile of their queue times (linear interpolation).", QUEUE_PAGE)
    ]
    most_seconds: Annotated[Number, seconds("Longest queue time of these jobs.", QUEUE_PAGE)]
    sum_seconds: Annotated[Number, seconds("Sum of their queue times.", QUEUE_PAGE)]


class QueueChain(msgspec.Struct, kw_only=True):
    """The chain of jobs that ended last, and how much of it was queue."""

    jobs: Annotated[
        int,
        count(
            "Jobs of the chain that ended last: back from the last end, each job could run (its queue time "
            "before its start) at most 5 s after the end of the one before it in its session.",
            QUEUE_PAGE,
        ),
    ]
    length_seconds: Annotated[
        Number,
        seconds("From the time at which the first job of the chain could run to its last end.", QUEUE_PAGE),
    ]
    queue_seconds: Annotated[
        Number,
        seconds(
            "Time in which the next job of the chain was in the queue and no job of the chain ran.",
            QUEUE_PAGE,
        ),
    ]
    queue_ratio: Annotated[
        Number | None, share("queue_seconds of the chain, divided by its length_seconds.", QUEUE_PAGE)
    ]


class QueuedJob(msgspec.Struct, kw_only=True):
    """A job that waited long."""

    job: Annotated[str, text("A job with one of the ten longest queue times above 0.", QUEUE_PAGE)]
    program: Annotated[str, text("Its program.", QUEUE_PAGE)]
    submitted_at: Annotated[
        str | None,
        instant("When it was submitted, by the clock of its scheduler (UTC, ISO 8601).", QUEUE_PAGE),
    ]
    queue_seconds: Annotated[
        Number,
        seconds(
            "From the time at which it could run, by its scheduler (its submission, or later: an earliest "
            "start, the end of a job it depends on), to its start by the scheduler.",
            QUEUE_PAGE,
        ),
    ]
    real_time_seconds: Annotated[
        Number | None, seconds("Its real time.", QUEUE_PAGE, absent="the job has no real time")
    ]


class Queue(msgspec.Struct, kw_only=True):
    """Queue times of the jobs that were found in the history of their scheduler."""

    submitted: Annotated[int, count("Jobs whose submission is known.", QUEUE_PAGE)]
    times: Annotated[
        QueueTimes | None,
        words(of="of the run"),
        block("Queue times of all jobs of the run that have one.", QUEUE_PAGE),
    ]
    chain: Annotated[QueueChain | None, block("The chain of jobs that ended last.", QUEUE_PAGE)]
    programs: Annotated[
        dict[str, QueueTimes],
        words(of="of the program"),
        block("Queue times by program.", QUEUE_PAGE, member="program"),
    ]
    longest: Annotated[
        list[QueuedJob], listing("Jobs with the longest queue times, at most ten.", QUEUE_PAGE)
    ]
