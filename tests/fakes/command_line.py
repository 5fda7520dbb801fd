"""A verb called in the test's own process, its errors raised."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.commands.main import main
from mawl.commands.verbs import build_parser


def parsed(verb: str, *words: str) -> Any:
    """The arguments of a verb as it gets them."""
    values = build_parser([verb]).parse_args([verb, *words])
    return values.called.arguments.read(values)


def call(verb: str, *words: str) -> int:
    """The verb with a command line; its exit status."""
    arguments = parsed(verb, *words)
    status: int = arguments.called.run(arguments)
    return status


class Verbs:
    """The fixture ``verbs``: runs commands in the test's own process, where an error is a sentence."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def out(self, *words: str, status: int = 0) -> str:
        """Standard output since it was last read, after a command that must end with ``status``."""
        assert main(words) == status
        return self._capsys.readouterr().out

    def err(self, *words: str, status: int = 0) -> str:
        """As ``out``, of standard error."""
        assert main(words) == status
        return self._capsys.readouterr().err
