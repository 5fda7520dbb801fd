"""An error as data is the same error again."""

from __future__ import annotations

import msgspec
import pytest

from mawl.base.errors import InvalidFileError, MawlError, UnsuitableMachineError, UsageError
from mawl.records.spec.task import TaskAnswer, TaskFailure


@pytest.mark.parametrize("kind", [InvalidFileError, MawlError, UnsuitableMachineError, UsageError])
def test_an_error_comes_back_as_what_it_was(kind: type[MawlError]) -> None:
    error = kind("is full", where="/w", why="no room", cure="make room")
    answer = TaskAnswer(status=error.exit_code, failure=TaskFailure.of(error))
    back = msgspec.json.decode(msgspec.json.encode(answer), type=TaskAnswer)
    assert back == answer and back.failure is not None
    again = back.failure.error()
    assert (type(again), str(again)) == (kind, str(error))


def test_an_answer_fits_into_a_pipe() -> None:
    error = MawlError("x" * 10**6, where="y" * 10**6, why="z" * 10**6, cure="c")
    assert len(msgspec.json.encode(TaskAnswer(status=1, failure=TaskFailure.of(error)))) < 4096
