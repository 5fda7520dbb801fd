"""What a run of a search for sessions says, from its judged summary."""

from __future__ import annotations

from mawl.analysis.campaign.knee import RunVerdict, SessionRun
from mawl.analysis.comparison.sides import ComparedRun
from mawl.errors import MawlError
from mawl.model.campaign import Slot
from mawl.units import format_rate, format_ratio


def session_run(sessions: int, run: ComparedRun) -> SessionRun:
    """The verdict of a run: jobs, then stretch, then gate.

    A gate that is not known (the page cache served the load) speaks neither way.  Raises
    :class:`~mawl.errors.MawlError` where no job's stretch is known, since then nothing tells too many.
    """
    capacity, jobs = run.summary["capacity"], run.summary["jobs"]
    stretch, gate = capacity["stretch"], capacity["gate"]
    reasons: list[str] = []
    verdict: RunVerdict = "carried"
    if gate["met"] is False:
        verdict = "gate not met"
        reasons.append(
            f"{format_rate(gate['bytes_per_second_per_core'])} per {gate['core_basis'] or 'core'} is below "
            f"{format_rate(gate['warn_bytes_per_second_per_core'])}"
        )
    if stretch["median"] is not None and stretch["median"] > stretch["most"]:
        verdict = "too many"
        reasons = [
            f"median stretch {format_ratio(stretch['median'])} is above {format_ratio(stretch['most'])}"
        ]
    bad = max(jobs["total"], run.facts.workload.jobs) - jobs["counted"]
    if bad:
        verdict = "too many"
        reasons = [f"{bad} of {run.facts.workload.jobs} jobs did not finish with a right answer"]
    if verdict != "too many" and stretch["median"] is None:
        raise MawlError(
            "the stretch of no job is known, so nothing tells how many sessions are too many",
            where=run.facts.run_id,
            cure="see why its programs have no time alone: the run whose name ends in -alone",
        )
    return SessionRun(
        sessions=sessions,
        verdict=verdict,
        stretch=stretch["median"],
        most_stretch=stretch["most"],
        bytes_per_second_per_core=gate["bytes_per_second_per_core"],
        reasons=reasons,
    )


def refused_run(sessions: int, slot: Slot) -> SessionRun:
    """A number of sessions that the machine cannot start."""
    return SessionRun(sessions=sessions, verdict="refused", reasons=[slot.reason or "it was refused"])
