"""What a job's process is told: the very job of the plan, with its replica, seed and inputs."""

from __future__ import annotations

from pathlib import Path

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import load_workload, make_plan
from mawl.runner.assign import assignment
from mawl.runner.request import RunRequest
from mawl.spec.program_options import ROLES


def test_each_job_reads_its_own_replica_of_its_inputs(tmp_path: Path) -> None:
    spec, where = load_workload("mixed20")
    plan = make_plan(spec, where=where, catalogue=CATALOGUE, scale=0.0005)
    jobs = [job for job in plan.jobs() if CATALOGUE[job.program].inputs]
    tables = {
        (table.name, job.scale, job.replica): tmp_path / f"{table.name}-{job.replica}"
        for job in jobs
        for table in CATALOGUE[job.program].inputs
    }
    request = RunRequest(run_id="r1", folder=tmp_path / "run", plan=plan, catalogue=CATALOGUE, inputs=tables)
    places = {role: [tmp_path / role / "mawl-run-r1" / "job"] for role in ROLES}
    made = {job.job: assignment(request, job, places, {}) for job in jobs}
    assert len({one.replica for one in made.values()}) > 1
    for job in jobs:
        one = made[job.job]
        assert (one.replica, one.scale, one.seed) == (job.replica, job.scale, plan.seed)
        assert all(path.endswith(f"-{job.replica}") for path in one.inputs.values())
