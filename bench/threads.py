"""Each program alone with ``cpucount`` 1 and 2: real time, CPU time, and CPU over real time.

Each job is a separate process; the jobs of a pair alternate and read the same inputs (at ``SCALE``).
What the machine allows is measured with two independent jobs of one thread side by side.  Two processors
may share a core, a cache and a storage, so two such jobs do less than twice the work of one, and each uses
more CPU time.  A program with two threads is not expected to do better.
The rows are of real time, so run this on two idle processors.
As a script (``python -m bench.threads``) it is one job, whose assignment comes on standard input.
"""

from __future__ import annotations

import importlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from bench.harness import Result, alternate, at_least, at_most, spread
from mawl.datagen.generate import TableRequest, generate
from mawl.launch.setup import ONE_PASSIVE_THREAD
from mawl.model.messages import Assignment
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.scale import scaled_options
from mawl.programs.execute import execute
from mawl.spec.program_options import Options

NAME = "threads"
SCALE = 0.002
PAIRS = 5
PAIRS_SIDE_BY_SIDE = 3
SEED = 1
LEAST_GAIN = 1.6
PROGRAMS_WITH_IT = 12
MOST_CPU_RATIO = 1.1


class Figures(msgspec.Struct, frozen=True):
    """What one job took."""

    real_seconds: float
    cpu_seconds: float

    @property
    def busy(self) -> float:
        """CPU over real time."""
        return self.cpu_seconds / self.real_seconds


Together = tuple[Figures, ...]
"""Jobs of one thread that ran side by side."""


def run() -> list[Result]:
    """A row of gain and one of CPU for each program, and how many gain enough."""
    rows: list[Result] = []
    gains: dict[str, float] = {}
    for name in CATALOGUE:
        one, two, alone, pairs = _measured(name)
        gains[name] = _median(one, "real_seconds") / _median(two, "real_seconds")
        busy = [statistics.median(figures.busy for figures in figures_of) for figures_of in (one, two)]
        detail = (
            f"real {_median(one, 'real_seconds'):.2f} and {_median(two, 'real_seconds'):.2f} s, "
            f"CPU {_median(one, 'cpu_seconds'):.2f} and {_median(two, 'cpu_seconds'):.2f} s, "
            f"CPU/real {busy[0]:.2f} and {busy[1]:.2f}"
        )
        rows.append(Result(f"{name}: two threads", gains[name], "of the speed of one", "", None, detail))
        dearer = [second.cpu_seconds / first.cpu_seconds for first, second in zip(one, two, strict=True)]
        rows.append(
            at_most(
                f"{name}: CPU", statistics.median(dearer), "of one thread's", MOST_CPU_RATIO, spread(dearer)
            )
        )
        rows.append(_machine(name, alone, pairs))
    faster = sorted(name for name, gain in gains.items() if gain >= LEAST_GAIN)
    detail = ", ".join(faster) or "none"
    title = f"programs that two threads make {LEAST_GAIN} times as fast"
    return [*rows, at_least(title, len(faster), "programs", PROGRAMS_WITH_IT, detail)]


def _median(figures: list[Figures], name: str) -> float:
    return float(statistics.median(getattr(one, name) for one in figures))


def _machine(name: str, alone: list[Together], pairs: list[Together]) -> Result:
    """Work and CPU time of two independent jobs side by side, compared with one job alone."""
    work = [2 * _longest(one) / _longest(pair) for one, pair in zip(alone, pairs, strict=True)]
    each = [job.cpu_seconds for pair in pairs for job in pair]
    cpu = statistics.median(each) / statistics.median(job.cpu_seconds for one in alone for job in one)
    detail = f"CPU of each {cpu:.2f} of that alone; {spread(work)}"
    title = f"{name}: two jobs of one thread side by side"
    return Result(title, statistics.median(work), "of the work of one", "", None, detail)


def _longest(jobs: Together) -> float:
    return max(job.real_seconds for job in jobs)


def _measured(name: str) -> tuple[list[Figures], list[Figures], list[Together], list[Together]]:
    """Jobs of one thread and of two in turns; then jobs alone and pairs of jobs side by side in turns."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        inputs = {table.name: _table(table.name, Path(place)) for table in CATALOGUE[name].inputs}
        one, two = alternate(lambda: _job(name, 1, inputs), lambda: _job(name, 2, inputs), PAIRS)
        alone, pairs = alternate(
            lambda: _together(name, 1, inputs), lambda: _together(name, 2, inputs), PAIRS_SIDE_BY_SIDE
        )
        return one, two, alone, pairs


def _together(name: str, jobs: int, inputs: dict[str, str]) -> Together:
    with ThreadPoolExecutor(jobs) as pool:
        return tuple(pool.map(lambda _: _job(name, 1, inputs), range(jobs)))


def _table(name: str, place: Path) -> str:
    request = TableRequest(table=name, scale=SCALE, seed=SEED)
    processes = os.cpu_count() or 1
    made = generate([request], place, processes=processes, bufsize_bytes=Options().bufsize_bytes)
    return str(made[0].directory)


def _job(name: str, threads: int, inputs: dict[str, str]) -> Figures:
    """One job in a separate process, with the environment that the launcher gives."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        for role in ("work", "util"):
            Path(place, role).mkdir()
        assignment = Assignment(
            run_id="bench",
            job="job",
            program=name,
            scale=SCALE,
            seed=SEED,
            replica=0,
            options=scaled_options(Options(cpucount=threads), SCALE),
            inputs=inputs,
            results=f"{place}/results",
            work=[f"{place}/work"],
            util=[f"{place}/util"],
            log=f"{place}/log",
        )
        done = subprocess.run(
            [sys.executable, "-m", "bench.threads"],
            input=msgspec.json.encode(assignment),
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_PASSIVE_THREAD},
            check=True,
        )
    # Solvers print lines, too; the figures are the last.
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Figures)


def _cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _main() -> int:
    assignment = msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)
    for module in CATALOGUE[assignment.program].imports:
        importlib.import_module(module)
    used, began = _cpu_seconds(), time.monotonic()
    status = execute(assignment, lambda _: None)
    figures = Figures(time.monotonic() - began, _cpu_seconds() - used)
    sys.stdout.flush()
    print(msgspec.json.encode(figures).decode(), flush=True)
    return status


if __name__ == "__main__":
    status = _main()
    # Without interpreter teardown, as a job ends.
    os._exit(status)
