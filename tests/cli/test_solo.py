"""``mawl run --solo``: times alone are measured once, kept, and in the report of every later run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.cli.test_run import ONE_JOB
from tests.fakes.second_slowdown import slowdowns


def report(mawl: Command) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(mawl("report", "latest", "--format", "json").stdout)
    return summary


@pytest.mark.lab
def test_times_alone_are_three_runs_that_are_kept_while_nothing_changed(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    first = mawl("run", "one.toml", "--solo")
    assert first.returncode == 0, first.stderr
    assert "running 1 kind of jobs alone first: run 3 of 3" in first.stderr
    summary = report(mawl)
    slowdown, compute = summary["capacity"]["slowdown"], summary["capacity"]["compute"]
    assert (slowdown["jobs"], list(slowdown["by_job"]), slowdown["runs_alone"]) == (
        1,
        ["a.1.stress_projection"],
        3,
    )
    assert summary["programs"]["stress_projection"]["slowdown"] == slowdown["median"] > 0
    assert 0 < slowdown["low"] <= slowdown["median"] <= slowdown["high"]
    assert compute["low"] <= compute["median"] <= compute["high"]
    assert summary["capacity"]["storage"]["answer"] == "not known"
    for path, value in slowdowns((mawl.directory / "runs" / "latest").resolve()).items():
        _, part, figure = path.split(".")
        assert summary["capacity"][part][figure] == pytest.approx(value, rel=1e-6), path
    (facts,) = [json.loads((mawl.directory / "runs" / summary["run_id"] / "run.json").read_text())["alone"]]
    assert [run["real_time_seconds"] > 0 for run in facts[0]["runs"]] == [True] * 3
    assert all(run["waits"]["on_cpu_seconds"] > 0 for run in facts[0]["runs"])
    alone = sorted(path.name for path in (mawl.directory / "runs").glob("*-alone-?"))
    assert len(alone) == 3
    (kept,) = (mawl.directory / "runs" / "solo").glob("*.json")
    written = json.loads(kept.read_text())
    kept.write_text(json.dumps({**written, "runs": written["runs"][:2]}))
    again = mawl("run", "one.toml", "--solo")
    assert again.stderr.count("alone first: run ") == 1 and "run 3 of 3" in again.stderr
    assert len(list((mawl.directory / "runs").glob("*-alone-?"))) == 4
    third = mawl("run", "one.toml", "--solo")
    assert "times alone are known for all jobs" in third.stderr
    assert report(mawl)["capacity"]["slowdown"]["runs_alone"] == 3
    assert [place for place in mawl.leftovers() if "-one-" in place] == []


def test_bounds_of_the_capacity_are_settings(mawl: Command) -> None:
    (mawl.directory / "one.toml").write_text(ONE_JOB)
    (mawl.directory / "mawl.toml").write_text('most_slowdown = 7.5\nguideline_warn = "10MB"\n')
    assert mawl("run", "one.toml").returncode == 0
    capacity = report(mawl)["capacity"]
    assert capacity["slowdown"]["most"] == 7.5
    assert capacity["guideline"]["warn_bytes_per_second_per_core"] == 10e6
    assert capacity["guideline"]["good_bytes_per_second_per_core"] == 150e6
