"""What a program declares: class, steps and their SAS procedures, inputs, bytes by role, memory, checks.

Its reference times are the CPU seconds of a job that runs alone, a constant of program and scale.

The table of reference times holds medians over several seeds of the inputs, of jobs in one thread with the
default options and ``--cache none``, without the check of their answers and the start of the interpreter, on
the machine that it names, whose core has speed 1.  ``make reference-times`` prints it from runs
(docs/design/answer.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import msgspec

from mawl.plan.columns import InputTable
from mawl.records.model.records import ProgramClass, StepKind
from mawl.records.spec.program_options import Options, Role

TABLE = Path(__file__).with_name("reference_times.json")

LEAST_SCALE = 0.005
MOST_SCALE = 0.2
"""Reference times below and above these are preliminary: small jobs ask less of storage for each CPU second,
and above the last knot the times are extrapolated."""


class CpuSeconds(msgspec.Struct, frozen=True, kw_only=True):
    """User and system CPU seconds over the seeds of a knot."""

    median: float
    low: float
    high: float


class Knot(msgspec.Struct, frozen=True, kw_only=True):
    """What every program took at one scale, with ``seeds`` different seeds."""

    scale: float
    measured_at: str
    seeds: int
    programs: dict[str, CpuSeconds]


class ReferenceTimes(msgspec.Struct, frozen=True, kw_only=True):
    """All knots, the smallest scale first; two at least.

    ``provisional`` are programs that changed since they were measured.
    """

    version: int
    machine: str
    file_system: str
    cache: str
    constraints_sha256: str
    commit: str
    provisional: list[str]
    knots: list[Knot]

    def seconds(self, program: str, scale: float) -> float | None:
        """CPU seconds at a scale: along a straight line between two knots, and beyond the outer ones.

        Below the first knot they are at least in proportion to the scale.  None for a program that is not at
        every knot.
        """
        if not all(program in knot.programs for knot in self.knots):
            return None
        lines = list(pairwise(self.knots))
        below, above = next((line for line in lines if scale <= line[1].scale), lines[-1])
        part = (scale - below.scale) / (above.scale - below.scale)
        first, second = (knot.programs[program].median for knot in (below, above))
        least = self.knots[0].programs[program].median * min(scale / self.knots[0].scale, 1.0)
        return max(first + part * (second - first), least)


@cache
def reference_times() -> ReferenceTimes:
    """The table that mawl ships."""
    return msgspec.json.decode(TABLE.read_bytes(), type=ReferenceTimes)


Direction = Literal["read", "written"]

BYTES_PER_SECOND_ALONE = 1e9
"""What storage is taken to give a job that runs alone; for planning only."""

REQUEST_SECONDS_ALONE = 0.2e-3
"""What a random request is taken to last alone, as at flash; for planning only."""


class OwnRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a program without inputs makes: linear in the scale, in whole groups."""

    full_rows: int
    minimum_rows: int = 2000
    group_rows: int = 1

    def rows(self, scale: float) -> int:
        rows = max(int(self.full_rows * scale), self.minimum_rows)
        return max(rows // self.group_rows, 1) * self.group_rows


class Temporary(msgspec.Struct, frozen=True):
    """A table that a job makes: ``rows_ratio`` rows of ``row_bytes`` bytes per row of the program.

    It is removed when the job ends, or before: after the last ``step`` that reads it, or file by file as that
    step reads them (``parts``).  Role ``data``: an output, which ``--keep-outputs`` keeps.
    """

    name: str
    role: Role
    row_bytes: int
    rows_ratio: float = 1.0
    removed: Literal["job", "step", "parts"] = "job"


class Pass(msgspec.Struct, frozen=True):
    """One pass over a table: the whole of it unless ``share`` says less (or more: reads at random).

    ``table`` is the name of an input table or of a temporary of the same program.  ``random_bytes`` is the
    size of one request at a random place; None: requests of ``bufsize`` in sequence.
    """

    table: str
    share: float = 1.0
    random_bytes: int | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A step and the passes it makes; the contract suite demands that each really moves its bytes.

    ``procedure`` is the one that a SAS programmer would have used for a step of kind ``procedure``
    (``PROCEDURES``); the SAS-style log names the step so.
    """

    name: str
    kind: StepKind
    title: str
    procedure: str | None = None
    reads: tuple[Pass, ...] = ()
    writes: tuple[Pass, ...] = ()


Passes = Iterable[Pass | str]
"""Passes of a step; the name of a table is a pass over the whole of it."""


def data_step(name: str, title: str, *, reads: Passes = (), writes: Passes = ()) -> Step:
    """A step that a SAS programmer would have written as a DATA step."""
    return Step(name=name, kind="data", title=title, reads=_passes(reads), writes=_passes(writes))


def procedure_step(name: str, procedure: str, title: str, *, reads: Passes = (), writes: Passes = ()) -> Step:
    """A step that a SAS programmer would have used ``procedure`` for, one of ``PROCEDURES``."""
    return Step(
        name=name,
        kind="procedure",
        title=title,
        procedure=procedure,
        reads=_passes(reads),
        writes=_passes(writes),
    )


def prepare_step(table: InputTable, title: str) -> Step:
    """The first step of a program that makes a table of its input and then works on that one."""
    return data_step("prepare", title, reads=[table.name], writes=["prepared"])


def verify_step(title: str, *, reads: Passes = ()) -> Step:
    """The last step: what a program does only to check its answer."""
    return Step(name="verify", kind="verify", title=title, reads=_passes(reads))


def _passes(passes: Passes) -> tuple[Pass, ...]:
    return tuple(Pass(each) if isinstance(each, str) else each for each in passes)


def modules_of(module: str, *engines: str) -> tuple[str, ...]:
    """What is imported before a job begins: ``engines``, what all need, and its own module last."""
    return (*sorted({*engines, "numpy", "pyarrow", "threadpoolctl"}), f"mawl.programs.{module}")


class Requests(msgspec.Struct, frozen=True):
    """Requests in sequence and at random places."""

    sequential: int = 0
    random: int = 0

    def __add__(self, other: Requests) -> Requests:
        return Requests(self.sequential + other.sequential, self.random + other.random)


def requests_of(moved_bytes: int, random_bytes: int | None, bufsize_bytes: int) -> Requests:
    if random_bytes is None:
        return Requests(sequential=-(-moved_bytes // bufsize_bytes))
    return Requests(random=-(-moved_bytes // random_bytes))


def _by_direction(step: Step) -> tuple[tuple[Direction, tuple[Pass, ...]], ...]:
    return (("read", step.reads), ("written", step.writes))


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program's declaration.

    ``memory_per_memsize`` and ``memory_floor_bytes`` give the declared peak (``memory_bytes``):
    what a job may hold beyond its process when it was ready.  A program has inputs, or ``own_rows``;
    ``rows`` is what its temporaries are in proportion to.  ``own_cpu_seconds`` are those at full of a job
    that is not of the catalogue, on a core of speed 1; those of the catalogue have reference times.
    ``modules`` are imported before a job begins (``imports``); the last of them runs it.
    """

    name: str
    program_class: ProgramClass
    title: str
    inputs: tuple[InputTable, ...] = ()
    own_rows: OwnRows | None = None
    temporaries: tuple[Temporary, ...]
    steps: tuple[Step, ...]
    size_knob: str
    check: str
    modules: tuple[str, ...]
    memory_floor_bytes: int
    memory_per_memsize: float = 0.0
    memory_per_sortsize: float = 0.0
    own_cpu_seconds: float | None = None
    is_declared: bool = True
    """False for commands and programs of users: what they move and keep is not known, and never 0."""

    @property
    def imports(self) -> tuple[str, ...]:
        """``modules``, and what these import by themselves at their first use: start-up, not work.

        PyArrow imports pandas, which statsmodels brings, when it meets the first NumPy array.
        """
        return (*self.modules, "pandas") if "pyarrow" in self.modules else self.modules

    def rows(self, scale: float) -> int:
        """Rows of the first input at a scale, or those that the program makes by itself."""
        if self.inputs:
            return self.inputs[0].rows(scale)
        if self.own_rows is None:
            raise ValueError(f"{self.name} declares neither inputs nor its own rows")
        return self.own_rows.rows(scale)

    def passes(self, scale: float) -> Iterator[tuple[str, Role, Direction, str, int]]:
        """Every declared pass as (step, role, direction, table, bytes) at a scale."""
        for step in self.steps:
            for direction, passes in _by_direction(step):
                for declared in passes:
                    role, size = self.table_size(declared.table, scale)
                    yield step.name, role, direction, declared.table, math.ceil(size * declared.share)

    def bytes_by_role(self, scale: float) -> dict[Role, dict[Direction, int]]:
        """Application bytes of one job at a scale, by role and direction, without those of ``verify``."""
        sums: dict[Role, dict[Direction, int]] = {
            role: {"read": 0, "written": 0} for role in ("data", "work", "util")
        }
        verifying = {step.name for step in self.steps if step.kind == "verify"}
        for step, role, direction, _, size in self.passes(scale):
            if step not in verifying:
                sums[role][direction] += size
        return sums

    def requests_by_role(self, scale: float, bufsize_bytes: int) -> dict[Role, dict[Direction, Requests]]:
        """Requests of one job at a scale, by role and direction, without those of ``verify``."""
        sums: dict[Role, dict[Direction, Requests]] = {
            role: {"read": Requests(), "written": Requests()} for role in ("data", "work", "util")
        }
        for step in self.steps:
            if step.kind == "verify":
                continue
            for direction, passes in _by_direction(step):
                for declared in passes:
                    role, size = self.table_size(declared.table, scale)
                    moved = math.ceil(size * declared.share)
                    sums[role][direction] += requests_of(moved, declared.random_bytes, bufsize_bytes)
        return sums

    def random_requests(self, scale: float) -> int:
        """Requests of one job at random places, each of which waits for a device."""
        sums = self.requests_by_role(scale, 1)
        return sum(direction.random for directions in sums.values() for direction in directions.values())

    def cpu_seconds(self, scale: float) -> float:
        """CPU seconds of one job on a core of speed 1: the reference time, or what the job declares."""
        if self.own_cpu_seconds is not None:
            return self.own_cpu_seconds * scale
        found = reference_times().seconds(self.name, scale)
        if found is None:
            raise KeyError(f"{self.name} has no reference time: make reference-times")
        return found

    def expected_seconds(self, scale: float, queue_depth: int = Options().queue_depth) -> float:
        """Seconds that one job is expected to take alone, for planning."""
        return self.cpu_seconds(scale) + self.waiting_seconds(scale, queue_depth)

    def waiting_seconds(self, scale: float, queue_depth: int = Options().queue_depth) -> float:
        """What its bytes and random requests are taken to last alone, on fast storage."""
        moved = sum(sum(directions.values()) for directions in self.bytes_by_role(scale).values())
        waiting = self.random_requests(scale) * REQUEST_SECONDS_ALONE / queue_depth
        return moved / BYTES_PER_SECOND_ALONE + waiting

    def table_size(self, name: str, scale: float) -> tuple[Role, int]:
        for table in self.inputs:
            if table.name == name:
                return "data", table.bytes(scale)
        rows = self.rows(scale)
        for temporary in self.temporaries:
            if temporary.name == name:
                return temporary.role, math.ceil(rows * temporary.rows_ratio) * temporary.row_bytes
        raise KeyError(f"{self.name} declares no table {name!r}")

    def space(self, scale: float) -> dict[Role, int]:
        """Bytes of disk one job needs at most at once, by role: every table it makes."""
        needed: dict[Role, int] = {"data": 0, "work": 0, "util": 0}
        for temporary in self.temporaries:
            role, size = self.table_size(temporary.name, scale)
            needed[role] += size
        return needed

    def last_steps(self) -> dict[str, str]:
        """The last step that reads or writes each table, without ``verify``."""
        return {
            declared.table: step.name
            for step in self.steps
            if step.kind != "verify"
            for _, passes in _by_direction(step)
            for declared in passes
        }

    def memory_bytes(self, options: Options) -> int:
        """Declared peak memory of one job beyond its process when ready, for its (scaled) options."""
        return int(
            self.memory_floor_bytes
            + self.memory_per_memsize * options.memsize_bytes
            + self.memory_per_sortsize * options.sortsize_bytes
        )


PROCEDURES: Mapping[str, str] = {
    "DATASETS": "it makes indexes of tables and removes tables",
    "ESM": "it fits exponential smoothing models to many series and forecasts them",
    "FASTCLUS": "it finds clusters by k-means in large tables",
    "FOREST": "it fits random forests",
    "FREQ": "it counts rows by the values of codes",
    "GENMOD": "its REPEATED statement fits generalized estimating equations",
    "GLM": "it fits linear models with classes, and writes their residuals",
    "GLMSELECT": "it selects the terms of a linear model with classes",
    "GRADBOOST": "it fits gradient boosted trees",
    "HPTMINE": "it finds topics in a collection of texts",
    "HPTMSCORE": "it gives new texts the topics of a fitted collection",
    "IML": "it computes with whole matrices in memory",
    "LOGISTIC": "it selects and fits logistic models",
    "MEANS": "it prints moments and extremes, by class",
    "MIXED": "it fits linear mixed models by REML",
    "OPTEX": "it searches optimal designs",
    "OPTMODEL": "it states and solves optimization problems",
    "PLM": "it scores rows by a fitted model that was stored",
    "REG": "it fits linear regressions, by group too",
    "SORT": "it orders rows by keys within SORTSIZE, and can keep one row of each key",
    "SQL": "it joins tables, looks rows up by key and tests conditions over rows",
    "SUMMARY": "it writes sums and means by class to a table",
    "SURVEYLOGISTIC": "it fits weighted logistic models with strata and clusters",
    "TABULATE": "it prints tables of classes against each other",
    "UNIVARIATE": "it gives percentiles of a distribution",
}
"""Every procedure that a declaration names, with the reason."""

DATA_STEP = "a DATA step reads and writes rows one after another"


def sas_name(program: Program | None, step: str) -> str | None:
    """The procedure of a program's step; None where the declaration has none (commands, other versions)."""
    found: Step | None = next((one for one in program.steps if one.name == step), None) if program else None
    return None if found is None else found.procedure
