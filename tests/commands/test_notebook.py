"""``mawl.open_run()``: tables, the typed summary, and charts; a damaged run is a sentence."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

import mawl
from mawl.advice.judge import judged
from mawl.base.errors import UnreadableRunError, UsageError
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from tests.fakes.stored_run import facts, jobs, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path / "one").finish(facts())
    return tmp_path / "one"


def test_tables_and_summary_are_those_of_the_report(folder: Path) -> None:
    run, stored = mawl.open_run(folder), open_run(folder)
    assert run.path == folder and run.facts == stored.facts and run.probe is None
    for name in ("jobs", "steps", "events", "samples"):
        assert getattr(run, name).equals(getattr(stored, name))
    assert run.jobs.num_rows == len(jobs())
    assert run.summary == judged(StoredView(stored))
    assert repr(run) == "<run 20260101-080000-tiny: tiny, failed>"


def test_a_run_shows_itself_as_a_table_and_names_of_its_data_stay_text(folder: Path) -> None:
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"tiny"', '"<b>&tiny"'))
    shown = mawl.open_run(folder)._repr_html_()
    assert shown.startswith("<table") and shown.count("<tr>") > 10
    assert "&lt;b&gt;&amp;tiny" in shown and "<b>" not in shown
    assert "<th>elapsed</th><td>60.5 s</td>" in shown


def test_a_chart_is_a_page_of_its_own_and_can_be_drawn_again(folder: Path) -> None:
    run = mawl.open_run(folder)
    assert "application" in run.charts
    plot = run.plot("application")
    page = plot.html()
    assert page.startswith("<!DOCTYPE html>") and run.charts["application"] in page
    shown = plot._repr_html_()
    assert shown.isascii()
    again = unescape(shown.partition('srcdoc="')[2].partition('" style=')[0])
    names = re.compile(r"\bp\d{4,}\b|[0-9a-f-]{36}")  # of models and documents, new each time
    assert names.sub("", again) == names.sub("", page)


def test_a_chart_that_is_not_there_is_refused_with_those_that_are(folder: Path) -> None:
    run = mawl.open_run(folder)
    with pytest.raises(UsageError, match=r"there is no chart 'nothing'; name one of these: .*application"):
        run.plot("nothing")
    with pytest.raises(UsageError, match="one: the chart network cannot be drawn: no bytes on any network"):
        run.plot("network")


def test_a_damaged_run_is_a_sentence(folder: Path) -> None:
    (folder / "jobs.parquet").write_bytes(b"damaged")
    run = mawl.open_run(folder)
    with pytest.raises(UnreadableRunError):
        assert run.summary
    assert "<th>not readable</th>" in run._repr_html_()
