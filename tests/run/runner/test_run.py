"""How a run ends: its outcome, and what it lets go of first.

The output of jobs is bounded while they print.

What a job's process is told: the very job of the plan, with its replica, seed and inputs.

A run that would not fit is refused, whatever sets the bound.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure import space
from mawl.measure.devices import Mount
from mawl.measure.machine import read_machine
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import needs
from mawl.plan.workload import load_workload, make_plan
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.runner import run as running
from mawl.run.runner.facts import check_space
from mawl.run.runner.job import JobLogs, assignment
from mawl.run.runner.request import RunRequest
from mawl.run.runner.restrict import Restriction
from tests.fakes.launcher import FakeLauncher
from tests.fakes.loop_bench import Bench


@pytest.mark.parametrize("where", ["launcher", "job"])
def test_a_limit_of_open_files_that_ends_a_run_is_its_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def too_many(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    def launcher(*_: object) -> FakeLauncher:
        if where == "launcher":
            too_many()
        return FakeLauncher(on_start=too_many)

    monkeypatch.setattr(running, "_launcher", launcher)
    bench = Bench(tmp_path, FakeLauncher())
    request = msgspec.structs.replace(bench.loop.request, folder=tmp_path / "own", run_id="r2")
    volumes = Volumes({role: [tmp_path / "own roles" / role] for role in ROLES})
    volumes.ensure()
    with pytest.raises((OSError, UnsuitableMachineError), match="oo many open files"):
        running.run_plan(request, volumes, bench.watcher)
    kept = open_run(tmp_path / "own")
    assert kept.facts.outcome == "failed" and kept.facts.ended_at is not None
    assert "oo many open files" in (kept.facts.outcome_reason or "")
    assert len(kept.job_records()) == 5
    assert not list(tmp_path.glob("own roles/*/mawl-run-*")), "no directory is left under the roles"


def test_what_a_container_may_use_is_recorded_as_what_held_the_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_many(*_: object) -> FakeLauncher:
        raise OSError(errno.EMFILE, "Too many open files")

    limits = {"cpu_quota_cores": 0.5, "memory_limit_bytes": 2**28, "memory_bytes": 2**34}
    machine = msgspec.structs.replace(read_machine(), **limits)
    monkeypatch.setattr(running, "_launcher", too_many)
    monkeypatch.setattr(running, "read_machine", lambda: machine)
    bench = Bench(tmp_path, FakeLauncher())
    request = msgspec.structs.replace(bench.loop.request, folder=tmp_path / "own", run_id="r2")
    volumes = Volumes({role: [tmp_path / "own roles" / role] for role in ROLES})
    volumes.ensure()
    with pytest.raises((OSError, UnsuitableMachineError)):
        running.run_plan(request, volumes, bench.watcher)
    (node,) = open_run(tmp_path / "own").facts.nodes
    assert (node.cpu_quota, node.granted_cpus, node.memory_limit_bytes) == (0.5, 0.5, 2**28)


def test_control_groups_go_before_the_folder_says_that_the_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`mawl clean` takes the groups of a run whose lock nobody holds, and says that the run left them."""
    ended: list[str] = []

    class Noted(Restriction):
        def close(self) -> None:
            ended.append("groups")
            super().close()

    def finish(writer: RunWriter, final: RunFacts) -> None:
        ended.append("folder")
        finished(writer, final)

    finished = RunWriter.finish
    monkeypatch.setattr(running, "_launcher", lambda *_: FakeLauncher())
    monkeypatch.setattr(running, "Restriction", Noted)
    monkeypatch.setattr(RunWriter, "finish", finish)
    bench = Bench(tmp_path, FakeLauncher())
    request = msgspec.structs.replace(bench.loop.request, folder=tmp_path / "own", run_id="r2")
    volumes = Volumes({role: [tmp_path / "own roles" / role] for role in ROLES})
    volumes.ensure()
    assert running.run_plan(request, volumes, bench.watcher).outcome == "completed"
    assert ended[:2] == ["groups", "folder"]


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


def test_a_run_beyond_the_ephemeral_storage_of_a_pod_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, where = load_workload("nano")
    plan = make_plan(spec, where=where, scale=1.0)
    needed = needs(plan)
    volumes = Volumes({role: [tmp_path / role] for role in ("data", "work", "util")})
    layer = Mount(device="0:50", mount_point="/", file_system="overlay", source="overlay", options="rw")
    monkeypatch.setattr(space, "read_mounts", lambda proc: [layer])
    # What results and missing inputs need is rounded role by role, hence the spare byte.
    enough = sum(needed.space_bytes.values()) + 1
    monkeypatch.setenv(space.EPHEMERAL_VARIABLE, str(enough))
    check_space(plan, needed, volumes, "rotation")
    monkeypatch.setenv(space.EPHEMERAL_VARIABLE, str(enough // 2))
    with pytest.raises(UnsuitableMachineError) as refused:
        check_space(plan, needed, volumes, "rotation")
    assert "are free of the ephemeral storage of the pod" in str(refused.value)
    assert "raise limits.ephemeral-storage" in str(refused.value)
