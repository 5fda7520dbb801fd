"""Errors: one sentence from their parts, and an exit code each."""

from __future__ import annotations

import inspect

from mawl import errors
from mawl.errors import MawlError


def test_the_parts_of_an_error_make_one_sentence() -> None:
    error = MawlError("cannot be read", where="/x", why="no such file", cure="name another")
    assert str(error) == "/x: cannot be read: no such file; name another"
    assert str(MawlError("is wrong")) == "is wrong"


def test_exit_codes_are_those_of_the_command_line() -> None:
    codes = {
        name: kind.exit_code
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, MawlError)
    }
    assert codes.pop("InterruptedRunError") == 130
    assert {name for name, code in codes.items() if code == 2} == {"UsageError", "InvalidFileError"}
    assert set(codes.values()) == {1, 2, 127}
