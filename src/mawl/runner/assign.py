"""What a job's process is told: its program, options, inputs and its own directories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.errors import MawlError
from mawl.model.messages import Assignment
from mawl.model.records import JobRecord
from mawl.plan.workload import JobPlan
from mawl.programs.failures import not_made_sentence
from mawl.runner.request import RunRequest
from mawl.spec.program_options import Role
from mawl.volumes import Volumes, choose


def assignment(
    request: RunRequest,
    job: JobPlan,
    places: Mapping[Role, Sequence[Path]],
    turns: Mapping[Role, int],
    counters: str | None = None,
) -> Assignment:
    """The assignment of one job of a run; ``places`` are its directories on each volume of a role.

    Its results lie on one volume of data: ``turns`` say where the job begins.
    """
    results = choose(
        request.spec.volume_order, [place.parent for place in places["data"]], turns.get("data", 0)
    )
    return Assignment(
        run_id=request.run_id,
        job=job.job,
        program=job.program,
        entry=job.entry,
        derived=None if job.derived is None else job.derived.job,
        core_speed=request.core_speed,
        scale=job.scale,
        seed=request.plan.seed,
        replica=job.replica,
        options=job.options,
        inputs={
            table.name: str(request.inputs[table.name, job.scale, job.replica])
            for table in request.catalogue[job.program].inputs
        },
        results=str(places["data"][results]),
        work=[str(place) for place in places["work"]],
        util=[str(place) for place in places["util"]],
        log=str((request.folder / "logs" / f"{job.job}.log").absolute()),
        volume_order=request.spec.volume_order,
        turns=dict(turns),
        counters=counters,
    )


def without_directories(volumes: Volumes, record: JobRecord) -> JobRecord:
    """Remove the directories of a job that ended; returns its record, which names one that was gone before.

    A program whose files vanish fails in one of many ways, and its own message misleads.  One that ends
    well has not used the storage that the run is to measure: it failed, too.
    """
    gone = None
    if record.outcome in ("finished", "failed") and (record.exit_code, record.signal) != (None, None):
        gone = _vanished(volumes)
    volumes.remove_job(record.job)
    if gone is None:
        return record
    role, place = gone
    reason = (
        f"{place}: this {role} directory of the run vanished while the job ran; "
        "leave it in place until the run has ended"
    )
    return msgspec.structs.replace(record, outcome="failed", reason=reason)


def _vanished(volumes: Volumes) -> tuple[Role, Path] | None:
    """The role and directory of the run that somebody else removed or unmounted."""
    roles: tuple[Role, ...] = ("work", "util")
    return next(
        ((role, run) for role in roles for run in volumes.run_directories(role) if not run.is_dir()), None
    )


def no_place(volumes: Volumes, error: OSError | MawlError) -> str:
    """The sentence for a job whose directories or counters cannot be made."""
    if isinstance(error, MawlError):
        return str(error)
    role = (volumes.role_of(error.filename) if error.filename else None) or "work"
    return not_made_sentence(error, role)
