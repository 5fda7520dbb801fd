"""Directories under the roles: marks, locks, and nothing removed that is not ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.base.removal import MARK
from mawl.records.volumes import Volumes, choose, remove_leftover


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    made = Volumes(
        {"data": [tmp_path / "d"], "work": [tmp_path / "w1", tmp_path / "w2"], "util": [tmp_path / "u"]}
    )
    made.ensure()
    return made


def test_a_run_leaves_the_roles_as_they_were(volumes: Volumes, tmp_path: Path) -> None:
    (tmp_path / "w1" / "precious").write_text("mine")
    volumes.claim("r1")
    places = volumes.make_job("j1")
    assert [len(places[role]) for role in ("work", "util")] == [2, 1]
    (places["work"][0] / "part").write_bytes(b"x" * 10)
    volumes.remove_job("j1")
    assert not places["work"][0].exists()
    volumes.release()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "d",
        "u",
        "w1",
        "w1/precious",
        "w2",
    ]


def test_who_wants_to_sees_a_job_before_it_is_removed(volumes: Volumes) -> None:
    volumes.claim("r1")
    (place,) = volumes.make_job("j1")["util"]
    heard: list[tuple[str, bool]] = []
    volumes.before_removal = lambda job: heard.append((job, place.exists()))
    volumes.remove_job("j1")
    assert heard == [("j1", True)] and not place.exists()


@pytest.mark.parametrize("keeps", [True, False])
def test_results_under_data_stay_after_the_run_if_it_keeps_them(volumes: Volumes, keeps: bool) -> None:
    volumes.claim("r1", keeps_results=keeps)
    (run,) = volumes.run_directories("data")
    for job in ("j1", "j2"):
        (run / job).mkdir()
    volumes.remove_job("j1", keeps_results=keeps)
    assert [(run / job).is_dir() for job in ("j1", "j2")] == [keeps, True]
    volumes.release()
    assert run.is_dir() == keeps
    assert volumes.leftovers() == []


def test_a_run_removes_nothing_that_it_did_not_claim(volumes: Volumes) -> None:
    volumes.claim("r1")
    (result,) = (run / "j1" for run in volumes.run_directories("data"))
    result.mkdir()
    other = Volumes(volumes.directories)
    with pytest.raises(UnsuitableMachineError, match="another run of this id"):
        other.claim("r1", keeps_results=False)
    other.release()
    assert result.is_dir()
    volumes.release()


def test_directories_are_private(volumes: Volumes) -> None:
    volumes.claim("r1")
    places = volumes.make_job("j")
    for place in [*places["work"], *volumes.run_directories("util")]:
        assert place.stat().st_mode & 0o777 == 0o700
    volumes.release()


def test_a_living_runs_directories_are_no_leftovers_and_a_dead_ones_are(tmp_path: Path) -> None:
    roles = {"data": [tmp_path / "d"], "work": [tmp_path / "w"], "util": [tmp_path / "u"]}
    code = (
        "import sys; from pathlib import Path; from mawl.records.volumes import Volumes\n"
        "v = Volumes({r: [Path(p)] for r, p in zip(('data', 'work', 'util'), sys.argv[1:])})\n"
        "v.ensure(); v.claim('r1'); v.make_job('j1'); print('ready', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, *(str(paths[0]) for paths in roles.values())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    looker = Volumes(roles)  # type: ignore[arg-type]
    assert looker.leftovers() == []
    child.kill()
    child.communicate()
    found = looker.leftovers()
    assert [path.parent.name for path in found] == ["d", "w", "u"]
    for path in found:
        remove_leftover(path)
    assert looker.leftovers() == []


def test_a_run_killed_before_its_mark_leaves_an_empty_directory_that_is_found(tmp_path: Path) -> None:
    looker = Volumes({"data": [tmp_path / "d"], "work": [tmp_path / "w"], "util": [tmp_path / "u"]})
    looker.ensure()
    (tmp_path / "w" / "mawl-run-r1").mkdir()
    (tmp_path / "w" / "mawl-run-r2").mkdir()
    (tmp_path / "w" / "mawl-run-r2" / "precious").touch()
    (tmp_path / "w" / ".mawl-new-1-mawl-run-r3").mkdir()
    (tmp_path / "w" / "mawl-run-file").touch()
    (tmp_path / "w" / "mawl-run-link").symlink_to(tmp_path)
    assert looker.leftovers() == [
        tmp_path / "w" / "mawl-run-r1",
        tmp_path / "w" / ".mawl-new-1-mawl-run-r3",
    ]
    remove_leftover(tmp_path / "w" / "mawl-run-r1")
    assert remove_leftover(tmp_path / "w" / "mawl-run-r2") is None, "no mark of mawl"
    assert (tmp_path / "w" / "mawl-run-r2" / "precious").exists()


def test_a_directory_of_that_name_made_by_someone_else_is_refused(volumes: Volumes, tmp_path: Path) -> None:
    (tmp_path / "d" / "mawl-inputs").mkdir()
    (tmp_path / "d" / "mawl-inputs" / "theirs").touch()
    with pytest.raises(UnsuitableMachineError, match=rf"was not made by mawl: it has no {MARK} file"):
        volumes.inputs()


def test_an_empty_directory_that_a_kill_left_gives_way(volumes: Volumes, tmp_path: Path) -> None:
    (tmp_path / "d" / "mawl-inputs").mkdir()
    assert (volumes.inputs()[0] / MARK).is_file()
    (tmp_path / "w1" / "mawl-run-r1").mkdir()
    volumes.claim("r1")
    assert volumes.leftovers() == []
    volumes.release()


def test_a_role_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    bad = Volumes({"data": [tmp_path], "work": [tmp_path / "file"], "util": [tmp_path]})
    with pytest.raises(UnsuitableMachineError, match=r"the work directory cannot be written: .*--work"):
        bad.ensure()


def test_a_path_belongs_to_its_role(volumes: Volumes, tmp_path: Path) -> None:
    assert volumes.role_of(tmp_path / "w2" / "x" / "y") == "work"
    assert volumes.role_of(tmp_path / "w2x") is None


def test_rotation_gives_each_volume_its_turn() -> None:
    assert [choose("rotation", ["a", "b", "c"], turn) for turn in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_by_free_space_files_go_in_proportion_also_of_jobs_that_choose_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    free = {"a": 600, "b": 300, "c": 100, "full": 0}
    monkeypatch.setattr("mawl.records.volumes._free_bytes", lambda directory: free[directory])
    chosen = [choose("free-space", list(free), turn) for turn in range(1000)]
    assert [chosen.count(volume) for volume in range(4)] == pytest.approx([600, 300, 100, 0], abs=3)
    assert chosen == [choose("free-space", list(free), turn) for turn in range(1000)], "the same again"
    at_once = chosen[:10]
    assert [at_once.count(volume) for volume in range(4)] == pytest.approx([6, 3, 1, 0], abs=1)


def test_where_all_volumes_are_full_the_rotation_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.records.volumes._free_bytes", lambda directory: 0)
    assert [choose("free-space", ["a", "b"], turn) for turn in range(4)] == [0, 1, 0, 1]


def test_one_volume_that_refuses_costs_only_those_that_need_it(volumes: Volumes, tmp_path: Path) -> None:
    volumes.claim("r1")
    gone, other = volumes.run_directories("work")
    gone.rename(tmp_path / "away")
    assert volumes.make_job("j1")["work"] == [gone / "j1", other / "j1"]
    assert not (gone / "j1").exists()
    other.rename(tmp_path / "away too")
    with pytest.raises(FileNotFoundError, match="j2"):
        volumes.make_job("j2")
    (tmp_path / "away").rename(gone)
    (tmp_path / "away too").rename(other)
    volumes.release()
