"""Which bytes reach the devices at other memory: the measured reach, as the page cache moves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mawl.plan.workload import Plan
from mawl.simulation.demand import Direction, Flow, JobDemand
from mawl.simulation.reach import reach_of


def other_cache(
    jobs: Mapping[str, JobDemand], measured: tuple[Plan, float], asked: tuple[Plan, float]
) -> tuple[dict[str, JobDemand], tuple[str, ...]]:
    """The jobs, measured as a plan on a node's bytes of memory, as of another plan or memory.

    With them, in sentences, what of them stays as it was because the model cannot tell it.

    Hits change with those of the page-cache model (:func:`~mawl.simulation.reach.reach_of`): of what was
    asked for, ``(1 - reach) * (1 - model of asked) / (1 - model of measured)`` stays in memory, at most all
    of it.  A direction of which the model cannot tell, or where it has no hits to begin with, stays.
    """
    before, after = (reach_of(*each) for each in (measured, asked))
    untold = dict.fromkeys(one.reason for one in (before, after) if one.reason)
    ratios: dict[Direction, float | None] = {
        "read": _hits(before.read_ratio, after.read_ratio),
        "write": _hits(before.write_ratio, after.write_ratio),
    }

    def reached(flow: Flow) -> Flow:
        ratio = ratios[flow.direction]
        crossing = flow.crossing_bytes
        if ratio is None or crossing >= flow.application_bytes:
            return flow
        left = max(flow.application_bytes - (flow.application_bytes - crossing) * ratio, 0.0)
        if flow.link_bytes is None:
            return replace(flow, device_bytes=left)
        behind = flow.device_bytes / crossing if crossing else 0.0
        return replace(flow, link_bytes=left, device_bytes=left * behind)

    moved = {
        name: replace(
            job, steps=tuple(replace(step, flows=tuple(map(reached, step.flows))) for step in job.steps)
        )
        for name, job in jobs.items()
    }
    remarks = [f"no job's reach changes with memory: {reason}" for reason in untold]
    for word, old, new in (
        ("read", before.read_ratio, after.read_ratio),
        ("written", before.write_ratio, after.write_ratio),
    ):
        if old is not None and new is not None and old >= 1.0 > new:
            remarks.append(f"{word} bytes keep their reach: the model has no hits on the measured memory")
    return moved, tuple(remarks)


def _hits(before: float | None, after: float | None) -> float | None:
    """How many times the hits there are; None where it cannot be told."""
    if before is None or after is None or before >= 1.0:
        return None
    return (1.0 - after) / (1.0 - before)
