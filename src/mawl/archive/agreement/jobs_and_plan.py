"""Jobs against the plan and the facts of the run."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.archive.agreement.tables import RunRecords
from mawl.model.run import PlannedJob


def faults(records: RunRecords) -> Iterator[str]:
    """Sentences on jobs that are not those of the plan, and on facts that count them otherwise."""
    facts, jobs = records.facts, records.jobs
    if len(records.by_name) < len(jobs):
        yield "jobs has two rows of one job"
    planned = {job.job: job for job in facts.planned_jobs}
    if len(planned) < len(facts.planned_jobs):
        yield "run.json plans a job twice"
    if set(planned) != set(records.by_name):
        odd = sorted(set(planned) ^ set(records.by_name))
        yield f"jobs and the planned jobs of run.json are not the same: {odd[0]} is only in one of them"
    for name in sorted(set(planned) & set(records.by_name)):
        for field in PlannedJob.__struct_fields__:
            if getattr(planned[name], field) != getattr(records.by_name[name], field):
                yield f"{name}: its {field} is another in jobs than in the plan of run.json"
    yield from _counts(records)
    well = len(records.finished) == len(jobs)
    if (facts.outcome == "completed") != well:
        yield f"run.json says {facts.outcome}, and {len(records.finished)} of {len(jobs)} jobs finished"
    for job in records.finished:
        if job.verified is False or job.signal is not None or job.exit_code not in (0, None):
            yield f"{job.job} is called finished, and its exit code, signal or answer says otherwise"


def _counts(records: RunRecords) -> Iterator[str]:
    facts, workload = records.facts, records.facts.workload
    if workload.jobs != len(facts.planned_jobs):
        yield f"run.json counts {workload.jobs} jobs and plans {len(facts.planned_jobs)}"
    sessions = len({(job.node, job.session) for job in facts.planned_jobs})
    if workload.sessions != sessions:
        yield f"run.json counts {workload.sessions} sessions and plans {sessions}"
    nodes = {node.name for node in facts.nodes}
    strange = next((job for job in records.jobs if job.node not in nodes), None)
    if strange is not None:
        yield f"{strange.job} ran on {strange.node}, which is no node of run.json"
