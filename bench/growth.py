"""How CPU time and memory of commands grow where their input grows tenfold, twice.

The figure is how many times as much CPU the second tenfold adds as the first: 10 where costs are
proportional, 13 where they grow with n log n from a hundred things on.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.harness import Result, at_most, resources, sized
from bench.report import write_run
from bench.saslog import write_log
from tests.fakes.nightly_logs import nightly

NAME = "growth"
JOBS = sized((300, 3_000, 30_000), (5, 10, 20))
LOGS = sized((20, 200, 2_000), (2, 4, 8))
NIGHTS = sized((36, 365, 3_650), (2, 4, 8))
RUNS = sized((10, 100, 1_000), (2, 4, 8))
RUNS_EACH = sized((3, 3, 1), (1, 1, 1))
"""By size: small inputs differ by little more than two starts do."""
_NUMBERS = itertools.count()
START_SECONDS = 0.1
"""How far the CPU seconds of two starts of one command lie apart: less is no growth."""
LOG_BYTES, SECONDS = 20_000, 600
MOST_GROWTH = sized(15.0, 1e6)


def run() -> list[Result]:
    """A row for each command."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        place = Path(directory)
        parts = {"jobs": _of_jobs, "logs": _of_logs, "nights": _of_nights, "runs": _of_runs}
        return [row for name, part in parts.items() for row in part(place / name)]


def _of_jobs(place: Path) -> list[Result]:
    """Commands over one run of many jobs."""
    folders = {jobs: place / f"run-{jobs}" for jobs in JOBS}
    for jobs, folder in folders.items():
        write_run(folder, jobs, SECONDS)
    commands: dict[str, Callable[[int], Sequence[object]]] = {
        "report": lambda jobs: ["report", folders[jobs], "--all"],
        "report --format html": lambda jobs: ["report", folders[jobs], "--format", "html"],
        "report --format json": lambda jobs: ["report", folders[jobs], "--format", "json"],
        "compare": lambda jobs: ["compare", folders[jobs], folders[jobs], "--anyway"],
        "pack": lambda jobs: [
            "pack",
            folders[jobs],
            "--division",
            "open",
            "--output",
            _new(place, jobs, ".zip"),
        ],
        "validate": lambda jobs: ["validate", "--trusted", next(place.glob(f"{jobs}-*.zip"))],
    }
    return [_row(name, "jobs", JOBS, words) for name, words in commands.items()]


def _of_logs(place: Path) -> list[Result]:
    """Commands over many SAS logs."""
    for logs in LOGS:
        (place / f"{logs}").mkdir(parents=True)
        for number in range(logs):
            write_log(place / f"{logs}" / f"load{number}.log", LOG_BYTES, 0)
    return [
        _row("import", "logs", LOGS, lambda logs: ["import", place / f"{logs}", "--runs", place / "made"]),
        _row(
            "derive",
            "logs",
            LOGS,
            lambda logs: ["derive", place / f"{logs}", "--output", _new(place / "d", logs)],
        ),
    ]


def _of_nights(place: Path) -> list[Result]:
    """Commands over the SAS logs of many nights, of fourteen programs each."""
    for nights in NIGHTS:
        nightly(place / f"logs{nights}", datetime(2016, 1, 1, 22), nights, zone=UTC)
    return [
        _row(
            "import of nights",
            "nights",
            NIGHTS,
            lambda nights: ["import", place / f"logs{nights}", "--output", _new(place / "night", nights)],
        ),
        _row(
            "history",
            "nights",
            NIGHTS,
            lambda nights: ["history", next((place / "night").glob(f"{nights}-*"))],
        ),
    ]


def _of_runs(place: Path) -> list[Result]:
    """The first page of a library of many runs, and the next."""
    # Here, since the peak memory of a command begins at the size of this process.
    from tests.fakes.served_runs import copies, finished

    for runs in RUNS:
        (place / f"{runs}").mkdir(parents=True)
        copies(finished(place / f"{runs}", "run"), runs - 1)
    read = "import sys, pathlib; from bench.library import pages; pages(pathlib.Path(sys.argv[1]))"
    return [_row("serve", "runs", RUNS, lambda runs: [place / f"{runs}"], program=("-c", read))]


def _new(place: Path, size: int, suffix: str = "") -> Path:
    """A path that no command of a row had yet."""
    place.mkdir(exist_ok=True)
    return place / f"{size}-{next(_NUMBERS)}{suffix}"


def _row(
    name: str,
    things: str,
    sizes: Sequence[int],
    words: Callable[[int], Sequence[object]],
    program: Sequence[str] = ("-m", "mawl"),
) -> Result:
    """The row of one command: CPU seconds and peak memory of its process, of the run in the middle."""
    statuses = (0, 1) if name == "validate" else (0,)  # a made-up run need not be valid

    def of_size(size: int) -> tuple[float, float]:
        usage = resources([sys.executable, *program, *map(str, words(size))], statuses=statuses)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    made = [
        statistics.median_low([of_size(size) for _ in range(runs)])
        for size, runs in zip(sizes, RUNS_EACH, strict=True)
    ]
    cpu, memory = zip(*made, strict=True)
    detail = "; ".join(
        f"{size:,} {things}: {seconds:.2f} CPU s, {megabytes:.0f} MiB"
        for size, seconds, megabytes in zip(sizes, cpu, memory, strict=True)
    )
    growth = (cpu[2] - cpu[1]) / max(cpu[1] - cpu[0], START_SECONDS)
    return at_most(f"mawl {name}", growth, "times", MOST_GROWTH, detail)
