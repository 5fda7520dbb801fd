"""What a comparison of a run with the logs holds: every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.figures.sessions import JobsOverTime
from mawl.records.definitions import FACTS, block, count, listing, seconds, share, text, unitless

PAGE = "docs/design/derived-jobs.md, How is a run compared with its logs"
NO_RATIO = "no step counts, or the run has 0 in too many of them"


class FigurePair(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the logs and of the run, in the base unit of its name (seconds, bytes)."""

    logs: Annotated[
        float | None,
        unitless("The figure of the logs, at the scale of the run.", PAGE, absent="the logs do not have it"),
    ] = None
    run: Annotated[
        float | None, unitless("The figure of the run.", PAGE, absent="the run did not measure it")
    ] = None
    ratio: Annotated[
        float | None,
        share(
            "The figure of the run divided by that of the logs.",
            PAGE,
            absent="one is not known, or the logs have 0",
        ),
    ] = None


def both(logs: float | None, run: float | None) -> FigurePair:
    """A figure of both sides with its ratio."""
    ratio = None if logs is None or run is None or logs <= 0 else run / logs
    return FigurePair(logs=logs, run=run, ratio=ratio)


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a step, of a program or of all."""

    real_seconds: Annotated[FigurePair, block("Real time.", PAGE)]
    cpu_seconds: Annotated[
        FigurePair,
        block("User and system CPU time; that of the logs is also multiplied by the growth.", PAGE),
    ]
    memory_bytes: Annotated[
        FigurePair, block("Peak memory beyond that of the ready process; of several steps the largest.", PAGE)
    ]
    moved_bytes: Annotated[FigurePair, block("Bytes read and written in all roles.", PAGE)]
    data_bytes: Annotated[
        FigurePair,
        block("Bytes read and written in data; mawl derive inferred or assumed those of the logs.", PAGE),
    ]
    work_bytes: Annotated[FigurePair, block("Bytes read and written in work, likewise.", PAGE)]
    util_bytes: Annotated[FigurePair, block("Bytes read and written in util, likewise.", PAGE)]


FIGURES: tuple[str, ...] = Figures.__struct_fields__


class ReplayedStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step on both sides."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    job: Annotated[str, text("The job in the logs.", PAGE)]
    run_job: Annotated[str, text("The job in the run.", PAGE)]
    step: Annotated[str, text("The step in the run: its number in the logs and its procedure.", PAGE)]
    figures: Annotated[Figures, block("The figures of the step.", PAGE)]


class ReplayedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a program, summed: a figure over the steps that have it on both sides."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    jobs: Annotated[int, count("Compared jobs of the program.", PAGE)]
    steps: Annotated[int, count("Compared steps of these jobs.", PAGE)]
    figures: Annotated[Figures, block("The sums of the steps' figures; of memory the largest.", PAGE)]


class Closeness(msgspec.Struct, frozen=True, kw_only=True):
    """How near the steps of the run come to those of the logs in one figure."""

    figure: Annotated[str, text("The figure.", PAGE)]
    least: Annotated[float, unitless("Steps with less in the logs do not count.", PAGE)]
    steps: Annotated[int, count("Number of steps that count.", PAGE)]
    median: Annotated[
        float | None,
        share("Median over these steps of the larger of the ratio and its inverse.", PAGE, absent=NO_RATIO),
    ]
    high: Annotated[
        float | None,
        share("95th percentile of the same ratios (nearest rank).", PAGE, absent=NO_RATIO),
    ]


class JobOfChain(msgspec.Struct, frozen=True, kw_only=True):
    """A job of a chain, on the clock of the night."""

    program: Annotated[str, text("The program, as the logs call it.", PAGE)]
    started_seconds: Annotated[float, seconds("Start of the job.", PAGE)]
    ended_seconds: Annotated[float, seconds("End of the job.", PAGE)]


class NightOfSide(msgspec.Struct, frozen=True, kw_only=True):
    """The night of one side, in seconds since the moment at which ``mawl derive`` lets the night begin.

    The times of the logs are multiplied by the scale that ``mawl derive`` used.
    """

    started_seconds: Annotated[float, seconds("First start of a job.", PAGE)]
    ended_seconds: Annotated[float, seconds("Last end of a job.", PAGE)]
    spare_seconds: Annotated[
        float | None,
        seconds(
            "From the last end to the end of the window; negative if the last job ended too late.",
            PAGE,
            absent="no window was named, or the clock of the run is not that of the night",
        ),
    ]
    not_finished: Annotated[int, count("Jobs that were due and did not finish.", PAGE)]
    chain: Annotated[
        list[JobOfChain],
        listing("The jobs that the job with the last end waited for, in order, and that job.", PAGE),
    ]


class JobsAtOnce(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the compared jobs with times on both sides ran at a time."""

    jobs: Annotated[int, count("Compared jobs that have times on both sides.", PAGE)]
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


class ComparedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs are compared, and why others are not."""

    run_jobs: Annotated[int, count("Derived jobs of the run.", PAGE)]
    logs_jobs: Annotated[int, count("Jobs of the logs that have a DATA or PROC step.", PAGE)]
    matched: Annotated[int, count("Jobs of the run with a matching job in the logs.", PAGE)]
    by_order: Annotated[
        int,
        count("Matched jobs that only their order separates from others with equal steps and times.", PAGE),
    ]
    not_finished: Annotated[
        int,
        count("Matched jobs that did not finish with a right answer in the run; they are left out.", PAGE),
    ]
    jobs: Annotated[int, count("Jobs that are compared.", PAGE)]
    steps: Annotated[int, count("Compared steps: those of these jobs on both sides.", PAGE)]
    steps_missing: Annotated[int, count("Steps of these jobs without a record in the run.", PAGE)]


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """A run of derived jobs compared with the logs."""

    logs_run: Annotated[str, text("The run folder of the logs.", FACTS)]
    run: Annotated[str, text("The run of the derived jobs.", FACTS)]
    called: Annotated[str, text("How a command finds that run.", FACTS)]
    sentence: Annotated[str, text("What the comparison says, in one sentence.", PAGE)]
    not_a_finding: Annotated[str, text("Why it gives no finding of better or worse.", PAGE)]
    remarks: Annotated[list[str], listing("What limits the comparison, in sentences.", PAGE)]
    scale: Annotated[
        float,
        share("Factor of the logs' figures: the scale of mawl derive times that of the run.", PAGE),
    ]
    growth: Annotated[float, share("Factor by which mawl derive multiplied rows, bytes and CPU time.", PAGE)]
    counted: Annotated[ComparedJobs, block("Which jobs are compared.", PAGE)]
    total: Annotated[Figures, block("All steps, summed.", PAGE)]
    closeness: Annotated[list[Closeness], listing("How near single steps come to those of the logs.", PAGE)]
    due_seconds: Annotated[
        float | None,
        seconds("The end of the window on the clock of the night.", PAGE, absent="no window was named"),
    ]
    logs_night: Annotated[
        NightOfSide | None, block("The night in the logs.", PAGE, absent="the logs have no times of jobs")
    ]
    run_night: Annotated[
        NightOfSide | None, block("The night of the run.", PAGE, absent="no job of the run finished")
    ]
    jobs_at_once: Annotated[
        JobsAtOnce | None,
        block("How many jobs ran at a time.", PAGE, absent="no job has times on both sides"),
    ]
    programs: Annotated[
        list[ReplayedProgram],
        listing("Programs, sorted by the change of real time, the largest first.", PAGE),
    ]
    steps: Annotated[
        list[ReplayedStep], listing("Steps, sorted by the change of real time, the largest first.", PAGE)
    ]
