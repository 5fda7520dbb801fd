"""Text goes to a file whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.commands.output import write_text


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
