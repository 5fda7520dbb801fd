"""What a comparison costs: five runs against five of mixed20's size, from their folders to text."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.harness import Result, at_most, cpu_seconds, sized, spread
from mawl.records.model.records import SampleRecord
from mawl.records.store.folder import RunWriter
from tests.fakes.compared_runs import COMPLETED
from tests.fakes.measured_run import IDLE
from tests.fakes.stored_run import START, facts, job, planned

NAME = "compare"
JOBS, SECONDS = sized((71, 60), (5, 10))
RUNS = 5
TIMES = sized(5, 1)
MOST_SECONDS = 2.0


def run() -> list[Result]:
    """CPU of the whole command, interpreter included; medians of five."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        sides = [Path(directory, name) for name in ("before", "after")]
        for place in range(2 * RUNS):
            _write(sides[place % 2] / f"run-{place}", place)
        command = [sys.executable, "-m", "mawl", "compare", *map(str, sides)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        figures = [cpu_seconds(command) for _ in range(TIMES)]
    middle = sorted(figures)[TIMES // 2]
    detail = f"{2 * RUNS} runs of {JOBS} jobs and {SECONDS} s of samples: {spread(figures, 'CPU s')}"
    return [at_most("compare five runs with five", middle, "CPU s", MOST_SECONDS, detail)]


def _write(folder: Path, number: int) -> None:
    """A run of synthetic jobs, a little different in each."""
    names = [f"s{at}-1" for at in range(JOBS)]
    some = facts(
        **{
            **COMPLETED,
            "run_id": folder.name,
            "started_at": START + 100.0 * number,
            "planned_jobs": [planned(name) for name in names],
        }
    )
    writer = RunWriter(folder, some)
    for at, name in enumerate(names):
        writer.job(job(name, 0.0, 20.0 + at % 20 + number / 10))
    for second in range(SECONDS):
        writer.samples(
            [
                SampleRecord(
                    node="bench1", sampled_at=START + second, series=series, value=_value(rate, second)
                )
                for series, rate in IDLE.items()
            ]
        )
    writer.finish(some)


def _value(rate: object, second: int) -> float:
    return float(rate) * second if isinstance(rate, int | float) else float(second)
