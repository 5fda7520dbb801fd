"""What a comparison of a run with the logs holds: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.analysis.concurrency import JobsOverTime
from mawl.definitions.figure import block, count, listing, seconds, share, text, unitless
from mawl.definitions.metric import FACTS

PAGE = "docs/design/derived-jobs.md, How is a run compared with its logs"


class Both(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the logs and of the run, in the base unit of its name (seconds, bytes)."""

    logs: Annotated[
        float | None,
        unitless("In the logs, times the scale of the run.", PAGE, absent="the logs do not tell it"),
    ] = None
    run: Annotated[float | None, unitless("In the run.", PAGE, absent="the run did not measure it")] = None
    ratio: Annotated[
        float | None, share("Run over logs.", PAGE, absent="one is not known, or the logs have 0")
    ] = None


def both(logs: float | None, run: float | None) -> Both:
    """A figure of both sides with its ratio."""
    ratio = None if logs is None or run is None or logs <= 0 else run / logs
    return Both(logs=logs, run=run, ratio=ratio)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a step, of a program or of all."""

    real_seconds: Annotated[Both, block("Real time.", PAGE)]
    cpu_seconds: Annotated[Both, block("User and system CPU time; in the logs times the growth, too.", PAGE)]
    memory_bytes: Annotated[
        Both, block("Peak memory beyond the process when ready; of several the most.", PAGE)
    ]
    moved_bytes: Annotated[Both, block("Bytes read and written in all roles.", PAGE)]
    data_bytes: Annotated[
        Both, block("Of these, in data; of the logs as mawl derive inferred or assumed them.", PAGE)
    ]
    work_bytes: Annotated[Both, block("The same in work.", PAGE)]
    util_bytes: Annotated[Both, block("The same in util.", PAGE)]


FIGURES = (
    "real_seconds",
    "cpu_seconds",
    "memory_bytes",
    "moved_bytes",
    "data_bytes",
    "work_bytes",
    "util_bytes",
)


class ReplayedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step on both sides."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    job: Annotated[str, text("The job in the logs.", PAGE)]
    run_job: Annotated[str, text("The job in the run.", PAGE)]
    step: Annotated[str, text("The step in the run: its number in the logs and its procedure.", PAGE)]
    figures: Annotated[Figures, block("Its figures.", PAGE)]


class ReplayedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a program, summed: a figure over the steps that have it on both sides."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    jobs: Annotated[int, count("Its jobs that are compared.", PAGE)]
    steps: Annotated[int, count("Their steps.", PAGE)]
    figures: Annotated[Figures, block("Their sums; of memory the largest.", PAGE)]


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """How near the steps of the run come to those of the logs in one figure."""

    figure: Annotated[str, text("The figure.", PAGE)]
    least: Annotated[float, unitless("Steps with less in the logs do not count.", PAGE)]
    steps: Annotated[int, count("The steps that count.", PAGE)]
    median: Annotated[
        float | None, share("The larger of ratio and inverse, in the median.", PAGE, absent="no step counts")
    ]
    high: Annotated[
        float | None, share("The same at the 95th percentile (nearest rank).", PAGE, absent="no step counts")
    ]


class JobOfChain(msgspec.Struct, frozen=True, kw_only=True):
    """A job of a chain, on the clock of the night."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    started_seconds: Annotated[float, seconds("When it started.", PAGE)]
    ended_seconds: Annotated[float, seconds("When it ended.", PAGE)]


class NightOfSide(msgspec.Struct, frozen=True, kw_only=True):
    """The night of one side, in seconds of its clock, which begins where mawl derive put it.

    Those of the logs are times the scale that ``mawl derive`` used.
    """

    started_seconds: Annotated[float, seconds("First start of a job.", PAGE)]
    ended_seconds: Annotated[float, seconds("Last end of a job.", PAGE)]
    spare_seconds: Annotated[
        float | None,
        seconds(
            "From the last end to the end of the window; below 0: missed by so much.",
            PAGE,
            absent="no window was named, or the clock of the run is not that of the night",
        ),
    ]
    not_finished: Annotated[int, count("Jobs that were due and did not finish.", PAGE)]
    chain: Annotated[
        list[JobOfChain], listing("The jobs that the last end waited for, and that job at the end.", PAGE)
    ]


class JobsAtOnce(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs ran at a time, of the jobs that are compared and have times on both sides."""

    jobs: Annotated[int, count("These jobs.", PAGE)]
    logs: Annotated[JobsOverTime, block("The curve of the logs, on the clock of the night.", PAGE)]
    run: Annotated[JobsOverTime, block("The curve of the run.", PAGE)]
    logs_peak: Annotated[int, count("The most at a time in the logs.", PAGE)]
    run_peak: Annotated[int, count("The most at a time in the run.", PAGE)]
    logs_job_seconds: Annotated[float, seconds("The area under the curve of the logs.", PAGE)]
    run_job_seconds: Annotated[float, seconds("The area under the curve of the run.", PAGE)]
    area_difference_ratio: Annotated[
        float | None,
        share(
            "The absolute difference of the two areas over that of the logs.", PAGE, absent="the logs have 0"
        ),
    ]
    area_between_ratio: Annotated[
        float | None,
        share(
            "The area between the curves (absolute difference of the jobs, over time) over that of the logs.",
            PAGE,
            absent="the logs have 0",
        ),
    ]


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs are compared, and why others are not."""

    run_jobs: Annotated[int, count("Jobs that the run should do.", PAGE)]
    logs_jobs: Annotated[int, count("Jobs of the logs that have steps.", PAGE)]
    matched: Annotated[int, count("Jobs of the run that have theirs in the logs.", PAGE)]
    by_order: Annotated[
        int, count("Of these, jobs that only the order tells from others with equal steps and times.", PAGE)
    ]
    not_finished: Annotated[
        int, count("Matched jobs that did not finish in the run, or with a wrong answer: left out.", PAGE)
    ]
    jobs: Annotated[int, count("Jobs that are compared.", PAGE)]
    steps: Annotated[int, count("Their steps that are on both sides.", PAGE)]
    steps_missing: Annotated[int, count("Their steps that the run has no record of.", PAGE)]


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """A run of derived jobs beside the logs."""

    logs_run: Annotated[str, text("The run folder of the logs.", FACTS)]
    run: Annotated[str, text("The run of the derived jobs.", FACTS)]
    called: Annotated[str, text("How a command finds that run.", FACTS)]
    sentence: Annotated[str, text("What the comparison says, in one sentence.", PAGE)]
    not_a_finding: Annotated[str, text("Why it gives no finding of better or worse.", PAGE)]
    remarks: Annotated[list[str], listing("What else a reader must know.", PAGE)]
    scale: Annotated[
        float, share("What the figures of the logs are multiplied by: scale of derive and of run.", PAGE)
    ]
    growth: Annotated[float, share("What mawl derive multiplied rows, bytes and CPU time by.", PAGE)]
    counted: Annotated[Counted, block("Which jobs are compared.", PAGE)]
    total: Annotated[Figures, block("All steps, summed.", PAGE)]
    closeness: Annotated[list[Closeness], listing("How near the steps come.", PAGE)]
    due_seconds: Annotated[
        float | None, seconds("The end of the window on its clock.", PAGE, absent="no window was named")
    ]
    logs_night: Annotated[
        NightOfSide | None, block("The night in the logs.", PAGE, absent="the logs tell no times of jobs")
    ]
    run_night: Annotated[
        NightOfSide | None, block("The night of the run.", PAGE, absent="no job of the run finished")
    ]
    jobs_at_once: Annotated[
        JobsAtOnce | None, block("Jobs at a time.", PAGE, absent="no job has times on both sides")
    ]
    programs: Annotated[
        list[ReplayedProgram], listing("Programs, those first whose real time changed most.", PAGE)
    ]
    steps: Annotated[list[ReplayedStep], listing("Steps, those first whose real time changed most.", PAGE)]
