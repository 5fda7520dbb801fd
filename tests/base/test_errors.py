"""Errors: one sentence from their parts, and an exit code each."""

from __future__ import annotations

import errno
import inspect
import os
from pathlib import Path

import pytest

from mawl.base import errors
from mawl.base.errors import MawlError, cure_of


def test_the_parts_of_an_error_make_one_sentence() -> None:
    error = MawlError("cannot be read", where="/x", why="no such file", cure="name another")
    assert str(error) == "/x: cannot be read: no such file; name another"
    assert str(MawlError("is wrong")) == "is wrong"


def test_a_long_part_is_cut() -> None:
    for part in ("where", "why"):
        assert len(str(MawlError("ends", **{part: 5000 * "x"}))) < 1100


def test_exit_codes_are_those_of_the_command_line() -> None:
    codes = {
        name: kind.exit_code
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, MawlError)
    }
    assert codes.pop("InterruptedRunError") == 130
    assert {name for name, code in codes.items() if code == 2} == {"UsageError", "InvalidFileError"}
    assert {name for name, code in codes.items() if code == 4} == {"BusyMachineError"}
    assert set(codes.values()) == {1, 2, 4, 127}


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EMFILE, "raise the limit of open files of a process (ulimit -n), or name another"),
        (errno.EAGAIN, "raise the limit of processes (ulimit -u; in a container pids.max), or name another"),
        (errno.EFBIG, "raise the limit of a file's size (ulimit -f), or name another"),
        (errno.ENOSPC, "free space there, or name another"),
        (errno.ENAMETOOLONG, "name another"),
    ],
)
def test_each_limit_of_the_kernel_has_its_own_cure(number: int, cure: str, tmp_path: Path) -> None:
    assert cure_of(OSError(number, os.strerror(number)), tmp_path, "name another") == cure


def test_a_file_system_without_inodes_is_told_from_one_without_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = os.statvfs(tmp_path)
    none = os.statvfs_result((*figures[:5], 1000, 0, 0, *figures[8:]))
    monkeypatch.setattr(os, "statvfs", lambda path: none)
    full = OSError(errno.ENOSPC, "no space left on device")
    assert cure_of(full, tmp_path / "gone", "name another").startswith("free inodes (remove files) there, or")
