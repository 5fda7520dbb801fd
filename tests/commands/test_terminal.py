"""Colours only on a terminal, and only where they are welcome."""

from __future__ import annotations

import io

import pytest

from mawl.commands.terminal import style_of


class Stream(io.TextIOWrapper):
    """A stream that is a terminal or not."""

    def __init__(self, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(
    ("choice", "terminal", "environment", "colour"),
    [
        ("auto", True, {"TERM": "xterm"}, True),
        ("auto", False, {"TERM": "xterm"}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("always", False, {"NO_COLOR": "1"}, True),
        ("never", True, {}, False),
    ],
)
def test_colours(choice: str, terminal: bool, environment: dict[str, str], colour: bool) -> None:
    assert style_of(Stream(terminal), choice, environment).colour is colour


def test_blocks_only_where_the_encoding_has_them() -> None:
    assert style_of(Stream(True), "auto", {}).blocks
    assert not style_of(Stream(True, "latin-1"), "auto", {}).blocks
    assert not style_of(Stream(True, "ascii"), "auto", {}).blocks
