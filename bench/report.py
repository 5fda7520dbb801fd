"""What reports cost: HTML of 404 jobs on 4 nodes, 2 and 10 h at 1 Hz, and of up to 10,000 jobs; text of many.

A node has 75 series, and in the last of the long runs 395, about as many as mawl samples each second.

Each HTML report is made by a process of its own (``python -m bench.report FOLDER``), imports included, which
says its wall and CPU seconds, its peak memory and the size of the page.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Result, at_most, resources, sized, spread
from mawl.run.runner.sampling import MOST_SERIES
from tests.fakes.synthetic_run import write_synthetic_run

NAME = "report"
RUNS = sized(5, 1)
JOBS, NODES = sized((404, 4), (20, 2))
USUAL_SERIES, SERIES_A_DISK = 75, 8
MORE_DISKS = (MOST_SERIES - USUAL_SERIES) // SERIES_A_DISK
LONG_RUNS = sized(
    ((7200, 0, 5.0), (36_000, 0, 2.0), (36_000, MORE_DISKS, 10.0)),
    ((36, 0, 5.0), (72, 0, 10.0), (72, MORE_DISKS, 10.0)),
)
"""Seconds of a run, its further disks, and the seconds that its report may take."""
GROWTH = sized((1000, 3000, 10_000), (10, 30, 100))
MOST_BYTES, MOST_PAGE_BYTES = 500e6, 3e6
MANY_JOBS, MOST_TEXT_SECONDS, MOST_TEXT_BYTES = sized(100_000, 100), 20.0, 500e6


def run() -> list[Result]:
    """Wall time, memory and size of usual and of long reports; then wall time of larger ones."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        results = []
        for length, more_disks, most_seconds in LONG_RUNS:
            folder = Path(directory, f"{length} s, {more_disks} disks")
            write_run(folder, JOBS, length, more_disks)
            series = USUAL_SERIES + SERIES_A_DISK * more_disks
            results += _usual(folder, f"{length / 3600:g} h, {series} series a node", most_seconds)
            shutil.rmtree(folder)
        for jobs in GROWTH:
            grown = _made(write_synthetic_run(Path(directory, str(jobs)), jobs=jobs))
            detail = (
                f"{grown['memory_bytes'] / 1e6:.0f} MB of memory, page of {grown['page_bytes'] / 1e6:.2f} MB"
            )
            results.append(Result(f"report of {jobs} jobs", grown["seconds"], "s", "", None, detail))
        return [*results, *_text(Path(directory, "many"))]


def _usual(folder: Path, size_of_run: str, most_seconds: float) -> list[Result]:
    made = [_made(folder) for _ in range(RUNS)]
    seconds, cpu = ([figures[name] for figures in made] for name in ("seconds", "cpu_seconds"))
    memory, size = (max(figures[name] for figures in made) for name in ("memory_bytes", "page_bytes"))
    what = f"{JOBS} jobs, {NODES} nodes, {size_of_run} at 1 Hz, imports included"
    detail = f"{what}: {spread(seconds, 's')}, {spread(cpu, 'CPU s')}"
    return [
        at_most(f"report of {size_of_run}", statistics.median(seconds), "s", most_seconds, detail),
        at_most("peak memory of it", memory / 1e6, "MB", MOST_BYTES / 1e6, f"largest of {RUNS}"),
        at_most("size of it", size / 1e6, "MB", MOST_PAGE_BYTES / 1e6, "Bokeh's script included"),
    ]


def write_run(folder: Path, jobs: int, seconds: int, more_disks: int = 0) -> None:
    """A synthetic run, by another process: the peak of a command begins at the size of this one."""
    write = "import pathlib, tests.fakes.synthetic_run as fake; "
    write += f"fake.write_synthetic_run(pathlib.Path({str(folder)!r}), jobs={jobs}, nodes={NODES}, "
    write += f"seconds={seconds}, more_disks={more_disks})"
    subprocess.run([sys.executable, "-c", write], check=True)


def _text(folder: Path) -> list[Result]:
    """CPU seconds and peak memory of the report in text of very many jobs."""
    # By another process, since the peak of a command begins at the size of this one.
    write = "import pathlib, tests.fakes.many_jobs as fake; fake.write_many_jobs(pathlib.Path({!r}), {})"
    subprocess.run([sys.executable, "-c", write.format(str(folder), MANY_JOBS)], check=True)
    made = [resources([sys.executable, "-m", "mawl", "report", str(folder), "--all"]) for _ in range(RUNS)]
    seconds = [usage.ru_utime + usage.ru_stime for usage in made]
    memory = max(usage.ru_maxrss for usage in made) * 1024
    what = f"text of {MANY_JOBS} jobs that all differ"
    detail = f"imports included: {spread(seconds, 's')}"
    return [
        at_most(what, statistics.median(seconds), "CPU s", MOST_TEXT_SECONDS, detail),
        at_most("peak memory of it", memory / 1e6, "MB", MOST_TEXT_BYTES / 1e6, f"largest of {RUNS}"),
    ]


def _made(folder: Path) -> dict[str, float]:
    """What one report of a folder took, by a process of its own."""
    command = [sys.executable, "-m", "bench.report", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def main(folder: str) -> None:
    """Make one report and print what it took."""
    started = time.perf_counter()
    from mawl.advice.judge import judged
    from mawl.figures.view import StoredView
    from mawl.records.store import open_run
    from mawl.reports.html.report import render

    view = StoredView(open_run(folder))
    page = render(view, judged(view))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "memory_bytes": usage.ru_maxrss * 1024,
        "page_bytes": len(page.encode()),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
