"""Text from elsewhere on its way to a terminal."""

from __future__ import annotations

import pytest

from mawl.base.errors import UsageError
from mawl.base.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zürich 東京 1 µs", "Zürich 東京 1 µs"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\r\nb", "a\\r\\nb"),
        ("gpj.\u202eexe", "gpj.\\u202eexe"),
        ("/x\udcff", "/x\\udcff"),
    ],
)
def test_controls_become_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_no_error_holds_an_escape() -> None:
    error = UsageError("is wrong", where="/x\x1b[2J", why="\x1b]0;t\x07", cure="name \x9b another")
    assert str(error) == "/x\\x1b[2J: is wrong: \\x1b]0;t\\x07; name \\x9b another"


def test_no_value_of_a_damaged_file_makes_an_error_endless() -> None:
    assert len(str(UsageError("x" * 5000, where="file", why="y" * 10**6))) < 2100
