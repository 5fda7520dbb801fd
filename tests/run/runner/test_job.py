"""The output of jobs is bounded while they print.

What a job's process is told: the very job of the plan, with its replica, seed and inputs.
"""

from __future__ import annotations

import os
from pathlib import Path

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import load_workload, make_plan
from mawl.records.spec.program_options import ROLES
from mawl.run.runner.job import JobLogs, assignment
from mawl.run.runner.request import RunRequest


def test_each_job_reads_its_own_replica_of_its_inputs(tmp_path: Path) -> None:
    spec, where = load_workload("mixed20")
    plan = make_plan(spec, where=where, scale=0.0005)
    jobs = [job for job in plan.jobs() if CATALOGUE[job.program].inputs]
    tables = {
        (table.name, job.scale, job.replica): tmp_path / f"{table.name}-{job.replica}"
        for job in jobs
        for table in CATALOGUE[job.program].inputs
    }
    request = RunRequest(run_id="r1", folder=tmp_path / "run", plan=plan, inputs=tables)
    places = {role: [tmp_path / role / "mawl-run-r1" / "job"] for role in ROLES}
    made = {job.job: assignment(request, job, places, {}) for job in jobs}
    assert len({one.replica for one in made.values()}) > 1
    for job in jobs:
        one = made[job.job]
        assert (one.replica, one.scale, one.seed) == (job.replica, job.scale, plan.seed)
        assert all(path.endswith(f"-{job.replica}") for path in one.inputs.values())


def test_a_log_that_grew_beyond_the_bound_is_cut_and_its_writer_goes_on(tmp_path: Path) -> None:
    logs = JobLogs(tmp_path, largest_bytes=4 * 2**20)
    loud, quiet = tmp_path / "a.1.loud.log", tmp_path / "a.2.quiet.log"
    quiet.write_text("done\n")
    with loud.open("ab", buffering=0) as file:
        for _ in range(3):
            file.write(b"x" * 3 * 2**20)
            logs.look()
        file.write(b"the last line\n")
    content = loud.read_bytes()
    assert len(content) < 6 * 2**20
    assert content.startswith(b"x" * 2 * 2**20)
    assert b"[mawl: this output passed 4 MiB; here a part of it was left out]" in content
    assert content.endswith(b"the last line\n")
    assert quiet.read_text() == "done\n"
    assert logs.remarks() == ["a part was left out of logs that passed 4 MiB: a.1.loud.log"]


def test_what_is_no_file_of_a_job_is_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * 100)
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "linked.log").symlink_to(outside)
    os.mkfifo(folder / "pipe.log")
    logs = JobLogs(folder, largest_bytes=10)
    logs.look()
    assert logs.remarks() == []
    JobLogs(tmp_path / "gone", largest_bytes=10).look()
    assert outside.stat().st_size == 100
