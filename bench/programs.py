"""What mawl adds to each program's library calls, and how much the I/O programs move per CPU second.

Runs with and without checks differ by less than two runs of the same do, so what mawl adds (checks
that ride on passes, snapshots between steps, the step ``verify``) is counted inside the job: thread
CPU time around each check (the generator's truth and what is held against it within steps too) and each
snapshot, plus ``verify``.  I/O programs run at ``quick``, the
others at a fifth of it.  Pure scans are passes over an input table as programs make them, its word
sum included, beside PyArrow's own reader on the same files.
As a script (``python -m bench.programs PROGRAM SCALE PLACE TABLE=DIRECTORY...``) it is one job, and
prints its figures.
"""

from __future__ import annotations

import functools
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from pyarrow import ipc

from bench.harness import Result, alternate, at_least, at_most, sized, spread
from mawl.measure import step as step_module
from mawl.measure.step import Snapshots
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.spec import SCALES, scaled_options
from mawl.programs.datagen.generate import TableRequest, generate
from mawl.programs.execute import execute
from mawl.programs.tables import arrow
from mawl.programs.tables import arrow as source
from mawl.programs.toolkit.checks import RowSample, StrictOrder, TableSum
from mawl.records.model.messages import Assignment, FromLauncher, StepEnded
from mawl.records.spec.program_options import Options

NAME = "programs"
RUNS = sized(5, 1)
PROGRAMS = sized(tuple(CATALOGUE), ("wide_sort", "segmentation"))
IO_SCALE = SCALES[sized("quick", "smoke")]
OTHER_SCALE = IO_SCALE / 5
SEED = 1
WIDE_SORT_BOUND_RATIO = 0.01
IO_BOUND = 250.0
SCAN_BOUND = 600.0
SCANNED = "transactions"


CHECKS_IN_STEPS: dict[str, tuple[str, ...]] = {
    "census_query": ("_HouseholdSide.add", "_PersonSide.add"),
    "stress_projection": ("_StressProjection._sample",),
    "pension_cube": ("_PensionCube._sampled",),
    "segmentation": ("true_cluster", "ClusterAgreement.add"),
    "text_topics": ("true_topics", "Agreement.add"),
    "gee_repeated": ("_GeeRepeated._add_truth", "true_correlations"),
    "tree_ensemble": ("_true_chances",),
    "mixed_model": ("_MixedModel._missed", "true_errors"),
    "forecasting": ("_Forecasting._count_models",),
    "factorial_design": ("_FactorialDesign._active", "EffectTally.add"),
}
"""What programs do inside their steps only to check them: names in their modules."""


class Figures(msgspec.Struct, frozen=True):
    """One job: its CPU seconds, those of them that are mawl's, and bytes read and written."""

    cpu_seconds: float
    counted_seconds: float
    moved_bytes: int

    @property
    def own_ratio(self) -> float:
        """The share of the job's CPU that is not the program's own work."""
        return self.counted_seconds / self.cpu_seconds


def run() -> list[Result]:
    """The rows: one for each program, the I/O programs together, and a pure scan."""
    runs = {name: _runs(name) for name in PROGRAMS}
    rows = [_own_row(name, figures) for name, figures in runs.items()]
    return [*rows, _together(runs), _scan_row()]


def _own_row(name: str, figures: list[Figures]) -> Result:
    value = statistics.median(one.own_ratio for one in figures)
    detail = f"{spread([one.own_ratio for one in figures])}; the job took " + spread(
        [one.cpu_seconds for one in figures], "CPU s"
    )
    title = f"{name}: checks, steps, measuring"
    if name == "wide_sort":
        return at_most(title, value, "of its CPU", WIDE_SORT_BOUND_RATIO, detail)
    return Result(title, value, "of its CPU", "", None, detail)


def _together(runs: dict[str, list[Figures]]) -> Result:
    """Bytes of one job of each I/O program over their CPU seconds, each the median of its runs."""
    chosen = {name: runs[name] for name in runs if CATALOGUE[name].program_class == "io"}
    moved = sum(figures[0].moved_bytes for figures in chosen.values())
    seconds = sum(statistics.median(one.cpu_seconds for one in figures) for figures in chosen.values())
    single = ", ".join(
        f"{name} {figures[0].moved_bytes / 1e6 / statistics.median(one.cpu_seconds for one in figures):.0f}"
        for name, figures in chosen.items()
    )
    return at_least("I/O programs together", moved / 1e6 / seconds, "MB per CPU s", IO_BOUND, single)


def _runs(name: str) -> list[Figures]:
    """RUNS jobs of a program, after one that fills caches and compiles modules."""
    scale = IO_SCALE if CATALOGUE[name].program_class == "io" else OTHER_SCALE
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        inputs = {table.name: _table(table.name, scale, Path(place)) for table in CATALOGUE[name].inputs}
        return [_job(name, scale, Path(place, f"job-{number}"), inputs) for number in range(RUNS + 1)][1:]


def _table(name: str, scale: float, place: Path) -> Path:
    inputs = place / "inputs"
    inputs.mkdir(exist_ok=True)
    request = TableRequest(table=name, scale=scale, seed=SEED)
    processes = os.cpu_count() or 1
    made = generate([request], inputs, processes=processes, bufsize_bytes=Options().bufsize_bytes)
    return made[0].directory


def _job(name: str, scale: float, place: Path, inputs: dict[str, Path]) -> Figures:
    """One job in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    tables = [f"{table}={directory}" for table, directory in inputs.items()]
    done = subprocess.run(
        [sys.executable, "-m", "bench.programs", name, str(scale), str(place), *tables],
        stdout=subprocess.PIPE,
        env=environment,
        check=True,
    )
    # Solvers print lines of their own; the figures are the last.
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Figures)


def _scan_row() -> Result:
    """A pass over an input table with its word sum, beside PyArrow's reader without one."""
    with tempfile.TemporaryDirectory(prefix="mawl-bench-") as place:
        table = _table(SCANNED, IO_SCALE, Path(place))
        size = sum(path.stat().st_size for path in arrow.parts(table))
        ours, peer = alternate(
            lambda: _cpu_seconds(lambda: _scan(table)),
            lambda: _cpu_seconds(lambda: _plain_scan(table)),
            RUNS,
        )
    rates = [size / 1e6 / seconds for seconds in ours]
    bare = statistics.median(size / 1e6 / seconds for seconds in peer)
    detail = f"{spread(rates)}; PyArrow's own reader, without sums: {bare:.0f}"
    return at_least("pure scan", statistics.median(rates), "MB per CPU s", SCAN_BOUND, detail)


def _scan(table: Path) -> None:
    total = TableSum()
    for _ in arrow.read_batches(table, bufsize_bytes=Options().bufsize_bytes, total=total.add):
        pass


def _plain_scan(table: Path) -> None:
    for path in arrow.parts(table):
        with open(path, "rb", buffering=0) as file, ipc.open_file(file) as reader:
            for number in range(reader.num_record_batches):
                reader.get_batch(number)


def _cpu_seconds(work: Callable[[], None]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


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


def _counters(counter: _Counter, program: str) -> None:
    for owner, name in (
        (TableSum, "add"),
        (TableSum, "add_rows"),
        (source, "sum_of_words"),
        (arrow, "_sum_as_read"),
        (StrictOrder, "add"),
        (StrictOrder, "close"),
        (RowSample, "add"),
    ):
        counter.wrap(owner, name)
    module = importlib.import_module(CATALOGUE[program].modules[-1])
    for dotted in CHECKS_IN_STEPS.get(program, ()):
        *path, name = dotted.split(".")
        counter.wrap(functools.reduce(getattr, path, module), name)
    counter.wrap(Snapshots, "take")
    counter.wrap(step_module, "reset_peak")


def _assignment(program: str, scale: float, place: Path, inputs: dict[str, str]) -> Assignment:
    directories = {role: place / role for role in ("work", "util")}
    for directory in directories.values():
        directory.mkdir(parents=True)
    return Assignment(
        run_id="bench",
        job="job",
        program=program,
        scale=scale,
        seed=SEED,
        replica=0,
        options=scaled_options(Options(), scale),
        inputs=inputs,
        results=str(place / "results"),
        work=[str(directories["work"])],
        util=[str(directories["util"])],
        log=str(place / "log"),
    )


def _measured_job(assignment: Assignment) -> Figures:
    for module in CATALOGUE[assignment.program].imports:
        importlib.import_module(module)
    counter = _Counter()
    _counters(counter, assignment.program)
    ended: list[StepEnded] = []

    def report(message: FromLauncher) -> None:
        if isinstance(message, StepEnded):
            ended.append(message)

    before = time.process_time()
    status = execute(assignment, report)
    if status != 0:
        raise SystemExit(status)
    cpu_seconds = time.process_time() - before
    usages = [message.step.usage for message in ended if message.step.kind != "verify"]
    verify = sum(message.step.usage.cpu_seconds or 0.0 for message in ended if message.step.kind == "verify")
    counted = (counter.nanoseconds - counter.calls * _counting_nanoseconds()) / 1e9
    return Figures(
        cpu_seconds=cpu_seconds,
        counted_seconds=counted + verify,
        moved_bytes=sum(
            (usage.application_read_bytes or 0) + (usage.application_written_bytes or 0) for usage in usages
        ),
    )


def _main(program: str, scale: str, place: str, *tables: str) -> None:
    inputs = dict(table.split("=", 1) for table in tables)
    figures = _measured_job(_assignment(program, float(scale), Path(place), inputs))
    sys.stdout.flush()
    print(msgspec.json.encode(figures).decode(), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
