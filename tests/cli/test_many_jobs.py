"""One run of 2,000 real jobs: each is recorded once, nothing is left, and mawl holds little more memory."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from mawl.records.store import Run, open_run
from tests.cli.conftest import Command

_LOG = logging.getLogger(__name__)
SESSIONS, STAGES = 25, 80
PROGRAMS = ("segmentation", "census_load", "stress_projection", "wide_sort")
MORE_MEMORY_BYTES = 1_900 * 32 * 2**10
"""Of runner and launcher for 1,900 further jobs: their plan, facts and records, measured as 27 kB each."""


def workload(path: Path, stages: int) -> Path:
    """Sessions with one job in each stage; the programs take turns."""
    sessions = []
    for number in range(SESSIONS):
        jobs = ", ".join(f'["{PROGRAMS[(number + stage) % len(PROGRAMS)]}"]' for stage in range(stages))
        sessions.append(f'[[sessions]]\nname = "s{number}"\nstages = [{jobs}]\n')
    path.write_text('name = "many"\nscale = 0.00005\n' + "".join(sessions))
    return path


def carried_out(mawl: Command, stages: int) -> Run:
    """A run of so many stages."""
    name = workload(mawl.directory / f"many{stages}.toml", stages)
    process = mawl.start("run", str(name))
    output, complaints = process.communicate(timeout=3000)
    assert process.returncode == 0, output[-2000:] + complaints[-2000:]
    return open_run(mawl.directory / "runs" / "latest")


def check_ended_well(run: Run, mawl: Command, jobs: int) -> None:
    """Every job is recorded once and ended well, and nothing is left."""
    assert run.jobs.num_rows == len(set(run.jobs["job"].to_pylist())) == jobs
    assert set(run.jobs["outcome"].to_pylist()) == {"finished"}
    assert set(run.jobs["verified"].to_pylist()) == {True}
    assert mawl.leftovers() == []
    assert not [name for name in os.listdir("/dev/shm") if run.facts.run_id in name]


@pytest.mark.long(minutes=15)
def test_2000_jobs_in_one_run(mawl: Command) -> None:
    overheads = []
    for stages in (4, STAGES):
        run = carried_out(mawl, stages)
        check_ended_well(run, mawl, SESSIONS * stages)
        _LOG.info("%d jobs: %s", run.jobs.num_rows, run.facts.overhead)
        overheads.append(run.facts.overhead)
    few, many = overheads
    assert few.peak_memory_bytes and many.peak_memory_bytes
    assert many.peak_memory_bytes - few.peak_memory_bytes < MORE_MEMORY_BYTES
    report = mawl.ok("report", "latest")
    assert f"{SESSIONS * STAGES}: {SESSIONS * STAGES} finished" in report.stdout.replace(",", "")
