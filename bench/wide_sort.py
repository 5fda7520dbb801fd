"""What measuring, checks and steps cost wide_sort at ``quick``: their share of its CPU.

Runs with and without checks differ by less than two runs of the same do, so the share is counted
inside the job: thread CPU time around each check and each snapshot, plus the step ``verify``.
As a script (``python -m bench.wide_sort INPUT PLACE``) it is that job, and prints its figures.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness import Result, at_most, spread
from mawl.datagen.generate import TableRequest, generate
from mawl.measure import step as step_module
from mawl.measure.snapshot import Snapshots
from mawl.model.messages import Assignment, FromLauncher, StepEnded
from mawl.model.options import Options
from mawl.plan.scale import SCALES, scaled_options
from mawl.programs.checks import RowSample, StrictOrder, TableSum
from mawl.programs.execute import execute
from mawl.tables import arrow

NAME = "wide_sort"
RUNS = 5
SCALE = SCALES["quick"]
BOUND_RATIO = 0.01
SEED = 1


def run() -> list[Result]:
    """The row: checks, steps and measuring as a share of the job's CPU, median of RUNS jobs."""
    shares, totals = [], []
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        inputs = Path(place, "inputs")
        inputs.mkdir()
        processes = os.cpu_count() or 1
        request = TableRequest(table="transactions", scale=SCALE, seed=SEED)
        made = generate([request], inputs, processes=processes, bufsize_bytes=Options().bufsize_bytes)
        for number in range(RUNS + 1):
            figures = _job(made[0].directory, Path(place, f"job-{number}"))
            # The first run fills caches and compiles modules.
            if number:
                shares.append(figures["counted_seconds"] / figures["cpu_seconds"])
                totals.append(figures["cpu_seconds"])
    detail = (
        f"{spread(shares)}; the job took {spread(totals, 'CPU s')} on {made[0].manifest.bytes / 1e6:.0f} MB"
    )
    return [
        at_most(
            "wide_sort at quick: checks, steps, measuring",
            statistics.median(shares),
            "of its CPU",
            BOUND_RATIO,
            detail,
        )
    ]


def _job(table: Path, place: Path) -> dict[str, float]:
    """One job in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.wide_sort", str(table), str(place)],
        stdout=subprocess.PIPE,
        env=environment,
        check=True,
    )
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


class _Counter:
    """CPU time of the calls it was wrapped around; calls inside such a call are in it already."""

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.calls = 0
        self._inside = False

    def wrap(self, owner: Any, name: str) -> None:
        """Count a function or method from now on."""
        inner: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(inner)
        def counted(*arguments: Any, **options: Any) -> Any:
            if self._inside:
                return inner(*arguments, **options)
            self._inside = True
            start = time.thread_time_ns()
            try:
                return inner(*arguments, **options)
            finally:
                self.nanoseconds += time.thread_time_ns() - start
                self.calls += 1
                self._inside = False

        setattr(owner, name, counted)


def _counting_nanoseconds() -> float:
    """What counting adds to one counted call: the clock's own cost."""

    class Nothing:
        @staticmethod
        def at_all() -> None:
            """The shortest call there is."""

    counter = _Counter()
    counter.wrap(Nothing, "at_all")
    nothing: Callable[[], None] = Nothing.__dict__["at_all"]
    for _ in range(20_000):
        nothing()
    return counter.nanoseconds / counter.calls


def _measured_job(table: Path, place: Path) -> dict[str, float]:
    directories = {role: place / role for role in ("work", "util")}
    for directory in directories.values():
        directory.mkdir(parents=True)
    assignment = Assignment(
        run_id="bench",
        job="job",
        program="wide_sort",
        scale=SCALE,
        seed=SEED,
        replica=0,
        options=scaled_options(Options(), SCALE),
        inputs={"transactions": str(table)},
        results=str(place / "results"),
        work=[str(directories["work"])],
        util=[str(directories["util"])],
        log=str(place / "log"),
    )
    counter = _Counter()
    for owner, name in (
        (TableSum, "add"),
        (arrow, "_sum"),
        (arrow, "_sum_as_read"),
        (StrictOrder, "add"),
        (StrictOrder, "close"),
        (RowSample, "add"),
    ):
        counter.wrap(owner, name)
    counter.wrap(Snapshots, "take")
    counter.wrap(step_module, "reset_peak")
    verify_seconds = 0.0

    def report(message: FromLauncher) -> None:
        nonlocal verify_seconds
        if isinstance(message, StepEnded) and message.step.kind == "verify":
            verify_seconds += message.step.usage.cpu_seconds or 0.0

    before = time.process_time()
    status = execute(assignment, report)
    if status != 0:
        raise SystemExit(status)
    cpu_seconds = time.process_time() - before
    counted_seconds = (counter.nanoseconds - counter.calls * _counting_nanoseconds()) / 1e9
    return {
        "cpu_seconds": cpu_seconds,
        "counted_seconds": counted_seconds + verify_seconds,
        "verify_seconds": verify_seconds,
    }


if __name__ == "__main__":
    print(json.dumps(_measured_job(Path(sys.argv[1]), Path(sys.argv[2]))))
