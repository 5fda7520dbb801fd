"""How long jobs waited in the queue of a scheduler before they started."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, block, count, instant, listing, seconds, share, text, words

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
