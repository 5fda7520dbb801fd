"""What the kernel writes while programs go on.

Linux keeps what programs write in the page cache and writes it to the device later, so that a step does not
wait for the device until too much is dirty (docs/design/simulation.md, Write-back).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mawl.simulation.activity import Way, service_seconds
from mawl.simulation.demand import Flow, JobDemand
from mawl.spec.program_options import ROLES, Role


def written_behind(jobs: Mapping[str, JobDemand], way: Way) -> dict[str, JobDemand]:
    """The jobs of a run with a page cache, measured on ``way``, with the part that they write behind.

    Of each role it is what the steps did not wait for.  If they waited as long as the device takes, as with a
    small ``max_bytes`` of its backing device, nothing is written behind.  What is written to devices that
    other nodes share is waited for: network file systems write it when a file is closed.
    """
    ratios = {role: _behind_ratio(jobs, role, way) for role in ROLES}

    def marked(flow: Flow) -> Flow:
        return replace(flow, behind_ratio=ratios[flow.role]) if flow.direction == "write" else flow

    return {
        name: replace(
            job, steps=tuple(replace(step, flows=tuple(map(marked, step.flows))) for step in job.steps)
        )
        for name, job in jobs.items()
    }


def _behind_ratio(jobs: Mapping[str, JobDemand], role: Role, way: Way) -> float:
    """Of the role's writes through the page cache, the part that no step waited for: 0 to 1.

    Steps that only write in the role tell it; without any, all that write, less the time of their reads.
    """
    if not all(device.local for device in way.system.holders(way.kind, role)):
        return 0.0
    waits: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for step in (step for job in jobs.values() for step in job.steps):
        flows = [flow for flow in step.flows if flow.role == role and flow.device_bytes > 0.0]
        writes = [flow for flow in flows if flow.direction == "write"]
        if writes:
            reads = service_seconds(way, role, [flow for flow in flows if flow.direction == "read"])
            waited = max(step.blocked_seconds[role] - reads, 0.0)
            waits[reads == 0.0].append((waited, service_seconds(way, role, writes)))
    told = waits[True] or waits[False]
    needed = sum(seconds for _, seconds in told)
    return 1.0 - min(sum(waited for waited, _ in told) / needed, 1.0) if needed > 0.0 else 0.0
