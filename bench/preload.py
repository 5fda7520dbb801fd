"""What counting I/O by role costs: one byte, 256 KiB, an out-of-core sort, and a look at 60 jobs."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.harness import Result, alternate, at_most, cpu_seconds, ratio, spread
from mawl.errors import UnsuitableMachineError
from mawl.measure.preload.build import find_compiler, library
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create, live_words
from mawl.model.options import ROLES

NAME = "preload"

CALL_TARGET_NANOSECONDS = 150
REQUEST_TARGET_RATIO = 1.01
SORT_TARGET_RATIO = 1.01
LOOK_TARGET_MILLISECONDS = 1.0

_RUNS = 9
_LOOKED_AT_JOBS = 60

_PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
/* Calls of SIZE bytes, reads or writes, in CPU nanoseconds each: the best of several rounds. */
int main(int count, char **arguments) {
    size_t size = strtoul(arguments[2], 0, 10);
    long calls = strtol(arguments[3], 0, 10), least = -1;
    int write = arguments[4][0] == 'w', fd = open(arguments[1], O_RDWR | O_CREAT, 0600);
    char *buffer = calloc(1, size);
    (void)count;
    /* At 256 KiB this is more than a processor's cache holds, as tables are. */
    for (int slot = 0; slot < 1024; slot++)
        if (pwrite(fd, buffer, size, slot * size) < 0) return 1;
    for (int round = 0; round < 9; round++) {
        struct timespec from, to;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        for (long call = 0; call < calls; call++) {
            off_t at = (call & 1023) * size;
            if ((write ? pwrite(fd, buffer, size, at) : pread(fd, buffer, size, at)) < 0) return 1;
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        long spent = (to.tv_sec - from.tv_sec) * 1000000000l + to.tv_nsec - from.tv_nsec;
        if (least < 0 || spent < least) least = spent;
    }
    printf("%.3f\n", (double)least / calls);
    return 0;
}
"""

_SORT = """
import duckdb, sys
connection = duckdb.connect(config={"memory_limit": "80MB", "temp_directory": sys.argv[1], "threads": 1})
connection.sql("SET preserve_insertion_order = false")
connection.sql("CREATE TABLE t AS SELECT hash(i) h, i, i::VARCHAR || 'filler' s FROM range(4_000_000) r(i)")
connection.sql("SELECT sum(i) FROM (SELECT * FROM t ORDER BY h) WHERE i % 2 = 0").fetchall()
"""


def run() -> list[Result]:
    """The rows of this module; a sentence where there is no compiler."""
    made = library(os.environ)
    compiler = find_compiler(os.environ)
    if made.path is None or compiler is None:
        raise UnsuitableMachineError("the cost of counting cannot be measured", why=made.reason)
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as name:
        folder = Path(name)
        source, program = folder / "calls.c", folder / "calls"
        source.write_text(_PROGRAM)
        subprocess.run([compiler, "-O2", str(source), "-o", str(program)], check=True)
        counters = folder / "counters"
        counters.mkdir()
        create(counters / "job", {role: [folder / role] for role in ROLES})
        for role in ROLES:
            (folder / role).mkdir()
        counting = {**made.environment(os.environ), COUNTERS_VARIABLE: str(counters / "job")}
        return [
            _one_byte(program, folder, counting),
            *(_request(program, folder, counting, way) for way in ("read", "write")),
            *_sort(folder, counting),
            _look(folder),
        ]


def _nanoseconds(command: Sequence[str], environment: dict[str, str]) -> float:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _sides(
    program: Path, folder: Path, counting: dict[str, str], size: int, calls: int, way: str
) -> tuple[list[float], list[float]]:
    """CPU nanoseconds of a call, counted and not, in turns."""
    command = [str(program), str(folder / "data" / "file"), str(size), str(calls), way]
    return alternate(
        lambda: _nanoseconds(command, counting), lambda: _nanoseconds(command, dict(os.environ)), _RUNS
    )


def _one_byte(program: Path, folder: Path, counting: dict[str, str]) -> Result:
    ours, peer = _sides(program, folder, counting, 1, 100_000, "read")
    added = statistics.median(ours) - statistics.median(peer)
    detail = f"pread of one byte: counted {spread(ours, 'ns')}, not {spread(peer, 'ns')}"
    return at_most("counted one-byte read, added", added, "ns", CALL_TARGET_NANOSECONDS, detail)


def _request(program: Path, folder: Path, counting: dict[str, str], way: str) -> Result:
    ours, peer = _sides(program, folder, counting, 256 * 1024, 1024, way)
    value, pairs = ratio(ours, peer)
    detail = f"counted {spread(ours, 'ns')}, not {spread(peer, 'ns')}; {pairs}"
    return at_most(f"counted 256 KiB {way} / not", value, "x CPU", REQUEST_TARGET_RATIO, detail)


def _sort(folder: Path, counting: dict[str, str]) -> list[Result]:
    """An out-of-core sort, against itself alone and under ``strace -c`` where that is installed."""
    command = [sys.executable, "-c", _SORT, str(folder / "util")]

    def counted() -> float:
        return cpu_seconds(command, counting)

    peers: list[tuple[str, Callable[[], float]]] = [("not", lambda: cpu_seconds(command))]
    if shutil.which("strace"):
        traced = ["strace", "-f", "-c", "-o", "/dev/null", *command]
        peers.append(("under strace -c", lambda: cpu_seconds(traced)))
    rows = []
    for name, peer in peers:
        ours, others = alternate(counted, peer, _RUNS)
        value, pairs = ratio(ours, others)
        detail = f"counted {spread(ours, 'CPU s')}, {name} {spread(others, 'CPU s')}; {pairs}"
        rows.append(at_most(f"counted DuckDB sort / {name}", value, "x CPU", SORT_TARGET_RATIO, detail))
    return rows


def _look(folder: Path) -> Result:
    """The runner's look at the counters of many jobs, two shards of each in use."""
    files = []
    for job in range(_LOOKED_AT_JOBS):
        path = folder / "counters" / f"look{job}"
        create(path, {role: [folder / role] for role in ROLES})
        with path.open("r+b") as file:
            file.seek(2 * 8)  # the bit map of shards in use
            file.write((3).to_bytes(8, "little"))
        files.append(CounterFile(path))
    figures = []
    for _ in range(20):
        began = time.process_time()
        live_words(sum(file.live() for file in files))
        figures.append((time.process_time() - began) * 1000)
    detail = f"{_LOOKED_AT_JOBS} jobs: {spread(figures, 'CPU ms')}"
    return at_most("look at counters", statistics.median(figures), "CPU ms", LOOK_TARGET_MILLISECONDS, detail)
