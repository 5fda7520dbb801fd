"""Removal of trees: never through a link or mount, only below a mark, and what stays is named."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mawl
from mawl.base.removal import MARK, MOST_NAMED, Removal, remove_below, remove_tree, temporary_directory
from tests import needs
from tests.base.removal_draws import fuse


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    directory = tmp_path / "marked"
    directory.mkdir()
    (directory / MARK).touch()
    return directory


def draws(place: Path, seed: int, count: int) -> str:
    command = [
        *needs.PRIVATE_MOUNTS,
        sys.executable,
        "-m",
        "tests.base.removal_draws",
        str(place),
        str(seed),
        str(count),
    ]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{Path(mawl.__file__).parents[1]}:{root}"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


@needs.marks(needs.MOUNTS)
def test_nothing_outside_of_drawn_trees_is_touched(tmp_path: Path) -> None:
    assert draws(tmp_path, 48, 40) == "40 trees\n"


@pytest.mark.lab
@needs.marks(needs.ROOT)
@needs.marks(needs.program("nbdfuse"))
@pytest.mark.parametrize("server", ["alive", "stopped", "dead"])
def test_a_fuse_mount_stays_whether_or_not_its_server_answers(marked: Path, server: str) -> None:
    """In a process of its own: one that looked into a mount whose server is stopped would wait for ever."""
    (marked / "file").touch()
    with fuse(marked / "below" / "mount") as process:
        assert process is not None
        if server != "alive":
            process.send_signal(signal.SIGSTOP if server == "stopped" else signal.SIGKILL)
        code = "import sys; from pathlib import Path; from mawl.base.removal import remove_tree; "
        code += "print(remove_tree(Path(sys.argv[1])).kept)"
        words = [sys.executable, "-c", code, str(marked)]
        said = subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout
    assert f"{marked}/below/mount stays: it is a separate mount (fuse" in said
    assert not (marked / "file").exists() and (marked / MARK).exists()
    assert remove_tree(marked).kept == []


@pytest.mark.long(minutes=15)
@needs.marks(needs.MOUNTS)
def test_nothing_outside_of_ten_thousand_drawn_trees_is_touched(tmp_path: Path) -> None:
    assert draws(tmp_path, 49, 10_000) == "10000 trees\n"


def test_a_tree_deeper_than_a_path_may_be_long_goes(marked: Path) -> None:
    at = os.open(marked, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("directory", dir_fd=at)
        below = os.open("directory", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    assert remove_tree(marked).kept == [] and not marked.exists()


def test_the_bytes_are_those_of_blocks_that_no_other_name_holds(marked: Path, tmp_path: Path) -> None:
    (marked / "file").write_bytes(b"x" * 8192)
    (marked / "shared").write_bytes(b"x" * 8192)
    (tmp_path / "outside").hardlink_to(marked / "shared")
    held = (marked / "file").stat().st_blocks * 512
    assert remove_tree(marked) == Removal(held, [])


def test_a_directory_without_a_mark_stays_whole(tmp_path: Path) -> None:
    directory = tmp_path / "theirs"
    (directory / "folder").mkdir(parents=True)
    sentence = f"{directory} stays: it has no mark of mawl (a file .mawl)"
    assert remove_tree(directory).kept == remove_below(directory, "folder").kept == [sentence]
    (directory / MARK).symlink_to(tmp_path)
    assert remove_tree(directory).kept == [sentence], "a link is no mark"
    assert (directory / "folder").is_dir()


def test_a_link_in_the_place_of_a_directory_is_not_followed(marked: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / MARK).touch()
    (tmp_path / "victim" / "precious").touch()
    (marked / "job").symlink_to(tmp_path / "victim")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    assert remove_below(marked, "job", "absent").kept == [] and not os.path.lexists(marked / "job")
    (kept,) = remove_tree(tmp_path / "link").kept
    assert kept == f"{tmp_path / 'link'} stays: a link or file took the place of the directory"
    assert (tmp_path / "victim" / "precious").exists()


def test_removal_below_leaves_the_rest(marked: Path) -> None:
    for name in ("one", "two"):
        (marked / name / "deep").mkdir(parents=True)
    assert remove_below(marked, "one") == Removal()
    assert sorted(path.name for path in marked.iterdir()) == [MARK, "two"]


def test_what_is_gone_already_is_removed(tmp_path: Path) -> None:
    assert remove_tree(tmp_path / "absent") == remove_below(tmp_path / "absent", "x") == Removal()


def test_a_temporary_directory_goes_also_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), temporary_directory("mawl-test-", tmp_path) as directory:
        (directory / "file").touch()
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_only_some_of_many_things_that_stay_are_named() -> None:
    removal = Removal()
    for number in range(MOST_NAMED + 3):
        removal.keep(f"/a/{number}\x1b", "why")
    assert removal.remarks()[0] == "/a/0\\x1b stays: why"
    assert removal.remarks()[-1] == "and 3 more stay"


def test_no_other_module_removes_trees() -> None:
    sources = Path(__file__).parents[2] / "src" / "mawl"
    others = [
        str(path.relative_to(sources))
        for path in sources.rglob("*.py")
        if re.search(r"rmtree|TemporaryDirectory|\bmkdtemp", path.read_text()) and path.name != "removal.py"
    ]
    assert others == []
