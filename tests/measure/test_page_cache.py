"""Files into the page cache, out of it, and how much of them is there."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.measure import page_cache
from mawl.measure.page_cache import drop, drop_machine_wide, load, residency
from tests import needs
from tests.fakes.tree import plant

SIZE = 5 * 2**20 + 1234


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files on a disk, just written, an empty one and one that is not there."""
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(os.urandom(SIZE))
    (tmp_path / "empty").touch()
    return [tmp_path / name for name in ("one", "two", "empty", "absent")]


def calls_here(files: list[Path]) -> list[str]:
    return [call for call in ("cachestat", "mincore") if residency(files, [call]).source == call]


def test_every_way_to_ask_agrees(files: list[Path]) -> None:
    assert "mincore" in calls_here(files)
    for call in calls_here(files):
        assert residency(files, [call]).bytes == 2 * SIZE
        assert residency(files, [call]).resident_bytes == 2 * SIZE, call


def test_dropped_files_are_read_back_by_loading(files: list[Path]) -> None:
    present = files[:3]
    assert drop(present) == []
    if residency(present).resident_bytes == 2 * SIZE:
        needs.skip("this file system keeps its files in memory")
    for call in calls_here(files):
        assert residency(present, [call]).resident_bytes == 0, call
    with files[0].open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(file.fileno(), 1, 2**20)
    part = residency(present).resident_bytes
    assert part is not None and 4096 <= part < SIZE
    assert load(present) == []
    assert residency(present).resident_bytes == 2 * SIZE


@pytest.mark.lab
@needs.marks(needs.program("fincore"))
def test_fincore_says_the_same_of_whole_dropped_and_partly_read_files(files: list[Path]) -> None:
    def by_fincore() -> int:
        command = ["fincore", "--bytes", "--noheadings", "--output", "RES", *map(str, files[:3])]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return sum(int(word) for word in told.split())

    def same() -> bool:
        # It counts whole pages, and we no more than a file's bytes.
        ours = [residency(files[:3], [call]).resident_bytes for call in calls_here(files)]
        return all(
            value is not None and 0 <= by_fincore() - value < 2 * page_cache.PAGE_BYTES for value in ours
        )

    assert same() and by_fincore() >= 2 * SIZE
    assert drop(files[:3]) == []
    if by_fincore():
        needs.skip("this file system keeps its files in memory")
    assert same()
    with files[0].open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for page in (3, 5, 100, 101, SIZE // page_cache.PAGE_BYTES):
            os.pread(file.fileno(), 1, page * page_cache.PAGE_BYTES)
    assert same() and 0 < by_fincore() < SIZE


def test_a_long_file_is_asked_for_in_windows(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "WINDOW_BYTES", 2**20)
    assert residency(files, ["mincore"]).resident_bytes == 2 * SIZE


def test_files_that_refuse_are_named(files: list[Path]) -> None:
    for remarks in (drop(files), load(files)):
        assert len(remarks) == 1 and "absent" in remarks[0] and "no such file" in remarks[0]


def test_without_any_way_the_reason_is_said(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, size: int) -> tuple[int, int]:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(page_cache, "_CALLS", {"cachestat": refuse, "mincore": refuse})
    found = residency(files)
    assert (found.bytes, found.resident_bytes, found.source) == (2 * SIZE, None, None)
    assert found.reason == "mincore: function not implemented"


def test_another_user_s_files_are_not_asked_for_by_mincore(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: files[0].stat().st_uid + 1)
    found = residency(files, ["mincore"])
    assert found.resident_bytes is None and "another user" in (found.reason or "")


def test_the_whole_machine_only_where_that_is_allowed(tmp_path: Path) -> None:
    plant(tmp_path, {"sys/vm/drop_caches": ""})
    drop_machine_wide(tmp_path)
    assert (tmp_path / "sys/vm/drop_caches").read_text() == "3\n"
    with pytest.raises(UnsuitableMachineError, match="run as root, or leave --drop-caches out"):
        drop_machine_wide(tmp_path / "elsewhere")


def test_the_file_that_tries_the_cache_has_no_name_that_a_kill_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop, seen = page_cache.drop, []

    def looked(files: list[Path]) -> list[str]:
        seen.append(list(tmp_path.iterdir()))
        return drop(files)

    monkeypatch.setattr(page_cache, "drop", looked)
    monkeypatch.setattr(page_cache, "mount_of", lambda *_: None)
    page_cache.keeps(tmp_path)
    assert seen == [[]]


def test_a_directory_that_takes_no_file_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert page_cache.keeps(tmp_path) == "no file can be written there (no space left on device)"
