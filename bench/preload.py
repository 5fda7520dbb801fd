"""What counting I/O by role costs: one byte, 256 KiB, an out-of-core sort, and a look at 60 jobs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.harness import Result, alternate, at_most, cpu_seconds, ratio, sized, spread
from mawl.base.errors import UnsuitableMachineError
from mawl.measure.preload.build import library
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile, create, live_words
from mawl.records.compiled import find_compiler
from mawl.records.spec.program_options import ROLES
from mawl.run.runner.counting import SHARED_MEMORY

NAME = "preload"

CALL_TARGET_NANOSECONDS = 150
REQUEST_TARGET_RATIO = 1.01
SORT_TARGET_RATIO = 1.01
LOOK_TARGET_MILLISECONDS = 1.0

_CALLS = Path(__file__).with_name("calls.c")
_RUNS = sized(9, 1)
_TRACED_RUNS = sized(5, 1)
_ROUNDS_OF_SORTS = sized(10, 1)
_SORTED_ROWS = sized(4_000_000, 400_000)
_LOOKED_AT_JOBS = 60

_SORT = f"""
import duckdb, sys
connection = duckdb.connect(config={{"memory_limit": "80MB", "temp_directory": sys.argv[1], "threads": 1}})
connection.sql("SET preserve_insertion_order = false")
rows = "SELECT hash(i) h, i, i::VARCHAR || 'filler' s FROM range({_SORTED_ROWS}) r(i)"
connection.sql(f"CREATE TABLE t AS {{rows}}")
connection.sql("SELECT sum(i) FROM (SELECT * FROM t ORDER BY h) WHERE i % 2 = 0").fetchall()
"""

_COPIES = f"""
import ctypes, duckdb, os, sys
attach = ctypes.CDLL(None).mawl_counters_attach
def job(counted):
    pid = os.fork()
    if pid == 0:
        if counted and attach(os.fsencode(sys.argv[3])) != 0:
            os._exit(1)
        exec({_SORT!r}, {{}})
        os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit("a copy failed")
    return usage.ru_utime + usage.ru_stime
job(0), job(1)
for number in range(4 * int(sys.argv[2])):
    side = number.bit_count() & 1
    print(side, job(side), flush=True)
"""


def run() -> list[Result]:
    """The rows of this module; a sentence where there is no compiler."""
    made = library(os.environ)
    compiler = find_compiler(os.environ)
    if made.path is None or compiler is None:
        raise UnsuitableMachineError("the cost of counting cannot be measured", why=made.reason)
    # Counters lie in memory, as those of a run do: on a disk a page costs each time that it gets dirty.
    memory = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with (
        tempfile.TemporaryDirectory(prefix="mawl-bench-") as name,
        tempfile.TemporaryDirectory(prefix="mawl-bench-", dir=memory) as counters,
    ):
        folder, job = Path(name), Path(counters, "job")
        program = folder / "calls"
        subprocess.run([compiler, "-O2", str(_CALLS), "-o", str(program), "-ldl"], check=True)
        create(job, {role: [folder / role] for role in ROLES})
        for role in ROLES:
            (folder / role).mkdir()
        counting = {**made.environment(os.environ), COUNTERS_VARIABLE: str(job)}
        return [
            *_one_byte(program, folder, counting),
            *(row for way in ("read", "write") for row in _request(program, folder, counting, way)),
            _sort(folder, counting),
            *_traced_sort(folder, counting),
            _look(folder, Path(counters)),
        ]


def _sides(
    program: Path, folder: Path, counting: dict[str, str], size: int, turns: tuple[int, int], way: str
) -> tuple[list[float], list[float]]:
    """CPU nanoseconds of a call, counted and not, of each of some processes that make both in turns.

    Two processes differ by more than the library costs: where their memory lies, and what else ran.
    ``turns``: calls one after the other, and rounds of four such turns.
    """
    command = [str(program), str(folder / "data" / "file"), str(size), *map(str, turns), way]
    figures: tuple[list[float], list[float]] = ([], [])
    for _ in range(_RUNS):
        done = subprocess.run(command, env=counting, capture_output=True, text=True, check=True)
        for side, figure in zip(figures, done.stdout.split(), strict=True):
            side.append(float(figure))
    return figures


def _traced(
    title: str, added: float, program: Path, folder: Path, size: int, calls: int, way: str
) -> list[Result]:
    """Nanoseconds that counting adds to a call over those that ``strace -c`` adds, its own CPU with them."""
    command = [str(program), str(folder / "data" / "file"), str(size), str(calls), "1", way]
    traced = ["strace", "-f", "-c", "-o", "/dev/null", *command]
    ours, others = alternate(lambda: cpu_seconds(command), lambda: cpu_seconds(traced), _TRACED_RUNS)
    of_strace = (statistics.median(others) - statistics.median(ours)) / (4 * calls) * 1e9
    detail = f"added to a call: counting {added:.4g} ns, strace -c {of_strace:.4g} ns"
    return [at_most(f"{title}, added / by strace -c", added / of_strace, "x CPU", 1.0, detail)]


def _one_byte(program: Path, folder: Path, counting: dict[str, str]) -> list[Result]:
    ours, peer = _sides(program, folder, counting, 1, (5000, 20), "read")
    added = statistics.median(mine - other for mine, other in zip(ours, peer, strict=True))
    detail = f"pread of one byte: counted {spread(ours, 'ns')}, not {spread(peer, 'ns')}"
    row = at_most("counted one-byte read, added", added, "ns", CALL_TARGET_NANOSECONDS, detail)
    return [row, *_traced("counted one-byte read", added, program, folder, 1, 2000, "read")]


def _request(program: Path, folder: Path, counting: dict[str, str], way: str) -> list[Result]:
    ours, peer = _sides(program, folder, counting, 256 * 1024, (128, 128), way)
    value, pairs = _median_pair(ours, peer)
    detail = f"counted {spread(ours, 'ns')}, not {spread(peer, 'ns')}; {pairs}"
    title = f"counted 256 KiB {way}"
    row = at_most(f"{title} / not", value, "x CPU", REQUEST_TARGET_RATIO, detail)
    added = statistics.median(mine - other for mine, other in zip(ours, peer, strict=True))
    return [row, *_traced(title, added, program, folder, 256 * 1024, 1000, way)]


def _median_pair(ours: Sequence[float], peer: Sequence[float]) -> tuple[float, str]:
    pairs = [mine / other for mine, other in zip(ours, peer, strict=True)]
    return statistics.median(pairs), ratio(ours, peer)[1]


def _sort(folder: Path, counting: dict[str, str]) -> Result:
    """An out-of-core sort in copies of one process that has DuckDB imported, as a run makes its jobs."""
    inert = {name: value for name, value in counting.items() if name != COUNTERS_VARIABLE}
    counters = counting[COUNTERS_VARIABLE]
    command = [sys.executable, "-c", _COPIES, str(folder / "util"), str(_ROUNDS_OF_SORTS), counters]
    done = subprocess.run(command, env=inert, capture_output=True, text=True, check=True)
    sides: tuple[list[float], list[float]] = ([], [])
    for line in done.stdout.splitlines():
        side, seconds = line.split()
        sides[int(side)].append(float(seconds))
    peer, ours = sides
    value, pairs = ratio(ours, peer)
    detail = f"copies of one process: counted {spread(ours, 'CPU s')}, not {spread(peer, 'CPU s')}; {pairs}"
    return at_most("counted DuckDB sort / not", value, "x CPU", SORT_TARGET_RATIO, detail)


def _traced_sort(folder: Path, counting: dict[str, str]) -> list[Result]:
    """The same in whole processes, compared with one under ``strace -c``."""
    command = [sys.executable, "-c", _SORT, str(folder / "util")]
    traced = ["strace", "-f", "-c", "-o", "/dev/null", *command]
    ours, others = alternate(
        lambda: cpu_seconds(command, counting), lambda: cpu_seconds(traced), _TRACED_RUNS
    )
    value, pairs = ratio(ours, others)
    detail = f"counted {spread(ours, 'CPU s')}, under strace -c {spread(others, 'CPU s')}; {pairs}"
    return [at_most("counted DuckDB sort / under strace -c", value, "x CPU", SORT_TARGET_RATIO, detail)]


def _look(folder: Path, counters: Path) -> Result:
    """The runner's look at the counters of many jobs, two shards of each in use."""
    files = []
    for job in range(_LOOKED_AT_JOBS):
        path = counters / f"look{job}"
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
