"""Libraries in the user's cache: whole or made again, by several processes at once, never of another user."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from mawl.records.compiled import NO_COMPILER, Recipe, is_whole, shared_library
from tests import needs
from tests.fakes.full_disk import small_files

RECIPE = Recipe(name="trial", title="the trial library", files={"one.c": "int one;\n"}, flags=("-O2",))
COMPILES = """
while [ "$1" != -o ]; do shift; done
printf 'compiled' >"$2"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An empty cache, and a compiler that needs no time."""
    return compiler(tmp_path, COMPILES)


def compiler(folder: Path, script: str) -> dict[str, str]:
    """The same with a compiler that is this script."""
    path = folder / "cc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": os.environ["PATH"], "CC": str(path), "XDG_CACHE_HOME": str(folder / "cache")}


def made(environment: dict[str, str]) -> Path:
    path, why = shared_library(RECIPE, environment)
    assert path is not None, why
    assert path.read_bytes() == b"compiled" + hashlib.sha256(b"compiled").digest()
    assert list(path.parent.iterdir()) == [path], "nothing is left beside it"
    return path


def refused(environment: dict[str, str]) -> str:
    path, why = shared_library(RECIPE, environment)
    assert path is None
    return why


@pytest.mark.parametrize(
    "held", [b"", b"compiled", b"other" + hashlib.sha256(b"compiled").digest(), b"x" * 9000]
)
def test_a_library_with_a_wrong_digest_is_made_again(environment: dict[str, str], held: bytes) -> None:
    path = made(environment)
    path.write_bytes(held)
    assert not is_whole(path)
    assert made(environment) == path
    first = path.stat().st_mtime_ns
    assert made(environment).stat().st_mtime_ns == first, "a whole one is used as it is"


def test_processes_that_compile_at_once_each_put_a_whole_library_in_place(tmp_path: Path) -> None:
    """Each waits for the other in the middle of its file, which neither sees of the other."""
    waits = 'while [ "$1" != -o ]; do shift; done; printf comp >"$2"; touch "{0}/$$"\n' + (
        'until [ "$(ls {0} | wc -l)" -ge 3 ]; do sleep 0.02; done; printf iled >>"$2"'
    )
    (tmp_path / "met").mkdir()
    environment = compiler(tmp_path, waits.format(tmp_path / "met"))
    found: list[tuple[Path | None, str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(shared_library(RECIPE, environment))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    path = made(environment)
    assert found == [(path, "")] * 3


@pytest.mark.parametrize("place", ["file", "/proc/self", "/dev/null"])
def test_a_cache_that_cannot_be_made_is_a_reason(
    tmp_path: Path, environment: dict[str, str], place: str
) -> None:
    (tmp_path / "file").touch()
    why = refused({**environment, "XDG_CACHE_HOME": str(tmp_path / place)})
    assert why.startswith("the trial library cannot be made: [Errno ")


def test_a_full_disk_is_a_reason_and_leaves_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    for most_bytes in (5, 10, 30):  # not enough for a source, for all sources, for the digest
        with small_files(most_bytes):
            assert refused(environment) == "the trial library cannot be made: [Errno 27] File too large"
        assert list((tmp_path / "cache" / "mawl").iterdir()) == []
    made(environment)


def test_a_directory_in_its_place_is_a_reason(environment: dict[str, str]) -> None:
    path = made(environment)
    path.unlink()
    path.mkdir()
    assert "Is a directory" in refused(environment)


@pytest.fixture
def homeless(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without an entry in /etc/passwd, as pods of OpenShift have them; the cache that is theirs."""

    def unknown(_: object) -> None:
        raise KeyError

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    del environment["XDG_CACHE_HOME"]
    return tmp_path / "temporary" / f"mawl-cache-{os.geteuid()}"


def test_without_a_home_the_cache_is_private_and_among_the_temporary_files(
    environment: dict[str, str], homeless: Path
) -> None:
    assert made(environment).parent == homeless
    assert homeless.stat().st_mode & 0o777 == 0o700


def test_a_home_in_which_nothing_can_be_made_is_none(
    environment: dict[str, str], homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Container engines name / as the home of a user without an entry."""
    monkeypatch.setenv("HOME", "/proc/self")
    assert made(environment).parent == homeless
    environment["XDG_CACHE_HOME"] = "~/.cache"
    monkeypatch.delenv("HOME")
    assert made(environment).parent == homeless


def test_a_cache_that_is_another_user_s_is_not_used(
    environment: dict[str, str], homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = os.getuid() + 1
    planted = homeless.with_name(f"mawl-cache-{other}")
    planted.mkdir()
    planted.chmod(0o777)
    monkeypatch.setattr("os.geteuid", lambda: other)
    whose = "belongs to another user; set XDG_CACHE_HOME to a directory of your own"
    assert refused(environment) == f"the trial library cannot be made: {planted}: {whose}"
    assert not list(planted.iterdir()) and planted.stat().st_mode & 0o777 == 0o777


@needs.marks(needs.ROOT)
def test_a_link_that_another_user_put_in_place_of_the_cache_is_not_followed(
    environment: dict[str, str], homeless: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    homeless.symlink_to(own)
    os.chown(homeless, 1, 1, follow_symlinks=False)
    assert "belongs to another user" in refused(environment)
    assert not list(own.iterdir())


def test_a_library_that_is_another_user_s_is_not_used(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(environment)
    real = path.parent.stat()

    def status(self: Path, **_: object) -> os.stat_result:
        return real if self == path.parent else os.stat_result((*real[:4], real.st_uid + 1, *real[5:10]))

    monkeypatch.setattr(Path, "stat", status)
    assert refused(environment) == f"{path} belongs to another user"


def test_a_cache_that_others_may_write_is_closed_to_them(environment: dict[str, str]) -> None:
    folder = made(environment).parent
    folder.chmod(0o777)
    assert made(environment).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo 'one.c:1: error: no header' >&2; exit 1",
            "cannot compile the trial library: one.c:1: error: no",
        ),
        ("printf 'one.c: f\\374r \\033[31m error' >&2; exit 1", "one.c: f\ufffdr \\x1b[31m error"),
        ("exit 4", "exit status 4"),
        ("exit 0", "No such file or directory"),
        ("kill -9 $$", "exit status -9"),
    ],
)
def test_a_compiler_that_fails_is_a_reason(tmp_path: Path, script: str, said: str) -> None:
    assert said in refused(compiler(tmp_path, script))


def test_without_a_compiler_there_is_a_reason(tmp_path: Path) -> None:
    assert refused({"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}) == NO_COMPILER
