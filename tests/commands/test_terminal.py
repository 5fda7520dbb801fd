"""Colours only on a terminal, and only where they are welcome; text goes to a file whole or not at all."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.commands.main import main
from mawl.commands.terminal import Printing, style_of, write_text


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


@pytest.mark.parametrize(("columns", "width"), [(0, 110), (40, 80), (93, 93), (300, 300)])
def test_lines_are_as_wide_as_the_terminal_and_not_narrower_than_a_report_needs(
    columns: int, width: int
) -> None:
    ours, other = os.openpty()
    with open(other, "w") as terminal:
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        assert style_of(terminal).width == width
    os.close(ours)


def test_a_file_has_lines_of_one_width(tmp_path: Path) -> None:
    with (tmp_path / "report.txt").open("w") as file:
        assert style_of(file).width == 110
    assert style_of(io.StringIO()).width == 110


def test_blocks_only_where_the_encoding_has_them() -> None:
    assert style_of(Stream(True), "auto", {}).blocks
    assert not style_of(Stream(True, "latin-1"), "auto", {}).blocks
    assert not style_of(Stream(True, "ascii"), "auto", {}).blocks


def test_a_name_with_an_escape_reaches_a_terminal_as_text() -> None:
    stream = io.StringIO()
    shown = Printing(stream)
    print("\x1b[31mred\x1b[0m \r\x1b[Kline", "a\x1b]0;owned\x07b\tc", "\x1b[2J\x9b\r", file=shown, flush=True)
    assert stream.getvalue() == "\x1b[31mred\x1b[0m \r\x1b[Kline a\\x1b]0;owned\\x07b\tc \\x1b[2J\\x9b\\r\n"


def test_an_error_of_the_command_line_holds_no_escape(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["report", "--format", "\x1b]0;owned\x07"])
    assert main(["report", "\x1b[2J"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said and "\\x1b[2J: no such run" in said


def test_text_replaces_what_the_file_held(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("something longer than the report")
    write_text(str(path), lambda: "report\n")
    assert path.read_text() == "report\n"


@pytest.mark.parametrize("held", [None, "an older report"])
def test_work_that_fails_costs_nothing(tmp_path: Path, held: str | None) -> None:
    path = tmp_path / "out"
    if held is not None:
        path.write_text(held)

    def fails() -> str:
        raise ValueError

    with pytest.raises(ValueError):
        write_text(str(path), fails)
    assert (path.read_text() if path.exists() else None) == held


def test_what_a_terminal_must_not_get_is_an_escape_in_the_file_too(tmp_path: Path) -> None:
    write_text(str(tmp_path / "out"), lambda: "\x1b[31mred\x1b[0m \x1b]0;title\x07 \udcff\n")
    assert (tmp_path / "out").read_bytes() == b"\x1b[31mred\x1b[0m \\x1b]0;title\\x07 \\udcff\n"


def test_a_bad_path_fails_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no/out: cannot be written: no such file .*--output FILE$"):
        write_text(str(tmp_path / "no" / "out"), lambda: pytest.fail("worked in vain"))
