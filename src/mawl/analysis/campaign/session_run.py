"""What a run of a search for sessions says, from its judged summary."""

from __future__ import annotations

from mawl.analysis.campaign.knee import RunVerdict, SessionRun
from mawl.analysis.comparison.sides import ComparedRun
from mawl.errors import MawlError
from mawl.model.campaign import Slot
from mawl.units import format_ratio


def session_run(sessions: int, run: ComparedRun) -> SessionRun:
    """The verdict of a run: its jobs, then its median slowdown.

    Raises :class:`~mawl.errors.MawlError` where no job's slowdown is known: then nothing shows too many.
    """
    capacity, jobs = run.summary.capacity, run.summary.jobs
    slowdown = capacity.slowdown
    reasons: list[str] = []
    verdict: RunVerdict = "carried"
    if slowdown.median is not None and slowdown.median > slowdown.most:
        verdict = "too many"
        reasons = [f"median slowdown {format_ratio(slowdown.median)} is above {format_ratio(slowdown.most)}"]
    bad = max(jobs.total, run.facts.workload.jobs) - jobs.counted
    if bad:
        verdict = "too many"
        reasons = [f"{bad} of {run.facts.workload.jobs} jobs did not finish with a right answer"]
    if verdict != "too many" and slowdown.median is None:
        raise MawlError(
            "the slowdown of no job is known, so nothing shows how many sessions are too many",
            where=run.facts.run_id,
            cure="see why its programs have no time alone: the run whose name ends in -alone",
        )
    return SessionRun(
        sessions=sessions,
        verdict=verdict,
        slowdown=slowdown.median,
        most_slowdown=slowdown.most,
        bytes_per_second_per_core=capacity.guideline.bytes_per_second_per_core,
        reasons=reasons,
    )


def refused_run(sessions: int, slot: Slot) -> SessionRun:
    """A number of sessions that the machine cannot start."""
    return SessionRun(sessions=sessions, verdict="refused", reasons=[slot.reason or "it was refused"])
