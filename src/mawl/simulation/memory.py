"""Which reads reach the devices when nodes have other memory: the page cache against the working set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mawl.model.run import RunFacts
from mawl.simulation.demand import Flow, JobDemand


def other_cache(
    jobs: Mapping[str, JobDemand], facts: RunFacts, summary: Mapping[str, Any], memory: float
) -> dict[str, JobDemand] | None:
    """The jobs on nodes with ``memory`` bytes, by the page cache's size against the working set.

    After the page cache of WRENCH (Do et al.): what fits in memory that no job holds is served from it.
    Hits are taken in proportion to the part of the working set that fits, so that reads reach the
    devices with 1 - (1 - reach) * min(new, set) / min(old, set).  The working set is the input tables
    and the most that work and util held.  None where one of these figures was not measured.
    """
    total = sum(node.memory_bytes or 0 for node in facts.machines())
    inputs = facts.cache.input_bytes if facts.cache is not None else None
    held = [summary["roles"][role]["peak_used_bytes"] for role in ("work", "util")]
    concurrent = summary["jobs"]["mean_concurrent"]
    if not total or inputs is None or None in held or concurrent is None:
        return None
    taken = concurrent * sum(job.memory_bytes for job in jobs.values()) / len(jobs)
    working = inputs + sum(held)
    old, new = (max(size - taken, 0.0) for size in (total, memory))
    before, after = min(old, working), min(new, working)
    if not working or not before:
        return None
    ratio = after / before

    def reached(flow: Flow) -> Flow:
        if flow.direction == "write" or flow.device_bytes >= flow.application_bytes:
            return flow
        hits = (flow.application_bytes - flow.device_bytes) * ratio
        return replace(flow, device_bytes=max(flow.application_bytes - hits, 0.0))

    return {
        name: replace(
            job, steps=tuple(replace(step, flows=tuple(map(reached, step.flows))) for step in job.steps)
        )
        for name, job in jobs.items()
    }
