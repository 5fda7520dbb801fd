"""Reports of a run whose names are made of terminal controls: no format and no refusal holds one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.commands.report import FORMATS
from mawl.reports import csv
from mawl.reports.html.embed import bokeh_script
from tests.fakes.hostile_run import CONTROLS, write_hostile_run

OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


@pytest.fixture(scope="module")
def attacking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"{letter}{CONTROLS}" for letter in "abcdef"]
    return write_hostile_run(tmp_path_factory.mktemp("attacking") / f"run{CONTROLS}", names)


@pytest.mark.parametrize(
    "options",
    [
        *([f"--format={name}"] for name in ("text", *FORMATS, "saslog")),
        ["--all"],
        *(["--format=csv", f"--table={table}"] for table in csv.TABLES),
    ],
    ids=lambda options: options[-1],
)
def test_no_control_of_a_terminal_is_in_a_report(
    attacking: Path, tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["report", str(attacking), *options, f"--output={tmp_path / 'report'}"])
    said = capsys.readouterr()
    assert not OBEYED.search(said.out + said.err)
    assert status in (0, 1)
    if status == 0:
        found = (tmp_path / "report").read_text(encoding="utf-8").replace(bokeh_script(), "")
        assert "attacked" in found or options[-1] in QUIET
        assert not OBEYED.search(found), repr(OBEYED.search(found))


QUIET = (
    "--format=logparse",
    "--format=throughput",
    "--table=array_volumes",
    "--table=arrays",
    "--table=energy",
    "--table=events",
    "--table=nodes",
    "--table=storage_servers",
)
"""Formats that hold figures alone, and tables without rows: no events, arrays or energy, one machine."""


@pytest.mark.parametrize("words", [["compare"], ["simulate"], ["placement"], ["tune", "check"]])
def test_no_control_of_a_terminal_is_in_what_other_verbs_say_of_it(
    attacking: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([*words, *([str(attacking)] * (2 if words == ["compare"] else 1))])
    said = capsys.readouterr()
    assert said.out + said.err and not OBEYED.search(said.out + said.err)
