"""Jobs by outcome."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, count, seconds, share, text
from mawl.definitions.metric import AT_ONCE, COUNTED, FACTS, PLAN, TABLES


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
        int, count("Jobs whose figures are summed: finished, no answer known to be wrong.", COUNTED)
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
