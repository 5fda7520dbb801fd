"""What the blocks of a summary have in common: which jobs count, sums that admit what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mawl.records.model.records import ERROR_IN_LOG, JobRecord

Missing = dict[str, str]
"""Dotted path of a null figure to the reason; ``*`` stands for any program, node or job."""


def counted(jobs: Iterable[JobRecord]) -> list[JobRecord]:
    """The jobs whose figures are summed: finished, and not with an answer known to be wrong; of imported logs
    also those that ended with errors, which cost what they cost.

    A wrong answer is a failed job, and its time does not count (docs/design/figures.md).  A job whose
    answer nobody could check (a foreign command, an imported log) counts, and is ``unverified``.
    """
    return [
        job
        for job in jobs
        if (job.outcome == "finished" or ended_with_errors(job)) and job.verified is not False
    ]


def ended_with_errors(job: JobRecord) -> bool:
    """Whether a job is of a log that goes to its end and has an ERROR."""
    return job.outcome == "failed" and job.reason is not None and job.reason.startswith(ERROR_IN_LOG)


NO_TIMES = "no job has both a start and an end"
NO_JOB_COUNTS = "no job finished with a right answer"
NOT_IN_FILES = "imported files do not contain it"


def total(jobs: Sequence[JobRecord], field: str, path: str, missing: Missing) -> float | int | None:
    """The sum of a usage field over jobs; None, with the reason, where any of them lacks it."""
    if not jobs:
        missing[path] = NO_JOB_COUNTS
        return None
    return sum_of(jobs, [getattr(job.usage, field) for job in jobs], path, missing)


def sum_of(
    jobs: Sequence[JobRecord], values: Sequence[float | None], path: str, missing: Missing
) -> float | int | None:
    """The sum of a figure of each job; None where any of them lacks it: the reason names the first."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        without, first = len(values) - len(known), jobs[list(values).index(None)].job
        have = f"has no such figure ({first})" if without == 1 else f"have no such figure (first: {first})"
        missing[path] = f"{without} of the {len(values)} jobs that count {have}"
        return None
    return sum(known)


def ratio(
    part: float | None, whole: float | None, path: str, missing: Missing, of: tuple[str, str] = ("", "")
) -> float | None:
    """``part / whole``; None where either is unknown (``of``: their paths, which have the reasons) or the
    whole is zero."""
    if part is None or whole is None:
        missing[path] = missing[of[0] if part is None else of[1]]
        return None
    if whole == 0:
        missing[path] = "nothing to divide by: the whole is zero"
        return None
    return part / whole
