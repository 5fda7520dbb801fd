"""Figures of programs measured alone: taken from a run, printed with what they are held against."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import load_workload, make_plan
from tests.fakes import stored_run
from tools import measured


def test_the_workload_runs_every_program_once_and_alone(tmp_path: Path) -> None:
    file = tmp_path / "alone.toml"
    file.write_text(measured.workload())
    spec, where = load_workload(str(file))
    plan = make_plan(spec, where=where, catalogue=CATALOGUE, scale=0.005)
    assert [job.program for job in plan.jobs()] == list(CATALOGUE)
    assert plan.peak_concurrent == 1


def test_figures_come_from_a_finished_job() -> None:
    job = stored_run.job("s1-1", 0.0, 20.5)
    found = measured.figures(job, 1.0)
    assert (found.real_time_seconds, found.cpu_seconds) == (20.0, 10.0)
    declared = CATALOGUE["wide_sort"].bytes_by_role(1.0).values()
    assert found.declared_read_bytes == sum(role["read"] for role in declared)


def test_a_job_that_failed_gives_no_figures() -> None:
    with pytest.raises(ValueError, match="wide_sort: failed"):
        measured.figures(stored_run.job("s1-1", 0.0, 20.5, outcome="failed"), 1.0)


def test_the_page_says_where_it_was_measured_and_how_far_programs_lie_apart() -> None:
    long, short = stored_run.job("s1-1", 0.0, 20.5), stored_run.job("s1-2", 0.0, 4.5)
    stored = measured.Measured(
        measured_at="2026-01-01T08:00:00Z",
        mawl_version="0.1.0",
        scale=0.005,
        memory_limit_bytes=2**30,
        machine="2 cores",
        programs={job.program: measured.figures(job, 0.005) for job in (long, short)},
    )
    text = "\n".join(measured.page(stored))
    assert "## Measured alone at quick" in text
    assert "2 cores, jobs and page cache within 1.00 GiB" in text
    assert "Longest : shortest is 5.0 : 1" in text
    assert "| [wide_sort](#wide_sort) | 20.0 | 10.0 |" in text
