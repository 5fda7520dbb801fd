"""Folders of runs with names that mean harm: no traceback, and no name acts on a terminal or a page."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mawl.commands import schema
from mawl.commands.main import main
from mawl.commands.verbs import Arguments, Verb
from mawl.records.store.facts import read_facts
from mawl.records.store.folder import RunWriter
from tests.fakes.compared_runs import COMPLETED, jobs
from tests.fakes.stored_run import START, facts
from tests.importers.test_import import EIGHT, log

NAMES = (
    "two\nlines # and\r a heading",
    "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "<script>window.attacked=1<",
    "quotes \"'`|*_[x](y) & $(touch attacked); -x",
    "x" * 255,
    os.fsdecode(b"no \xff\xfe text"),
    "\u202eright to left\u2028",
)


CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
"""Code of Markdown, in which HTML is text."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs a day apart, whose ids are the names of their folders as far as these are text."""
    place = tmp_path_factory.mktemp("runs")
    for number, name in enumerate(NAMES):
        some = facts(**{**COMPLETED, "run_id": ascii(name), "started_at": START + 86400.0 * number})
        writer = RunWriter(place / str(number), some)
        for record in jobs({"wide_sort": 1.0 + number / 10, "census_load": 1.0}):
            writer.job(record)
        writer.finish(some)
        (place / str(number)).rename(place / name)
    return place


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    status = main(list(words))
    found = capsys.readouterr()
    assert status == 0, found.err
    for text in (found.out, found.err):
        text.encode()
        assert not set("\x00\x07\x1b\r\x9b\u202e\u2028\x85") & set(text)
    return found.out


def check(text: str, form: str) -> None:
    """Nothing in the output is more than text."""
    if form == "html":
        assert "<script>window.attacked" not in text
    elif form == "json":
        json.loads(text)
    else:
        assert not any(line.startswith("lines # and") for line in text.splitlines())
    if form == "markdown":
        assert "<script>" not in CODE.sub("", text)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_a_comparison(runs: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    for one, other in itertools.pairwise(NAMES):
        sides = (str(runs / one), str(runs / other))
        check(said(capsys, "compare", "--format", form, "--", *sides), form)
        if form == "html":
            break  # pages of two take seconds; those of all names are made below


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_a_comparison_of_many(runs: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for name in NAMES if "," not in name]
    check(said(capsys, "compare", "--format", form, *(str(runs / name) for name in names)), form)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_a_history(runs: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(said(capsys, "history", "--format", form, str(runs)), form)
    check(said(capsys, "history", "--format", form, *(str(runs / name) for name in NAMES)), form)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "csv"])
def test_a_report(runs: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        text = said(capsys, "report", "--format", form, str(runs / name))
        check(text, form)
        if form == "csv":
            rows = list(csv.reader(io.StringIO(text)))
            assert {len(row) for row in rows} == {len(rows[0])}


def test_folders_that_are_no_runs_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
        for verb in ("compare", "history", "report", "pack"):
            words = [str(tmp_path / name)] * (2 if verb == "compare" else 1)
            assert main([verb, *words]) in (1, 2)
            found = capsys.readouterr()
            assert len(found.err.splitlines()) == 1 and found.out == ""
            assert not set("\x07\x1b\r\x9b\u202e\u2028") & set(found.err)


def test_logs_with_names_that_are_no_text_are_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / os.fsdecode(b"logs \xff")
    logs.mkdir()
    (logs / os.fsdecode(b"night \xfe.log")).write_text(log(EIGHT, 10))
    words = ["import", str(logs), "--output", str(tmp_path / "run")]
    monkeypatch.setattr("sys.argv", ["mawl", *words])
    said(capsys, *words)
    kept = read_facts(tmp_path / "run")
    assert kept.command[2].endswith("logs \\xff") and kept.sources[0].file == "night .log"
    for form in ("text", "json"):
        check(said(capsys, "report", "--format", form, str(tmp_path / "run")), form)


@pytest.mark.parametrize(
    ("encoded", "status", "sentence"),
    [
        (
            lambda: "na\u00efve".encode("ascii"),
            1,
            "cannot write output: its encoding, ascii, does not have '\\xef'; set PYTHONUTF8=1 or a locale "
            "with UTF-8, or write to a file with --output",
        ),
        (
            lambda: os.fsdecode(b"a/no\n \xff text").encode(),
            2,
            "a/no\\n \\udcff text: is not UTF-8, and mawl keeps names as text; give this file or directory "
            "another name",
        ),
    ],
)
def test_text_that_cannot_be_written_is_one_sentence(
    encoded: Callable[[], bytes],
    status: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(schema.VERBS, "schema", Verb(Arguments, lambda _: len(encoded())))
    assert main(["schema"]) == status
    assert capsys.readouterr().err == f"mawl schema: {sentence}\n"
