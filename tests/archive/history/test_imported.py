"""An import of many nights is followed night by night."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.archive.history.changes import by_program
from mawl.commands.main import main
from mawl.figures import nights
from tests.fakes.compared_runs import compared
from tests.fakes.nightly_logs import MINUTES, nightly
from tests.importers.test_import import log, write

FIRST = datetime(2026, 1, 5, 20, 0)
NIGHTS, AT = 16, 12


def imported(logs: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    run = logs.with_name(f"{logs.name}-run")
    assert main(["import", str(logs), "--output", str(run)]) == 0
    capsys.readouterr()
    return run


def history(capsys: pytest.CaptureFixture[str], *runs: Path) -> Any:
    assert main(["history", *map(str, runs), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_each_night_of_an_import_is_a_night(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = nightly(tmp_path / "month", FIRST, NIGHTS, zone=UTC, steps=dict.fromkeys(MINUTES, (AT, 1.3)))
    run = imported(logs, capsys)
    found = history(capsys, run)
    dates = [(FIRST + timedelta(days=day)).date().isoformat() for day in range(NIGHTS)]
    assert [night["night"] for night in found["nights"]] == [f"{run.name}, night of {one}" for one in dates]
    [change] = found["changes"]
    assert change["night"].endswith(dates[AT])
    assert change["series"][0]["change_ratio"] == pytest.approx(0.3, abs=0.05)
    assert found["regression"] is True


def test_nights_of_one_import_are_those_of_imports_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a second way: the same logs, a folder for each night."""
    logs = nightly(tmp_path / "all", FIRST, 10, zone=UTC)
    apart = []
    for day in range(10):
        one = tmp_path / f"night-{day}"
        one.mkdir()
        for path in logs.glob(f"*_{FIRST + timedelta(days=day):%Y%m%d}*"):
            (one / path.name.replace(f"_{FIRST + timedelta(days=day):%Y%m%d}", "")).write_bytes(
                path.read_bytes()
            )
        apart.append(imported(one, capsys))
    together = history(capsys, imported(logs, capsys))
    alone = history(capsys, *apart)
    logs_of = [[night["log_seconds"] for night in one["nights"]] for one in (together, alone)]
    assert logs_of[0] == pytest.approx(logs_of[1], abs=1e-9)
    assert [night["started_at"] for night in together["nights"]] == [
        night["started_at"] for night in alone["nights"]
    ]


def test_an_import_of_one_night_stays_one_and_nights_close_together_stay_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = nightly(tmp_path / "one", FIRST, 1, zone=UTC)
    assert len(history(capsys, imported(one, capsys))["nights"]) == 1
    # 22 hours a day: less than four hours lie between two nights, and the logs last more than two days.
    begins = datetime(2026, 1, 5, 18, 0)
    logs = {f"load_{day}": log(begins + timedelta(days=day), 22 * 3600.0) for day in range(4)}
    busy = imported(write(tmp_path / "busy", **logs), capsys)
    assert len(history(capsys, busy)["nights"]) == 4


def test_nights_beyond_the_last_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = imported(nightly(tmp_path / "month", FIRST, 5, zone=UTC), capsys)
    monkeypatch.setattr(nights, "MOST_NIGHTS", 3)
    assert main(["history", str(run)]) == 0
    said = capsys.readouterr().out
    assert "3 nights, 2026-01-07" in said
    assert f"skipped: 2 earlier nights of {run.name}: only the last 3 of an import are followed" in said


def test_a_failed_job_takes_no_place_of_another() -> None:
    run = compared(0)
    first, *others = run.jobs.values()
    failed = type(first)(program=others[0].program, real_time_seconds=None)
    run.jobs.clear()
    run.jobs.update({"failed": failed, "a": others[0], "b": others[0]})
    named = by_program(run).jobs
    assert named[f"{others[0].program}.1"].real_time_seconds is not None
    assert named[f"{others[0].program}.3"].real_time_seconds is None
