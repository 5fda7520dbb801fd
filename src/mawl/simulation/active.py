"""The active phase of a simulated run, by the rule for a measured one."""

from __future__ import annotations

from mawl.figures.sessions import JobSpan, tail_at
from mawl.simulation.engine import SimulationOutcome


def active_seconds(outcome: SimulationOutcome, sessions: int) -> float:
    """Seconds until the tail begins (docs/design/figures.md); ``sessions`` are those of all nodes."""
    groups = outcome.resources.groups
    spans = [
        JobSpan(job.started, job.ended, job.plan.trail_out)
        for job in outcome.jobs
        for _ in range(groups[job.group].count)
    ]
    return tail_at(spans, sessions, outcome.elapsed_seconds)
