"""How a run ends: its outcome, and what it lets go of first."""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.machine import read_machine
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.runner import run as running
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
        running.carry_out(request, volumes, bench.watcher)
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
        running.carry_out(request, volumes, bench.watcher)
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
    assert running.carry_out(request, volumes, bench.watcher).outcome == "completed"
    assert ended[:2] == ["groups", "folder"]
