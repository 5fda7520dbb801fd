"""What the kernel writes while programs go on.

Linux keeps what programs write in the page cache and writes it to the device later, so that a step does not
wait for the device until too much is dirty (docs/design/simulation.md, Write-back).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.activity import Way, service_seconds
from mawl.simulation.demand import Flow, JobDemand

LEAST_BEHIND_RATIO = 2 / 3
"""Where steps waited for more of what they write, the kernel held them back, as with a small ``max_bytes`` of
the backing device.  Runs on beds with 8 MiB of it showed 0 to 0.58, others 0.72 to 1."""


def with_write_behind(jobs: Mapping[str, JobDemand], way: Way) -> dict[str, JobDemand]:
    """The jobs of a run with a page cache, measured on ``way``, with the part that they write behind.

    Of each role it is what the steps did not wait for.  If they waited for most of it, nothing is written
    behind: the kernel held them back.  Nor is what goes to devices that other nodes share, since network file
    systems write a file when it is closed.
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
    """The part of the role's writes through the page cache that no step waited for: 0 to 1.

    Steps that do not read in the role tell it.  If there are none, all steps that write do, less the time of
    their reads.  Direct writes are taken off like reads.  Without any bytes at the device nothing was waited
    for: 1.  Below ``LEAST_BEHIND_RATIO``, and if no step's waits are known, it is 0.
    """
    steps = [step for job in jobs.values() for step in job.steps if step.waits_known]
    if not steps or not all(device.local for device in way.system.holders(way.kind, role)):
        return 0.0
    told: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for step in steps:
        flows = [flow for flow in step.flows if flow.role == role]
        writes = [flow for flow in flows if flow.direction == "write"]
        cached = [replace(flow, device_bytes=flow.cached_bytes) for flow in writes]
        needed = service_seconds(way, role, cached)
        if needed > 0.0:
            awaited = service_seconds(way, role, flows) - needed
            reads = any(flow.direction == "read" and flow.device_bytes > 0.0 for flow in flows)
            told[reads].append((max(step.blocked_seconds[role] - awaited, 0.0), needed))
    found = told[False] or told[True]
    if not found:
        return 1.0
    ratio = 1.0 - sum(waited for waited, _ in found) / sum(needed for _, needed in found)
    return ratio if ratio >= LEAST_BEHIND_RATIO else 0.0
