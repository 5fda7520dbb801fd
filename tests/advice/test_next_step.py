"""What to do about an answer that is not known; of an import its load as a workload, by a command."""

from __future__ import annotations

import json
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.advice.judge import judged as judge_all
from mawl.commands.main import main
from mawl.figures.view import StoredView
from mawl.reports.html import report
from tests.fakes.nightly_logs import nightly
from tests.fakes.views import judged
from tests.importers.test_import import imported, log, write
from tests.importers.test_nights import TEN, linux

COMMAND = ": mawl "


def next_step(folder: Path, *paths: Path) -> str:
    _, run = imported(folder, *paths)
    step = judged(StoredView(run))["answer"]["next_step"]
    assert isinstance(step, str)
    return step


def test_the_longest_of_several_nights_becomes_a_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {1: 1.5}
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow=slow)
    step, _, command = next_step(tmp_path, logs).partition(COMMAND)
    said = r"make a workload of the longest period \(5 h 47 min, in whole minutes\)"
    assert re.match(said, step), step
    assert "--night 2026-10-06T" in command
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert (tmp_path / "derived" / "workload.toml").is_file()
    assert "14 jobs" in capsys.readouterr().out


def test_a_night_with_a_failed_job_is_passed_over(tmp_path: Path) -> None:
    logs = nightly(tmp_path / "logs", datetime(2026, 10, 5, 20), 3, zone=UTC, slow={1: 1.5, 2: 1.2})
    failed = logs / "close_books_20261006.log"
    head, found, rest = failed.read_text().partition("NOTE: DATA statement")
    failed.write_text(f"{head}ERROR: File WORK.BOOKS.DATA does not exist.\n{found}{rest}")
    _, run = imported(tmp_path, logs)
    summary = judged(StoredView(run))
    assert found and summary["answer"]["answer"] == "not carried"
    assert "--night 2026-10-07T" in summary["answer"]["next_step"]
    assert "the longest period without a failed job (" in summary["answer"]["next_step"]
    page = report.render(StoredView(run), judge_all(StoredView(run)))
    assert "derive run --night 2026-10-07T" in " ".join(re.sub("<[^>]+>", " ", page).split())


def test_a_run_elsewhere_is_named_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = write(tmp_path / "logs", a=log(TEN, 600))
    here, elsewhere = tmp_path / "here", tmp_path / "else where" / "night"
    here.mkdir()
    monkeypatch.chdir(here)
    elsewhere.parent.mkdir()
    assert main(["import", str(logs), "--output", str(elsewhere)]) == 0
    assert main(["import", str(logs), "--output", "runs/own"]) == 0
    capsys.readouterr()
    for given, named in ((str(elsewhere), str(elsewhere)), ("runs/own", "own")):
        assert main(["report", given, "--format", "json"]) == 0
        command = json.loads(capsys.readouterr().out)["answer"]["next_step"].partition(COMMAND)[2]
        assert shlex.split(command)[:2] == ["derive", named]
        assert main([*shlex.split(command)[:-1], str(tmp_path / f"derived-{given[-3:]}")]) == 0
        capsys.readouterr()
        assert main(["report", given]) == 0
        shown = "".join(capsys.readouterr().out.split())  # long paths are broken over lines
        assert f"mawlderive{shlex.quote(named)}".replace(" ", "") in shown
        assert main(["report", given, "--format", "html", "--output", str(tmp_path / "page.html")]) == 0
        page = (tmp_path / "page.html").read_text()
        assert str(tmp_path) not in page.partition("<script")[0], "a page is read anywhere"


def test_a_period_that_only_a_recording_has_is_not_derived(tmp_path: Path) -> None:
    night = write(tmp_path / "logs", a=log(TEN, 600), b=log(TEN + timedelta(days=1), 600))
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN + timedelta(days=2), 60)))
    assert "--night 2026-" in (step := next_step(tmp_path, night, recording))
    assert f"--night {TEN + timedelta(days=2):%Y-%m-%d}" not in step


def test_one_night_needs_no_window_and_recordings_need_logs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    step = next_step(tmp_path / "one", write(tmp_path / "logs", a=log(TEN, 600)))
    assert step.startswith("make a workload of these logs") and "--night" not in step
    recording = tmp_path / "lab1.nmon"
    recording.write_text("".join(linux(TEN, 60)))
    assert next_step(tmp_path / "two", recording).startswith("import the logs of the jobs, too")
