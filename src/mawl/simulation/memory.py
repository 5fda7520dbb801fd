"""Which bytes reach the devices at other memory: the measured reach, as the page cache moves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mawl.plan.workload import Plan
from mawl.simulation.demand import Direction, Flow, JobDemand
from mawl.simulation.reach import reach_of


def other_cache(
    jobs: Mapping[str, JobDemand], measured: tuple[Plan, float], asked: tuple[Plan, float]
) -> dict[str, JobDemand]:
    """The jobs, measured as a plan on a node's bytes of memory, as of another plan or memory.

    Hits change with those of the page-cache model (:func:`~mawl.simulation.reach.reach_of`): of what was
    asked for, ``(1 - reach) * (1 - model of asked) / (1 - model of measured)`` stays in memory, at most all
    of it.  A direction of which the model cannot tell, or where it has no hits to begin with, stays.
    """
    before, after = (reach_of(*each) for each in (measured, asked))
    ratios: dict[Direction, float | None] = {
        "read": _hits(before.read_ratio, after.read_ratio),
        "write": _hits(before.write_ratio, after.write_ratio),
    }

    def reached(flow: Flow) -> Flow:
        ratio = ratios[flow.direction]
        if ratio is None or flow.device_bytes >= flow.application_bytes:
            return flow
        hits = (flow.application_bytes - flow.device_bytes) * ratio
        return replace(flow, device_bytes=max(flow.application_bytes - hits, 0.0))

    return {
        name: replace(
            job, steps=tuple(replace(step, flows=tuple(map(reached, step.flows))) for step in job.steps)
        )
        for name, job in jobs.items()
    }


def _hits(before: float | None, after: float | None) -> float | None:
    """How many times the hits there are; None where it cannot be told."""
    if before is None or after is None or before >= 1.0:
        return None
    return (1.0 - after) / (1.0 - before)
