"""``mawl run --solo``: times alone are measured once, kept, and in the report of every later run."""

from __future__ import annotations

import json
from typing import Any

from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB


def report(mawl: Command) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(mawl("report", "latest", "--format", "json").stdout)
    return summary


def test_a_time_alone_is_measured_once_and_kept_while_nothing_changed(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    first = mawl("run", "one.toml", "--solo")
    assert first.returncode == 0, first.stderr
    assert "kinds of jobs to run alone first: 1" in first.stderr
    summary = report(mawl)
    stretch = summary["capacity"]["stretch"]
    assert (stretch["jobs"], list(stretch["by_job"])) == (1, ["a.1.segmentation"])
    assert summary["programs"]["segmentation"]["stretch"] == stretch["median"] > 0
    alone = [path.name for path in (mawl.directory / "runs").glob("*-alone")]
    assert len(alone) == 1
    again = mawl("run", "one.toml", "--solo")
    assert "times alone are known for all jobs" in again.stderr
    assert [path.name for path in (mawl.directory / "runs").glob("*-alone")] == alone
    assert report(mawl)["capacity"]["stretch"]["jobs"] == 1
    assert mawl.leftovers() == []


def test_bounds_of_the_capacity_are_settings(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    (mawl.directory / "mawl.toml").write_text('most_slowdown = 7.5\nguideline_warn = "10MB"\n')
    assert mawl("run", "one.toml").returncode == 0
    capacity = report(mawl)["capacity"]
    assert capacity["stretch"]["most"] == 7.5
    assert capacity["gate"]["warn_bytes_per_second_per_core"] == 10e6
    assert capacity["gate"]["good_bytes_per_second_per_core"] == 150e6
