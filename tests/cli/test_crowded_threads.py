"""More threads than processors: what they cost the programs whose threads wait by looking (a lab test)."""

from __future__ import annotations

import pytest

from mawl.records.store import open_run
from tests.cli.conftest import Command

WORKLOAD = """
name = "fits"
scale = 0.002
[[sessions]]
name = "a"
stages = [["survey_logistic"], ["stepwise_selection"]]
"""
MOST_RATIO = 1.25
"""Ten per cent are the aim; the rest is what one run differs from the next by."""


@pytest.mark.lab
def test_more_threads_than_processors_cost_fits_no_time_of_processors(mawl: Command) -> None:
    (mawl.directory / "fits.toml").write_text(WORKLOAD)
    used = []
    for count in (1, 5):
        folder = mawl.directory / "runs" / f"threads-{count}"
        mawl.ok("run", "fits.toml", "--cores", "1", "--option", f"cpucount={count}", "--output", str(folder))
        used.append([record.usage.cpu_seconds or 0.0 for record in open_run(folder).job_records()])
    for one, five in zip(*used, strict=True):
        assert five <= MOST_RATIO * one + 0.1, used
