"""The tables of a run on several nodes against those of each node's own run, from which they were merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mawl.archive.agreement.tables import RunRecords
from mawl.model.records import JobRecord, StepRecord
from mawl.store import Run
from mawl.store.layout import NODES

_OF_JOB = tuple(
    name
    for name in JobRecord.__struct_fields__
    if name not in ("job", "node", "ready_at", "started_at", "ended_at")
)
_OF_STEP = tuple(
    name for name in StepRecord.__struct_fields__ if name not in ("job", "started_at", "ended_at")
)
"""What merging leaves as it is: it names a job by its node, and moves times to the controller's clock."""


def faults(records: RunRecords, nodes: Mapping[str, Run]) -> Iterator[str]:
    """Sentences on jobs and steps that differ from those of the node that ran them.

    ``nodes`` are by their place below the run's folder.  Only nodes that ended well are asked: of others the
    folder may hold less than was merged.
    """
    for one in records.facts.node_runs:
        own = nodes.get(f"{NODES}/{one.node}")
        if own is None or one.outcome != "completed":
            continue
        jobs = {f"{one.node}.{job.job}": job for job in own.job_records()}
        merged = {job.job: job for job in records.jobs if job.node == one.node}
        if jobs.keys() != merged.keys():
            yield f"jobs of {one.node} differ from those of its own run"
        steps = own.steps_by_job()
        for name in sorted(jobs.keys() & merged.keys()):
            yield from _unlike(f"{name}: ", merged[name], jobs[name], _OF_JOB)
            ours, theirs = records.steps.get(name, []), steps.get(jobs[name].job, [])
            if len(ours) != len(theirs):
                yield f"{name}: steps has {len(ours)} rows, and its node's own run {len(theirs)}"
            for step, other in zip(ours, theirs, strict=False):
                yield from _unlike(f"{name}, step {step.number}: ", step, other, _OF_STEP)


def _unlike(
    where: str, merged: JobRecord | StepRecord, own: JobRecord | StepRecord, fields: tuple[str, ...]
) -> Iterator[str]:
    for field in fields:
        if getattr(merged, field) != getattr(own, field):
            yield f"{where}its {field} differs from that in the node's own run"
