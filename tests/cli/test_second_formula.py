"""The figures of real runs, computed twice: by mawl, and from the stored tables by other means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.preload.build import Library
from tests.cli.conftest import Command
from tests.fakes.second_formula import Figures, figures

BUCKET_RATIO = 1 / 16


def of(summary: Any, path: str) -> float | None:
    """A figure of the summary by its dotted name."""
    for name in path.split("."):
        summary = summary[name]
    value: float | None = summary
    return value


def compare(summary: Any, second: Figures) -> None:
    """Every figure of the second computation is the summary's; quantiles within their bucket."""
    wrong = {}
    for path, value in second.items():
        ours = of(summary, path)
        above = BUCKET_RATIO if path.endswith((".p50", ".p99")) else 0.0
        slack = 1e-6 * abs(value) + 2e-6
        if ours is None or not value - slack <= ours <= value * (1 + above) + slack:
            # A quantile is never more than the longest call.
            wrong[path] = (ours, value)
    assert not wrong
    assert len(second) > 60


@pytest.fixture
def counted(made: Library, mawl: Command) -> Command:
    """``mawl`` with its library compiled."""
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])
    return mawl


def ran(mawl: Command, *arguments: str) -> tuple[Any, Path]:
    """The summary of a run, and its folder."""
    done = mawl("run", *arguments)
    assert done.returncode == 0, done.stderr
    shown = mawl("report", "latest", "--format", "json")
    return json.loads(shown.stdout), (mawl.directory / "runs" / "latest").resolve()


def test_a_short_run_of_one_window(counted: Command) -> None:
    summary, folder = ran(counted, "nano")
    compare(summary, figures(folder))


@pytest.mark.lab
def test_a_run_of_many_windows_and_a_tail(counted: Command) -> None:
    summary, folder = ran(counted, "mixed20", "--cache", "cold")
    assert len(summary["windows"]) > 2
    compare(summary, figures(folder))
