"""What mawl itself costs: its start-up, and each second of a run with 55 jobs side by side.

A second has two parts: the look at the jobs, and what has to be recorded of steps and jobs that ended in it.
Jobs without steps show the first alone (docs/design/launch.md has the account of both)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness import Result, at_most, sized
from mawl.base.errors import RunFailedError
from mawl.records.store import Run, open_run

NAME = "runner"

RUNS = sized(5, 1)
JOBS, LEAST_RUNNING = sized((55, 42), (16, 2))
"""Jobs side by side; a look counts if at least so many of them run."""
STARTUP_CPU_SECONDS = 4.0
LOOK_CPU_RATIO = 0.004
RUNNING_CPU_RATIO = 0.008
"""A look, and of programs that last 20 s side by side about 13 steps and half a job's end a second."""

LOOP = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done"
"""About half a CPU second of a shell, in one process that keeps its processor busy."""


def run() -> list[Result]:
    """Five runs each of 55 one-job sessions; the peer of mawl's own cost is the CPU time of the jobs."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        (place / "crowd.toml").write_text(_crowd())
        (place / "busy.toml").write_text(_busy())
        measured = [_once(place, "crowd.toml", LEAST_RUNNING) for _ in range(RUNS)]
        alone = [_once(place, "busy.toml", JOBS) for _ in range(RUNS)]
    startups, running, jobs = (list(column) for column in zip(*measured, strict=True))
    looks = [one[1] for one in alone]
    return [
        at_most(
            "own start-up",
            statistics.median(startups),
            "CPU s",
            STARTUP_CPU_SECONDS,
            f"interpreter, plan, inputs checked, launcher with all libraries; {_spread(startups, 'CPU s')}",
        ),
        at_most(
            f"looks at {JOBS} jobs",
            statistics.median(looks) * 1000,
            "CPU ms per s",
            LOOK_CPU_RATIO * 1000,
            "runner and launcher while nothing starts or ends: jobs without steps, one busy process each; "
            f"{_spread(looks, 'CPU s per s')}",
        ),
        at_most(
            f"running cost with {JOBS} jobs",
            statistics.median(running) * 1000,
            "CPU ms per s",
            RUNNING_CPU_RATIO * 1000,
            "runner and launcher from the first look to the last with most jobs running, with the records of "
            "the steps and jobs that end meanwhile; "
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


def _busy() -> str:
    """55 sessions of one job each: a shell that computes, without steps."""
    stage = f'stages = [[{{ command = ["sh", "-c", "{LOOP}"] }}]]'
    sessions = "".join(f'[[sessions]]\nname = "s{number}"\n{stage}\n' for number in range(1, JOBS + 1))
    return f'name = "busy"\n{sessions}'


def _once(place: Path, workload: str, least: int) -> tuple[float, float, float]:
    """Start-up CPU seconds; CPU seconds a second while ``least`` jobs run; the same of the jobs."""
    done = subprocess.run(
        [sys.executable, "-m", "mawl", "run", workload],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RunFailedError("a run under the bench failed", why=f"{done.stdout}{done.stderr}")
    found = open_run(place / "runs" / "latest")
    startup, seconds = found.facts.overhead.startup_cpu_seconds, found.facts.phases.run_seconds
    if startup is None or seconds is None:
        raise RunFailedError("a run under the bench has no account of mawl's own cost")
    jobs = sum(record.total.cpu_seconds or 0.0 for record in found.job_records())
    return startup, _running(found, least), jobs / seconds


def _running(found: Run, least: int) -> float:
    """The slope of mawl's own CPU time from the first look to the last with so many jobs running."""
    rows = [row for row in found.samples.to_pylist() if row["series"] in ("mawl_cpu_seconds", "jobs_running")]
    crowded = {row["sampled_at"] for row in rows if row["series"] == "jobs_running" and row["value"] >= least}
    own = [
        (row["sampled_at"], row["value"])
        for row in rows
        if row["series"] == "mawl_cpu_seconds" and row["sampled_at"] in crowded
    ]
    (first_at, first), (last_at, last) = own[0], own[-1]
    return float((last - first) / (last_at - first_at).total_seconds())


def _spread(values: list[float], unit: str) -> str:
    return f"{min(values):.4g} to {max(values):.4g} {unit} in {len(values)} runs"
