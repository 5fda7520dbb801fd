"""What a run says of other runs on the machine and in its directories before it starts."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import msgspec
import pytest

from mawl.base.removal import MARK
from mawl.records.store import open_run
from mawl.records.volumes import Volumes, claim_directory
from mawl.run.runner import preparation
from mawl.run.runner import run as running
from mawl.run.runner.preparation import other_runs
from tests.fakes.launcher import FakeLauncher
from tests.fakes.loop_bench import Bench

USER = pwd.getpwuid(os.geteuid()).pw_name
LOAD = "; their load is in this run's figures"


@pytest.fixture
def volumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Volumes:
    """Three places, on a machine where nothing of mawl is alive."""
    monkeypatch.setattr(preparation, "live_runs", dict)
    made = Volumes({"data": [tmp_path / "tables"], "work": [tmp_path / "big"], "util": [tmp_path / "fast"]})
    made.ensure()
    return made


def test_a_run_that_is_alone_says_nothing(volumes: Volumes, tmp_path: Path) -> None:
    _, lock = claim_directory(tmp_path / "big", "killed", "work")
    os.close(lock)
    for name in ("mawl-run-link", "mawl-run-other", "mawl-run-none", "mawl-run-lie"):
        (tmp_path / "big" / name).mkdir()
    (tmp_path / "big" / "mawl-run-link" / MARK).symlink_to("/etc/passwd")
    (tmp_path / "big" / "mawl-run-other" / MARK).mkdir()
    (tmp_path / "big" / "mawl-run-lie" / MARK).write_text("made by mawl: run lie as work\n")
    assert other_runs("own", volumes) is None


def test_a_run_that_lives_or_holds_a_directory_is_named(
    volumes: Volumes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = os.getpid()
    alive = {"one": [pid, pid + 1], "own": [1], "own-node2": [1], "bad\x1b": [2**22 + 1]}
    monkeypatch.setattr(preparation, "live_runs", lambda: alive)
    claims = [("big", "one"), ("fast", "one"), ("fast", "two"), ("fast", "own-node2")]
    locks = [claim_directory(tmp_path / place, run, "util")[1] for place, run in claims]
    said = other_runs("own", volumes)
    for lock in locks:
        os.close(lock)
    assert said == (
        f"other runs of mawl are under way: one (process {pid}, user {USER}, also in {tmp_path / 'big'}, "
        f"also in {tmp_path / 'fast'}); bad\\x1b (process {2**22 + 1}, its user is not known); "
        f"two (its process is not seen from here, user {USER}, also in {tmp_path / 'fast'}){LOAD}"
    )


def test_the_warning_is_on_the_screen_and_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, volumes: Volumes
) -> None:
    monkeypatch.setattr(preparation, "live_runs", lambda: {"other": [os.getpid()], "r2-node1": [1]})
    monkeypatch.setattr(running, "_launcher", lambda *_: FakeLauncher())
    bench = Bench(tmp_path, FakeLauncher())
    request = msgspec.structs.replace(
        bench.loop.request, folder=tmp_path / "own", run_id="r2-node2", node="node2"
    )
    running.carry_out(request, volumes, bench.watcher)
    said = f"other runs of mawl are under way: other (process {os.getpid()}, user {USER}){LOAD}"
    assert [text for text in bench.watcher.notices if text.startswith("warning: ")] == [f"warning: {said}"]
    assert said in open_run(tmp_path / "own").facts.remarks
