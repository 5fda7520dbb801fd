"""The SAS-style logs of a run's jobs, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.errors import UsageError
from mawl.formats.saslog_write import job_log
from mawl.plan.derived import derived_programs
from mawl.store import Run


def render(run: Run, jobs: Sequence[str] = ()) -> str:
    """The logs of all jobs that started, or of the named ones, in the order of their records.

    Raises :class:`~mawl.errors.UsageError` for a name that is no job of the run.
    """
    steps = run.steps_by_job()
    records = run.job_records()
    unknown = sorted(set(jobs) - {job.job for job in records})
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} is no job of run {run.facts.run_id}",
            cure=f"choose from: {', '.join(job.job for job in records[:10])}",
        )
    derived = derived_programs(run.path)
    platforms = {node.name: node.kernel for node in run.facts.nodes}
    return "\n".join(
        job_log(
            job,
            steps.get(job.job, []),
            platform=platforms.get(job.node),
            program=derived.get(job.program),
        )
        for job in records
        if (job.job in jobs if jobs else job.outcome != "not_started")
    )
