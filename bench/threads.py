"""Each program with ``cpucount`` 1 and 2, alone and on a crowded machine: real time and CPU time.

Each job is a separate process; all of a scale read the same inputs.  The bench takes about 50 minutes, and up
to 19 GB below the directory for temporary files (TMPDIR).
First jobs alone at ``GAIN_SCALE``, where steps have work to share, with one thread and two in turns.  Then
rounds at ``CROWD_SCALE``: one job alone, then a crowd, as many jobs side by side as there are processors.
Rounds of one thread and of two alternate.

- The gain is the real time of a job of one thread alone, divided by that of a job of two threads alone.
  What the machine allows is measured with the crowd of one thread: two processors may share a core, a cache
  and a storage, so two such jobs do less than twice the work of one, and each uses more CPU time.  A program
  with two threads is not expected to do better.
- The bound on CPU time is for the crowd: CPU seconds of all its jobs with two threads each, divided by those
  of all its jobs with one thread each.  Both crowds keep all processors busy and share their caches, so the
  quotient is what the second thread costs.  For a job alone the quotient also holds what the processors lose
  by sharing, since its one thread has the cache and the memory to itself; that row has no bound.

The rows of real time need idle processors.
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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from bench.harness import Result, alternate, at_least, at_most, sized, spread
from mawl.base.process import importing
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.spec import scaled_options
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.programs.execute import execute
from mawl.records.model.messages import Assignment
from mawl.records.spec.program_options import Options
from mawl.run.launch.setup import ONE_PASSIVE_THREAD

NAME = "threads"
GAIN_SCALE, CROWD_SCALE = sized((0.03, 0.01), (0.0005, 0.0005))
PAIRS = sized(3, 1)
PROGRAMS = sized(tuple(CATALOGUE), ("segmentation",))
SEED = 1
LEAST_GAIN = 1.6
PROGRAMS_WITH_IT = 12
MOST_CPU_RATIO = 1.1


Measured = TypeVar("Measured")


class Figures(msgspec.Struct, frozen=True):
    """What one job took."""

    real_seconds: float
    cpu_seconds: float

    @property
    def busy(self) -> float:
        """CPU over real time."""
        return self.cpu_seconds / self.real_seconds


class Round(msgspec.Struct, frozen=True):
    """Jobs of a program with one number of threads: one alone, then a crowd of them side by side."""

    alone: Figures
    crowd: tuple[Figures, ...]

    @property
    def crowd_cpu_seconds(self) -> float:
        """CPU time of all jobs of the crowd."""
        return sum(job.cpu_seconds for job in self.crowd)

    @property
    def crowd_work(self) -> float:
        """What the crowd did in its time, compared with one job alone in the same time."""
        return len(self.crowd) * self.alone.real_seconds / max(job.real_seconds for job in self.crowd)


def run() -> list[Result]:
    """Four rows for each program, and how many programs gain enough."""
    rows: list[Result] = []
    gains: dict[str, float] = {}
    for name in PROGRAMS:
        one, two = _in_turns(name, GAIN_SCALE, _job)
        gains[name] = gain(one, two)
        rows += [gain_row(name, one, two), *crowd_rows(name, *_in_turns(name, CROWD_SCALE, _round))]
    faster = sorted(name for name, gained in gains.items() if gained >= LEAST_GAIN)
    detail = ", ".join(faster) or "none"
    title = f"programs that two threads make {LEAST_GAIN} times as fast"
    return [*rows, at_least(title, len(faster), "programs", PROGRAMS_WITH_IT, detail)]


def gain(one: Sequence[Figures], two: Sequence[Figures]) -> float:
    """The real time of a job of one thread alone, divided by that of one of two threads (medians)."""
    return _median(one, "real_seconds") / _median(two, "real_seconds")


def gain_row(name: str, one: Sequence[Figures], two: Sequence[Figures]) -> Result:
    """The row of a program's gain, from jobs of one thread and of two, as they alternated."""
    detail = (
        f"real {_median(one, 'real_seconds'):.2f} and {_median(two, 'real_seconds'):.2f} s, "
        f"CPU {_median(one, 'cpu_seconds'):.2f} and {_median(two, 'cpu_seconds'):.2f} s, "
        f"CPU/real {_median(one, 'busy'):.2f} and {_median(two, 'busy'):.2f}"
    )
    return Result(f"{name}: two threads", gain(one, two), "of the speed of one", "", None, detail)


def crowd_rows(name: str, one: Sequence[Round], two: Sequence[Round]) -> list[Result]:
    """The rows of a program, from its rounds of one thread and of two, as they alternated."""
    pairs = list(zip(one, two, strict=True))
    alone = [second.alone.cpu_seconds / first.alone.cpu_seconds for first, second in pairs]
    crowd = [second.crowd_cpu_seconds / first.crowd_cpu_seconds for first, second in pairs]
    unit = "of one thread's"
    crowded = f"{name}: CPU on a crowded machine"
    return [
        at_most(crowded, statistics.median(crowd), unit, MOST_CPU_RATIO, spread(crowd)),
        Result(f"{name}: CPU alone", statistics.median(alone), unit, "", None, spread(alone)),
        _machine(name, one),
    ]


def _median(jobs: Sequence[Figures], name: str) -> float:
    return float(statistics.median(getattr(job, name) for job in jobs))


def _machine(name: str, one: Sequence[Round]) -> Result:
    """Work and CPU time of independent jobs of one thread side by side, compared with one job alone."""
    work = [each.crowd_work for each in one]
    jobs = len(one[0].crowd)
    cpu = statistics.median(each.crowd_cpu_seconds / jobs / each.alone.cpu_seconds for each in one)
    detail = f"CPU of each {cpu:.2f} of that alone; {spread(work)}"
    title = f"{name}: {jobs} jobs of one thread side by side"
    return Result(title, statistics.median(work), "of the work of one", "", None, detail)


def _in_turns(
    name: str, scale: float, measure: Callable[[str, float, int, dict[str, str]], Measured]
) -> tuple[list[Measured], list[Measured]]:
    """What is measured with one thread and with two, in turns."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        inputs = {table.name: _table(table.name, scale, Path(place)) for table in CATALOGUE[name].inputs}
        return alternate(
            lambda: measure(name, scale, 1, inputs), lambda: measure(name, scale, 2, inputs), PAIRS
        )


def _round(name: str, scale: float, threads: int, inputs: dict[str, str]) -> Round:
    jobs = len(os.sched_getaffinity(0))
    alone = _job(name, scale, threads, inputs)
    with ThreadPoolExecutor(jobs) as pool:
        return Round(alone, tuple(pool.map(lambda _: _job(name, scale, threads, inputs), range(jobs))))


def _table(name: str, scale: float, place: Path) -> str:
    request = TableRequest(table=name, scale=scale, seed=SEED)
    processes = os.cpu_count() or 1
    made = generate([request], place, processes=processes, bufsize_bytes=Options().bufsize_bytes)
    return str(made[0].directory)


def _job(name: str, scale: float, threads: int, inputs: dict[str, str]) -> Figures:
    """One job in a separate process, with the environment that the launcher gives."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        for role in ("work", "util"):
            Path(place, role).mkdir()
        assignment = Assignment(
            run_id="bench",
            job="job",
            program=name,
            scale=scale,
            seed=SEED,
            replica=0,
            options=scaled_options(Options(cpucount=threads), scale),
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
    # As the launcher does: what is imported is never looked at again by the garbage collector.
    with importing():
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
