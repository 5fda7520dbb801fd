"""What deriving a workload of logs costs: 2,000 logs, from files to the derived folder.

``mawl derive`` runs as a process of its own; elapsed time and memory include its start and its imports.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.harness import Result, at_most, sized, spread
from bench.saslog import write_log

NAME = "derive"
RUNS = sized(3, 1)
FILES = sized(2000, 20)
FILE_BYTES = 20_000
MOST_SECONDS = 60.0
MOST_BYTES = 600e6


def run() -> list[Result]:
    """Elapsed seconds and peak memory; each run is checked to have every job."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as directory:
        logs = Path(directory, "logs")
        logs.mkdir()
        for number in range(FILES):
            write_log(logs / f"load{number}.log", FILE_BYTES, 0)
        made = [_derived(logs, Path(directory, f"shop-{number}")) for number in range(RUNS)]
    seconds = [one for one, _ in made]
    memory = max(peak for _, peak in made)
    detail = f"{FILE_BYTES // 1000} kB each: {spread(seconds, 's')}"
    return [
        at_most(f"derive {FILES} logs", statistics.median(seconds), "s", MOST_SECONDS, detail),
        at_most("peak memory, derive", memory / 1e6, "MB", MOST_BYTES / 1e6, f"largest of {RUNS}"),
    ]


def _derived(logs: Path, folder: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "mawl", "derive", str(logs), "--output", str(folder)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert said.split()[:3] == ["derived", str(FILES), "jobs"], said[:200]
    return time.monotonic() - began, usage.ru_maxrss * 1024.0
