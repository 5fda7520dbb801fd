"""Reports of the synthetic run, compared with files under tests/golden.

After a change that is meant, write them anew with MAWL_UPDATE_GOLDEN=1 and read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mawl.advice.bounds import AnswerBounds
from mawl.figures.over_time import outline
from mawl.figures.view import StoredView
from mawl.records.store import Run, open_run
from mawl.reports import csv, json, markdown, screen, text
from mawl.reports.document import rendered
from mawl.reports.exports import render_logparse, render_saslog
from tests.fakes.stored_run import events, facts, jobs, write_run
from tests.fakes.views import BARE, as_summary, judge, judged, summary_of, typed

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The stored run."""
    write_run(tmp_path / "run").finish(facts())
    return open_run(tmp_path / "run")


def interrupted() -> dict[str, Any]:
    """The summary of a run with everything that can be missing."""
    some = facts(
        outcome="interrupted",
        outcome_reason="the runner ended without finishing the run",
        outside_cpu=None,
        ended_at=None,
        remarks=["jobs.jsonl, line 3: torn when the run was stopped, left out"],
    )
    begun = events()[:6]
    summary = summary_of(some, jobs()[2:3], {"steps": 2, "samples": 6, "events": 6}, events=begun)
    return judge(some, jobs()[2:3], summary, events=begun)


def render(name: str, run: Run) -> str:
    """One of the golden reports."""
    match name:
        case "report.txt":
            return text.render(StoredView(run), as_summary(judged(StoredView(run))))
        case "report.json":
            return json.render(judged(StoredView(run)))
        case "report.saslog":
            return render_saslog(run, ["s1-1", "s3-1"])
        case "report.md":
            return markdown.render(StoredView(run), as_summary(judged(StoredView(run))))
        case "disclosure.md":
            return rendered(markdown.disclosure(StoredView(run), typed(judged(StoredView(run)))), "markdown")
        case "logparse.csv":
            return render_logparse(run)
        case "programs.csv":
            return csv.render(StoredView(run), as_summary(judged(StoredView(run))), "programs")
        case "screen.txt":
            view = StoredView(run)
            return screen.render(view, typed(judged(view, AnswerBounds())), outline(view))
        case "interrupted-screen.txt":
            return screen.render(BARE, as_summary(interrupted()))
        case _:
            return text.render(BARE, as_summary(interrupted()))


NAMES = (
    "report.txt",
    "report.json",
    "report.saslog",
    "interrupted.txt",
    "screen.txt",
    "interrupted-screen.txt",
    "report.md",
    "disclosure.md",
    "logparse.csv",
    "programs.csv",
)


def golden(name: str, made: str) -> str:
    """The golden text of that name, which is ``made`` where it is to be written anew."""
    path = GOLDEN / name
    if os.environ.get("MAWL_UPDATE_GOLDEN") == "1":
        path.write_text(made)
    return path.read_text()


@pytest.mark.parametrize("name", NAMES)
def test_reports_are_as_they_were(name: str, run: Run) -> None:
    made = render(name, run) + "\n"
    assert made == golden(name, made)
