"""The input tables in the page cache before a run.

What a run says of other runs on the machine and in its directories before it starts.
"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.base.removal import MARK
from mawl.measure.page_cache import Residency
from mawl.plan.workload import load_workload, make_plan
from mawl.records.spec.program_options import CacheMode
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import open_run
from mawl.records.volumes import Volumes, claim_directory
from mawl.run.runner import preparation
from mawl.run.runner import run as running
from mawl.run.runner.preparation import MOST_REMARKS, deny_cache, other_runs, prepare_inputs, require_uncached
from mawl.run.runner.request import RunRequest
from tests.fakes.launcher import FakeLauncher
from tests.fakes.loop_bench import Bench

SIZE = 2**20


def request(tmp_path: Path, cache: CacheMode | None = None) -> RunRequest:
    """A request with two input tables, of which one is named twice."""
    spec, where = load_workload("nano")
    tables = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "part").write_bytes(bytes(SIZE))
        tables[name, 1.0, 0] = tmp_path / name
    tables["b", 1.0, 1] = tmp_path / "b"
    return RunRequest(
        run_id="r1",
        folder=tmp_path / "run",
        plan=make_plan(spec, where=where, scale=0.0005),
        inputs=tables,
        spec=RunSpec(cache=cache),
    )


def test_left_alone_they_are_only_looked_at(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path))
    assert (facts.mode, facts.input_bytes, facts.resident_bytes) == (None, 2 * SIZE, 2 * SIZE)
    assert facts.remarks == [] and not facts.machine_wide


def test_cold_inputs_are_gone_or_it_is_said_why_not(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path, "cold"))
    assert facts.mode == "cold"
    if facts.resident_bytes:
        assert "a file system that is memory (tmpfs)" in facts.remarks[0]
    else:
        assert facts.remarks == []
    warm = prepare_inputs(request(tmp_path, "warm"))
    assert (warm.resident_bytes, warm.remarks) == (2 * SIZE, [])


@pytest.mark.parametrize(
    ("mode", "changes", "sentence"),
    [
        ("warm", {"resident_bytes": SIZE}, "only 1.05 MB of 2.10 MB of the inputs stayed in memory"),
        (
            "cold",
            {"resident_bytes": 4096, "dirty_bytes": 4096},
            "dropped: 4.10 kB of them are not",
        ),
        ("cold", {"resident_bytes": 4096, "dirty_bytes": 0}, "other processes have them mapped"),
        ("cold", {"resident_bytes": None, "reason": "not told"}, None),
    ],
)
def test_what_did_not_work_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: CacheMode,
    changes: dict[str, int | None],
    sentence: str | None,
) -> None:
    found = msgspec.structs.replace(Residency(bytes=2 * SIZE, resident_bytes=0), **changes)
    monkeypatch.setattr(preparation, "residency", lambda files: found)
    monkeypatch.setattr(preparation, "read_mounts", list)
    facts = prepare_inputs(request(tmp_path, mode))
    assert [sentence in remark for remark in facts.remarks] == ([True] if sentence else [])  # type: ignore[operator]
    assert facts.reason == found.reason


def test_long_lists_of_remarks_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "drop", lambda files: [f"file {number}" for number in range(20)])
    monkeypatch.setattr(preparation, "residency", lambda files: Residency(bytes=1, resident_bytes=0))
    remarks = prepare_inputs(request(tmp_path, "cold")).remarks
    assert len(remarks) == MOST_REMARKS + 1 and remarks[-1] == "and 15 more files"


def test_a_run_without_page_cache_needs_the_library_and_places_that_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes = Volumes({"data": [tmp_path], "work": [tmp_path], "util": [tmp_path / "u"]})
    (tmp_path / "u").mkdir()
    with pytest.raises(UnsuitableMachineError, match="counting library: no C compiler; install a C compiler"):
        require_uncached(volumes.directories, "no C compiler")
    monkeypatch.setattr(preparation, "keeps", lambda place: "tmpfs keeps all" if place.name == "u" else None)
    with pytest.raises(
        UnsuitableMachineError, match=r"/u: --cache none has no effect on the util directory: tmpfs"
    ):
        require_uncached(volumes.directories, None)
    monkeypatch.setattr(preparation, "keeps", lambda place: None)
    require_uncached(volumes.directories, None)


def test_without_page_cache_the_inputs_are_cold(tmp_path: Path) -> None:
    facts = prepare_inputs(request(tmp_path, "none"))
    assert facts.mode == "none" and (facts.resident_bytes == 0 or facts.remarks)


def test_a_command_without_a_role_has_no_cache_to_be_denied(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without a directory of a role"):
        deny_cache({"data": [tmp_path / "absent"], "work": []})


def test_files_of_a_command_are_dropped_and_what_stays_is_remarked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "require_uncached", lambda roles, no_library: None)
    monkeypatch.setattr(preparation, "drop", lambda files: [f"{path}: not dropped" for path in files])
    monkeypatch.setattr(
        preparation, "residency", lambda files: Residency(bytes=len(files) * SIZE, resident_bytes=SIZE)
    )
    for number in range(MOST_REMARKS + 2):
        (tmp_path / str(number)).write_bytes(b"")
    facts = deny_cache({"work": [tmp_path], "util": [tmp_path, tmp_path / "absent"]})
    assert (facts.mode, facts.input_bytes) == ("none", (MOST_REMARKS + 2) * SIZE)
    assert facts.remarks[MOST_REMARKS] == "and 2 more files"
    assert "could not be dropped" in facts.remarks[-1]


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
    running.run_plan(request, volumes, bench.watcher)
    said = f"other runs of mawl are under way: other (process {os.getpid()}, user {USER}){LOAD}"
    assert [text for text in bench.watcher.notices if text.startswith("warning: ")] == [f"warning: {said}"]
    assert said in open_run(tmp_path / "own").facts.remarks
