"""What every report says of queue times: the run, programs, the jobs that waited longest, the last chain."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mawl.commands.main import main
from mawl.commands.reporting import render_html
from mawl.figures.view import StoredView
from mawl.records.store import Run
from mawl.reports import markdown, screen, text
from mawl.reports.csv import render as csv_of
from tests.fakes.schedulers import Ran
from tests.fakes.views import as_summary, judged, typed
from tests.importers.schedulers.test_scheduler_join import AT, lsf_of, shop
from tests.importers.test_import import log

WAITED = "median 90.0 s, 95th percentile 117.0 s, longest 2 min 00 s (2 of 3 jobs)"
CHAIN = "queue of the chain that ended last (2 jobs): 62.0 s of 11 min 00 s (9.4 %)"


@pytest.fixture
def night(tmp_path: Path) -> Run:
    """Two jobs one after another that waited 60 s and 120 s, the second for the first; one unknown before."""
    jobs = [
        Ran(1, "extract", AT, AT + 60, AT + 360),
        Ran(2, "load", AT + 241, AT + 361, AT + 661),
    ]
    logs = {"extract": (AT + 60, 299.0), "load": (AT + 361, 299.0), "other": (AT - 600, 10.0)}
    _, run = shop(tmp_path, logs, lsf_of(*jobs))
    return run


def test_text_and_markdown_have_all_tables_of_the_queue(night: Run) -> None:
    view = StoredView(night)
    summary = as_summary(judged(view))
    for report in (text.render(view, summary), markdown.render(view, summary)):
        words = " ".join(report.replace("|", " ").replace("\\", "").replace("`", "").split())
        assert WAITED in words
        assert CHAIN in words
        assert "queue: from the time at which a job could run to its start by the scheduler" in words
        assert "load load 2026-03-02 20:04:01 2 min 00 s" in words
        assert "extract 1 60.0 s 60.0 s 60.0 s 60.0 s" in words


def test_the_screen_has_a_line_of_the_queue(night: Run) -> None:
    view = StoredView(night)
    lines = screen.render(view, as_summary(judged(view))).splitlines()
    [place] = [place for place, line in enumerate(lines) if line.startswith("queue ")]
    said = " ".join(" ".join(lines[place : place + 3]).split())
    assert WAITED in said
    assert CHAIN in said


def test_the_html_report_has_tables_and_definitions_of_the_queue(night: Run) -> None:
    view = StoredView(night)
    page = render_html(view, typed(judged(view)))
    assert "Time in the queue of the scheduler, by program" in page
    assert "Jobs that waited longest in the queue of the scheduler" in page
    assert "95th percentile of their queue times (linear interpolation)." in page


def test_csv_has_every_job_and_program(night: Run) -> None:
    view = StoredView(night)
    rows = list(csv.DictReader(csv_of(view, view.summary, "jobs").splitlines()))
    assert {row["job"]: (row["submitted_at"], row["queue_seconds"]) for row in rows} == {
        "extract": ("2026-03-02T20:00:00.000000Z", "60.0"),
        "load": ("2026-03-02T20:04:01.000000Z", "120.0"),
        "other": ("", ""),
    }
    programs = list(csv.DictReader(csv_of(view, view.summary, "queue").splitlines()))
    assert [(row["program"], row["median_seconds"]) for row in programs] == [
        ("extract", "60.0"),
        ("load", "120.0"),
    ]


def test_a_run_without_a_history_says_nothing_of_a_queue(tmp_path: Path) -> None:
    _, run = shop(tmp_path, {"load": (AT, 60.0)})
    view = StoredView(run)
    summary = as_summary(judged(view))
    assert summary.queue is None
    assert summary.missing["queue"] == "no history of a scheduler was imported with the jobs"
    for report in (text.render(view, summary), markdown.render(view, summary), screen.render(view, summary)):
        assert "scheduler" not in report


def test_the_command_imports_a_history_and_says_how_many_logs_it_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("load.log").write_text(log(datetime.fromtimestamp(AT + 60, UTC), 300))
    Path("lsb.acct").write_text(lsf_of(Ran(1, "load", AT, AT + 50, AT + 400)))
    paths = ("load.log", "lsb.acct")
    assert main(["import", *paths, "--json", "--timezone", "saslog=UTC", "--output", "a"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["schedulers"] == {
        "scheduled": 1, "joined": 1, "of_these_unknown_queue": 0, "several": 0, "later_sessions": 0,
        "none": 0, "other_clocks": 0,
    }  # fmt: skip
    assert main(["import", *paths, "--output", "b"]) == 0
    assert "warning   1 log cannot be joined to the scheduler's jobs" in capsys.readouterr().out
    assert main(["import", "lsb.acct", "--output", "c"]) == 2
    assert "the history of a scheduler needs logs" in capsys.readouterr().err
