"""What a job's process is told: its program, options, inputs and its own directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.model.messages import Assignment
from mawl.model.options import Role
from mawl.plan.workload import JobPlan
from mawl.runner.request import RunRequest


def assignment(
    request: RunRequest, job: JobPlan, places: Mapping[Role, Sequence[Path]], counters: str | None = None
) -> Assignment:
    """The assignment of one job of a run; ``places`` are its directories on each volume of a role."""
    return Assignment(
        run_id=request.run_id,
        job=job.job,
        program=job.program,
        scale=job.scale,
        seed=request.plan.seed,
        replica=job.replica,
        options=job.options,
        inputs={
            table.name: str(request.inputs[table.name, job.scale, job.replica])
            for table in request.catalogue[job.program].inputs
        },
        results=str(places["data"][0]),
        work=[str(place) for place in places["work"]],
        util=[str(place) for place in places["util"]],
        log=str((request.folder / "logs" / f"{job.job}.log").absolute()),
        counters=counters,
    )
