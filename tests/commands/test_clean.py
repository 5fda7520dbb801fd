"""`mawl clean`: what a dead run left goes, whatever the run's folder says of its end."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Collection
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from mawl.base.removal import MARK
from mawl.commands import clean
from mawl.commands.main import main
from mawl.commands.qualify import cleaning
from mawl.records.spec.program_options import ROLES
from mawl.records.store.facts import write_facts
from mawl.records.store.files import try_lock
from mawl.records.volumes import Volumes, claim_directory
from tests.fakes.command_line import Verbs
from tests.fakes.stored_run import facts


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def died(directory: Path, monkeypatch: pytest.MonkeyPatch, **changes: object) -> list[Path]:
    """A dead run's tables under a role that only its folder names, its counters and its control group."""
    made = facts(roles={"data": [], "work": [str(directory / "work")], "util": []}, **changes)
    folder, group = directory / "runs" / made.run_id, directory / "groups" / made.run_id
    for place in (folder, group, directory / "work"):
        place.mkdir(parents=True)
    write_facts(folder, made)
    left = []
    for place in (directory / "work", folder):
        claimed, lock = claim_directory(place, made.run_id, "work" if place.name == "work" else "counters")
        os.close(lock)
        left.append(claimed)

    def groups(run_ids: Collection[str]) -> list[Path]:
        """Stands in for the kernel's: needs no root."""
        return [group] if made.run_id in run_ids else []

    monkeypatch.setattr(clean, "leftover_groups", groups)
    monkeypatch.chdir(directory)
    return [*left, group]


@pytest.mark.parametrize("outcome", ["running", "interrupted", "completed", "failed", "aborted"])
def test_what_a_dead_run_left_goes_whatever_its_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: str
) -> None:
    left = died(tmp_path, monkeypatch, outcome=outcome)
    assert main(["clean", "--dry-run"]) == 0
    assert [path.exists() for path in left] == [True, True, True]
    assert main(["clean"]) == 0
    assert [path.exists() for path in left] == [False, False, False]


@pytest.mark.parametrize("place", ["campaign", "qualify-one/runs"])
def test_what_a_run_of_a_series_left_goes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    left = died(tmp_path, monkeypatch, outcome="running")
    runs = tmp_path / "runs"
    (runs / place).mkdir(parents=True)
    (runs / facts().run_id).rename(runs / place / "mix-1")
    assert main(["clean"]) == 0
    assert [path.exists() for path in (left[0], left[2])] == [False, False]


def test_what_a_run_of_a_qualification_elsewhere_left_goes_with_the_command_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = died(tmp_path, monkeypatch, outcome="running")
    folder, runs = tmp_path / "elsewhere" / "q", tmp_path / "runs"
    (folder / "runs").mkdir(parents=True)
    (runs / facts().run_id).rename(folder / "runs" / "mix-1")
    (line,) = cleaning(folder, runs)
    assert main(shlex.split(line.partition(": mawl ")[2])) == 0
    assert [path.exists() for path in (left[0], left[2])] == [False, False]


def test_a_run_that_was_not_measured_here_names_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    left = died(tmp_path, monkeypatch, kind="imported", outcome="completed")
    assert verbs.out("clean") == "nothing to clean\n"
    assert [path.exists() for path in left] == [True, True, True]


def killed_run(directory: Path, run_id: str, places: tuple[str, ...], *, keeps: bool = True) -> Volumes:
    """A run that was killed: its folder, a result under data, and a table under work and util."""
    volumes = Volumes({role: [directory / name] for role, name in zip(ROLES, places, strict=True)})
    volumes.ensure()
    volumes.claim(run_id, keeps_results=keeps)
    for role in ROLES:
        (made,) = volumes.run_directories(role)
        (made / "file").write_text(role)
    for lock in volumes._locks.values():  # as the kernel does when the process is killed
        os.close(lock)
    volumes._locks.clear()
    folder = directory / "runs" / run_id
    folder.mkdir(parents=True)
    roles = {role: [str(path) for path in volumes.directories[role]] for role in ROLES}
    write_facts(folder, facts(run_id=run_id, roles=roles))
    return volumes


@pytest.mark.parametrize("second", list(permutations("abc")))
def test_results_stay_whatever_else_their_directory_was_used_for(
    tmp_path: Path, second: tuple[str, ...]
) -> None:
    for run_id, places in (("one", ("a", "b", "c")), ("two", second)):
        volumes = killed_run(tmp_path, run_id, places)
        assert main(["clean"]) == 0
        (data,) = volumes.run_directories("data")
        assert (data / "file").read_text() == "data"
    left = sorted(str(path.relative_to(tmp_path)) for name in "abc" for path in (tmp_path / name).iterdir())
    assert left == sorted(["a/mawl-run-one", f"{second[ROLES.index('data')]}/mawl-run-two"])


def test_outputs_that_a_killed_run_would_not_have_kept_go(tmp_path: Path) -> None:
    volumes = killed_run(tmp_path, "one", ("a", "b", "c"), keeps=False)
    assert main(["clean"]) == 0
    assert not any(place.exists() for place in volumes.run_places())


def test_a_run_folder_from_elsewhere_names_nothing_of_other_runs(tmp_path: Path, verbs: Verbs) -> None:
    volumes = killed_run(tmp_path / "theirs", "one", ("a", "b", "c"))
    folder = tmp_path / "runs" / "copied"
    folder.mkdir(parents=True)
    roles = {role: [str(path) for path in volumes.directories[role]] for role in ROLES}
    write_facts(folder, facts(run_id="copied", roles=roles))
    assert verbs.out("clean") == "nothing to clean\n"
    assert all(place.is_dir() for place in volumes.run_places())
    assert main(["clean", str(tmp_path / "theirs" / "b")]) == 0, "the user named it"
    assert [place.is_dir() for place in volumes.run_places()].count(False) == 1


@pytest.mark.parametrize("said", ["made by mawl: run one\n", "", "made by mawl: run other as work\n"])
def test_a_directory_whose_mark_names_no_role_stays_and_is_named(
    tmp_path: Path, verbs: Verbs, said: str
) -> None:
    place = tmp_path / "work" / "mawl-run-one"
    place.mkdir(parents=True)
    (place / MARK).write_text(said)
    (place / "result").touch()
    assert f"kept {place}: its mark does not say" in verbs.out("clean", "--work", "work")
    (place / "result").unlink()
    assert main(["clean", "--work", "work"]) == 0
    assert not place.exists(), "without content nothing can be lost"


def test_a_directory_in_shared_memory_without_a_mark_stays_and_is_named_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    shared = tmp_path / "shared memory"
    monkeypatch.setattr(clean, "SHARED_MEMORY", shared)
    place = shared / "mawl-run-one"
    place.mkdir(parents=True)
    (place / "a.counters").touch()
    (shared / "theirs").mkdir()
    marked, lock = claim_directory(shared, "two", "counters")
    os.close(lock)
    (marked / "b.counters").touch()
    assert verbs.out("clean") == (
        f"kept {place}: it has no mark of mawl, so mawl does not know whose files it holds; "
        f"if you do not need them, remove it with rm -r '{place}'\n"
    )
    assert (place / "a.counters").exists()


def test_what_was_killed_before_it_began_goes(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    runs = tmp_path / "runs"
    for name in ("20261123-101010-nano-ab12", "20261123-101010-nano-cd34", "mine"):
        (runs / name).mkdir(parents=True)
    (runs / "20261123-101010-nano-cd34" / ".run.json.12-ab").touch()
    kept = runs / "20261123-101010-nano-ef56"
    kept.mkdir()
    (kept / "notes.txt").touch()
    new = runs / "20261123-101010-nano-0a1b"
    new.mkdir()
    for folder in runs.iterdir():
        os.utime(folder, (time.time() + (60 if folder == new else -60),) * 2)
    (tmp_path / "work" / ".mawl-write-test-1-ab").touch()
    os.utime(tmp_path / "work" / ".mawl-write-test-1-ab", (time.time() - 3600,) * 2)
    (tmp_path / "work" / ".mawl-write-test-now").touch()
    (tmp_path / "work" / ".mawl-write-test-theirs").write_text("text")
    assert main(["clean", "--work", "work"]) == 0
    assert sorted(path.name for path in runs.iterdir()) == [new.name, kept.name, "mine"]
    left = sorted(path.name for path in (tmp_path / "work").iterdir())
    assert left == [".mawl-write-test-now", ".mawl-write-test-theirs"], "a run may be at new ones"


def test_one_clean_is_enough_when_it_had_to_end_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = died(tmp_path, monkeypatch, outcome="running")
    run_id = facts().run_id
    monkeypatch.setattr(clean, "live_runs", lambda: {run_id: [1]})
    monkeypatch.setattr(clean, "kill_run", lambda one: 1)
    assert main(["clean"]) == 0
    assert [path.exists() for path in left] == [False, False, False]


@pytest.mark.parametrize("option", ["--work", "--runs"])
def test_a_place_that_cannot_be_read_is_said_and_is_no_success(
    option: str, tmp_path: Path, verbs: Verbs
) -> None:
    (tmp_path / "file").touch()
    assert (
        verbs.out("clean", option, "file", status=1)
        == f"could not look into {tmp_path / 'file'}: not a directory\n"
    )


def test_old_tries_of_the_page_cache_go_and_nothing_that_looks_alike(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    long_ago = time.time() - 7200
    for name, content in (
        ("old", bytes(4096)),
        ("empty", b""),
        ("text", b"text"),
        ("large", bytes(2**20 + 1)),
    ):
        (work / f".mawl-cache-{name}").write_bytes(content)
        os.utime(work / f".mawl-cache-{name}", (long_ago, long_ago))
    (work / ".mawl-cache-young").touch()
    (work / ".mawl-cache-link").symlink_to(work / ".mawl-cache-old")
    os.utime(work / ".mawl-cache-link", (long_ago, long_ago), follow_symlinks=False)
    assert main(["clean", "--work", "work"]) == 0
    assert sorted(path.name[12:] for path in work.iterdir()) == ["large", "link", "text", "young"]


def test_a_control_group_that_somebody_else_removed_meanwhile_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs
) -> None:
    monkeypatch.setattr(clean, "leftover_groups", lambda _: [tmp_path / "gone"])
    assert "gone" not in verbs.out("clean")


def kept_by_node2(directory: Path, monkeypatch: pytest.MonkeyPatch, home: str = "home") -> Path:
    """The run folder that a lost node kept in the home directory."""
    node = msgspec.structs.replace(facts().nodes[0], name="node2")
    made = facts(run_id="20260101-080000-nano-ab12-node2", nodes=[node], outcome="interrupted")
    folder = directory / home / "mawl-node-runs" / made.run_id
    folder.mkdir(parents=True)
    write_facts(folder, made)
    monkeypatch.chdir(directory)
    monkeypatch.setenv("HOME", str(directory / "home"))
    return folder


@pytest.mark.parametrize("home", ["home", "."])
def test_the_run_folder_of_a_lost_node_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs, home: str
) -> None:
    folder = kept_by_node2(tmp_path, monkeypatch, home)
    said = verbs.out("clean")
    assert said.startswith(f"kept {folder} (run folder of node2 of the run 20260101-080000-nano-ab12), ")
    assert "B: mawl collect 20260101-080000-nano-ab12 on the controller joins it" in said
    assert f"mawl clean --node-runs {folder.parent} removes it" in said and folder.exists()


def test_the_run_folder_of_a_lost_node_goes_where_its_directory_is_named_and_its_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = kept_by_node2(tmp_path, monkeypatch)
    other = folder.with_name("20260101-090000-nano-ab12")
    other.mkdir()
    write_facts(other, facts(run_id=other.name))
    command = ["clean", "--node-runs", str(folder.parent)]
    writer = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    assert try_lock(writer)
    assert main(command) == 0 and folder.exists(), "its writer lives"
    os.close(writer)
    assert main([*command, "--dry-run"]) == 0 and folder.exists()
    capsys.readouterr()
    assert verbs.out(*command).startswith(f"removed {folder} (run folder of node2 of the run ")
    assert not folder.exists() and other.exists(), "a run that is no node's stays"
