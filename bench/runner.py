"""What mawl itself costs: its start-up, and each second of a run with 55 jobs side by side."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness import Result, at_most
from mawl.store import open_run

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
            f"runner, launcher and keepers, compaction included; {_spread(running, 'CPU s per s')}; "
            f"the jobs used {statistics.median(jobs):.2f} CPU s per s",
        ),
    ]


def _crowd() -> str:
    """55 sessions of one job each, all released together; replica 1 serves them all."""
    sessions = "".join(
        f'[[sessions]]\nname = "s{number}"\nstages = [[{{ program = "stress_projection", replica = 1 }}]]\n'
        for number in range(1, JOBS + 1)
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
    overhead, seconds = found.facts.overhead, found.facts.phases.run_seconds
    if overhead.cpu_seconds is None or overhead.startup_cpu_seconds is None or seconds is None:
        raise SystemExit("bench runner: the run has no account of mawl's own cost")
    jobs = sum(record.total.cpu_seconds or 0.0 for record in found.job_records())
    return (
        overhead.startup_cpu_seconds,
        (overhead.cpu_seconds - overhead.startup_cpu_seconds) / seconds,
        jobs / seconds,
    )


def _spread(values: list[float], unit: str) -> str:
    return f"{min(values):.4g} to {max(values):.4g} {unit} in {len(values)} runs"
