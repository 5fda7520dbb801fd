"""Sentences for what ends a job early."""

from __future__ import annotations

import errno
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.programs import execute
from mawl.records.model.messages import Assignment, Failed, line
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import assign


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return assign("wide_sort", 0.0001, Options(memsize_bytes=64 * MIB), {}, tmp_path, volumes=2)


@pytest.mark.parametrize(("role", "volume"), [("work", 0), ("work", 1), ("util", 1)])
def test_a_full_file_system_is_named_by_the_file_in_the_error(
    assignment: Assignment, role: str, volume: int
) -> None:
    directory = getattr(assignment, role)[volume]
    error = OSError(errno.ENOSPC, "No space left on device", f"{directory}/part-7")
    text, wrong = execute.failure_sentence(error, assignment, "sort")
    assert text.startswith(f"{role} is full: {directory} has ")
    assert text.endswith(f"while step sort wrote to it; free space or name a larger volume with --{role}")
    assert not wrong


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        pa.ArrowException("Error writing bytes to file. Detail: [errno 28] No space left on device"),
        duckdb.IOException("IO Error: Could not write file: No space left on device"),
    ],
)
def test_without_a_file_the_file_system_with_the_least_space_is_named(
    error: Exception, assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    fullest = assignment.util[1]
    monkeypatch.setattr(execute, "free_bytes", lambda directory: 17 if directory == fullest else 10**9)
    text, _ = execute.failure_sentence(error, assignment, "distribute")
    assert text.startswith(f"util is full: {fullest} has 17 bytes free while step distribute")


def test_other_input_and_output_errors_are_not_taken_for_a_full_disk(assignment: Assignment) -> None:
    text, _ = execute.failure_sentence(
        OSError(errno.EROFS, "Read-only file system", "/x"), assignment, "sort"
    )
    assert (
        text
        == "OSError in step sort: [Errno 30] Read-only file system: '/x'; the job's log has the traceback"
    )


@pytest.mark.parametrize("role", ["work", "util"])
def test_a_device_that_fails_is_named_by_the_role_of_the_file_in_the_error(
    assignment: Assignment, role: str
) -> None:
    path = f"{getattr(assignment, role)[1]}/part-7"
    text, wrong = execute.failure_sentence(
        OSError(errno.EIO, "Input/output error", path), assignment, "sort", ["data"]
    )
    assert text == (
        f"a device of {role} failed in step sort: [Errno 5] Input/output error: '{path}'; "
        f"see the kernel's log (dmesg) for the device, or name another directory with --{role}"
    )
    assert not wrong


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EIO, "Input/output error"),
        pa.ArrowException("Error writing bytes to file. Detail: [errno 5] Input/output error"),
        duckdb.IOException("IO Error: Could not write file: Input/output error"),
    ],
)
def test_without_a_file_the_roles_where_a_call_failed_are_named_or_all(
    error: Exception, assignment: Assignment
) -> None:
    text, _ = execute.failure_sentence(error, assignment, None, ["util"])
    assert text.startswith("a device of util failed before its first step: ")
    assert text.endswith("or name another directory with --util")
    text, _ = execute.failure_sentence(error, assignment, "sort")
    assert text.startswith("a device of data or work or util failed in step sort: ")
    assert text.endswith("or name another directory with --data or --work or --util")


def test_a_directory_that_cannot_be_made_says_why_and_what_helps() -> None:
    broken = execute.creation_error_sentence(OSError(errno.EIO, "Input/output error", "/w/j1"), "work")
    assert broken == (
        "/w/j1: the work directory of the job cannot be made: input/output error; "
        "see the kernel's log (dmesg) for the device, or name another directory with --work"
    )
    full = execute.creation_error_sentence(OSError(errno.ENOSPC, "No space left on device", "/w/j1"), "work")
    assert full.endswith("; free space there, or name another directory with --work")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("cannot allocate"),
        duckdb.OutOfMemoryException("Out of Memory Error: x"),
        pa.ArrowMemoryError("y"),
    ],
)
def test_too_little_memory_names_memsize(error: Exception, assignment: Assignment) -> None:
    text, wrong = execute.failure_sentence(error, assignment, "means")
    assert text.startswith("needs more memory than memsize (64.0 MiB) allows in step means")
    assert not wrong


def test_a_limit_of_address_space_is_named_beside_memsize(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "address_space_limit", lambda: 2**30)
    text, _ = execute.failure_sentence(MemoryError("no"), assignment, "means")
    assert text == (
        "needs more memory than memsize (64.0 MiB) or the limit of address space (ulimit -v, 1.00 GiB) "
        "allows in step means: no; give the job more with memsize, or raise the limit"
    )


def test_mawls_own_errors_say_it_themselves(assignment: Assignment) -> None:
    wrong = WrongAnswerError("the sum is wrong", why="found 1, expected 2")
    assert execute.failure_sentence(wrong, assignment, "verify") == (
        "the sum is wrong: found 1, expected 2",
        True,
    )
    damaged = DamagedTableError("is cut", where="/a", cure="run mawl generate")
    assert execute.failure_sentence(damaged, assignment, None) == ("/a: is cut; run mawl generate", False)


def test_an_error_before_the_first_step_says_so(assignment: Assignment) -> None:
    assert execute.failure_sentence(KeyError("x"), assignment, None)[0].startswith(
        "KeyError before its first step: 'x'"
    )
    assert "no message" in execute.failure_sentence(ValueError(), assignment, None)[0]


def test_a_sentence_is_one_line_that_fits_a_pipe_write(assignment: Assignment) -> None:
    text, _ = execute.failure_sentence(ValueError("a\tb\n" + "c" * 9000), assignment, "sort")
    assert "\n" not in text
    long, _ = execute.failure_sentence(WrongAnswerError("é\n" * 9000), assignment, "sort")
    assert len(line(Failed(job="a-job", sentence=long))) < 4096


def test_free_space_of_a_directory_that_is_gone_is_that_of_its_file_system(tmp_path: Path) -> None:
    assert execute.free_bytes(str(tmp_path / "gone" / "too")) > 0
