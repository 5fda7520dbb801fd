"""What mawl itself costs: its start-up, and each second of a run with 55 jobs side by side."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness import Result, at_most
from mawl.store import Run, open_run

NAME = "runner"

RUNS = 5
JOBS = 55
STARTUP_CPU_SECONDS = 4.0
RUNNING_CPU_RATIO = 0.005


def run() -> list[Result]:
    """Five runs of 55 one-job sessions; the peer of mawl's own cost is the jobs' CPU time beside it."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        (place / "crowd.toml").write_text(_crowd())
        measured = [_once(place) for _ in range(RUNS)]
    startups, running, jobs = (list(column) for column in zip(*measured, strict=True))
    return [
        at_most(
            "own start-up",
            statistics.median(startups),
            "CPU s",
            STARTUP_CPU_SECONDS,
            f"interpreter, plan, inputs checked, launcher with all libraries; {_spread(startups, 'CPU s')}",
        ),
        at_most(
            f"running cost with {JOBS} jobs",
            statistics.median(running) * 1000,
            "CPU ms per s",
            RUNNING_CPU_RATIO * 1000,
            "runner and launcher from the first look to the last with most jobs running; "
            f"{_spread(running, 'CPU s per s')}; the jobs used {statistics.median(jobs):.2f} CPU s per s",
        ),
    ]


def _crowd() -> str:
    """55 sessions of one job each, all released together; each program has one replica for all."""
    programs = ["wide_sort", "census_load", "segmentation"] + ["stress_projection"] * (JOBS - 3)
    sessions = "".join(
        f'[[sessions]]\nname = "s{number}"\nstages = [[{{ program = "{program}", replica = 1 }}]]\n'
        for number, program in enumerate(programs, start=1)
    )
    return f'name = "crowd"\nscale = 0.0005\n{sessions}'


def _once(place: Path) -> tuple[float, float, float]:
    """Start-up CPU seconds; running CPU seconds a second; the jobs' own CPU seconds a second."""
    done = subprocess.run(
        [sys.executable, "-m", "mawl", "run", "crowd.toml"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench runner: {done.stdout}{done.stderr}")
    found = open_run(place / "runs" / "latest")
    startup, seconds = found.facts.overhead.startup_cpu_seconds, found.facts.phases.run_seconds
    if startup is None or seconds is None:
        raise SystemExit("bench runner: the run has no account of mawl's own cost")
    jobs = sum(record.total.cpu_seconds or 0.0 for record in found.job_records())
    return startup, _running(found), jobs / seconds


def _running(found: Run) -> float:
    """The slope of mawl's own CPU time from the first look to the last with three jobs in four running."""
    rows = [row for row in found.samples.to_pylist() if row["series"] in ("mawl_cpu_seconds", "jobs_running")]
    crowded = {
        row["sampled_at"] for row in rows if row["series"] == "jobs_running" and row["value"] > 0.75 * JOBS
    }
    own = [
        (row["sampled_at"], row["value"])
        for row in rows
        if row["series"] == "mawl_cpu_seconds" and row["sampled_at"] in crowded
    ]
    (first_at, first), (last_at, last) = own[0], own[-1]
    return float((last - first) / (last_at - first_at).total_seconds())


def _spread(values: list[float], unit: str) -> str:
    return f"{min(values):.4g} to {max(values):.4g} {unit} in {len(values)} runs"
