"""The steps of a shop's jobs as records that kernels reproduce, with the evidence of each number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

from mawl.derive import assumed
from mawl.derive.estimate import Ranged
from mawl.derive.inferred import Direction, Inference, Loads
from mawl.derive.kernel import kernel_of
from mawl.derive.names import Names
from mawl.derive.roles import Ends
from mawl.derive.tables import Libraries
from mawl.derive.told import StepTold
from mawl.model.derived import (
    MOST_BYTES,
    MOST_REQUESTS,
    MOST_ROWS,
    MOST_SECONDS,
    MOST_THREADS,
    DerivedStep,
    DerivedTable,
    RoleLoad,
)
from mawl.spec.program_options import ROLES, Role

LOOK_UP_BYTES = 8192
"""A page of an index read at a random place; what a step that used an index is taken to read at a time."""

LEAST_BYTES = 1
GROWS_WITH_ROWS = ("join", "dense", "sparse", "hold", "summarise")
"""Kinds of work that hold what they work on: their memory grows with the rows; a sort's is bounded."""


class Growth(msgspec.Struct, frozen=True):
    """How much larger than the logs derived jobs are: ``rows`` by growth, ``load`` by scale."""

    rows: float = 1.0
    load: float = 1.0


class StepEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One step with range and origin of each number; bytes are by role.

    ``read_bytes_range`` and ``written_bytes_range`` are of all roles together; a log can tell these bytes
    without the roles.
    ``moved_reads_bytes`` were reads of WORK or of utility files that no step before had written: they are
    read from a permanent table.
    """

    name: str
    procedure: str
    kernel: str
    kernel_rule: str
    cpu_seconds: Ranged
    memory_bytes: Ranged
    threads: Ranged
    read_bytes: dict[Role, Ranged]
    written_bytes: dict[Role, Ranged]
    read_bytes_range: Ends
    written_bytes_range: Ends
    moved_reads_bytes: int = 0


class TableSizes:
    """The permanent tables that the derived jobs read, each as large as its largest pass."""

    def __init__(self, names: Names, libraries: Libraries) -> None:
        self._names, self._libraries = names, libraries
        self._sizes: dict[str, int] = {}

    def of_step(self, told: StepTold, job: str, read_bytes: int) -> tuple[str, ...]:
        """Names of the tables of a step, made as large as it needs; one of its own where it names none."""
        if not read_bytes:
            return ()
        named: dict[str, int] = {}
        for note in told.tables:
            if note.direction == "read" and self._libraries.role_of(note) == "data":
                key = self._libraries.key_of(note, job)
                name = self._names.of("t", key[1] if key else f"file of {job}")
                named[name] = named.get(name, 0) + max(note.rows or 0, 1)
        if not named:
            named = {self._names.of("t", f"table of {job}"): 1}
        rows = sum(named.values())
        for name, mine in named.items():
            size = max(read_bytes * mine // rows, LEAST_BYTES)
            self._sizes[name] = min(max(self._sizes.get(name, 0), size), MOST_BYTES)
        return tuple(named)

    def records(self) -> tuple[DerivedTable, ...]:
        """The tables, by name."""
        return tuple(DerivedTable(name=name, size_bytes=size) for name, size in sorted(self._sizes.items()))


def steps_of(
    told: Iterable[StepTold], job: str, inference: Inference, tables: TableSizes, names: Names, size: Growth
) -> list[tuple[DerivedStep, StepEvidence]]:
    """The steps of a job, in order, with their evidence."""
    written: dict[Role, int] = {"work": 0, "util": 0}
    found = []
    for one in told:
        loads = _sized(inference.loads(one, job), size)
        found.append(_step(one, job, loads, written, tables, names, size))
    return found


def _sized(loads: Loads, size: Growth) -> Loads:
    factor = size.rows * size.load
    return Loads(
        {role: one.times(factor) for role, one in loads.read.items()},
        {role: one.times(factor) for role, one in loads.written.items()},
        (loads.read_range[0] * factor, loads.read_range[1] * factor),
        (loads.written_range[0] * factor, loads.written_range[1] * factor),
    )


def _step(
    told: StepTold,
    job: str,
    loads: Loads,
    written: dict[Role, int],
    tables: TableSizes,
    names: Names,
    size: Growth,
) -> tuple[DerivedStep, StepEvidence]:
    read_bytes, written_bytes = _whole(loads, "read"), _whole(loads, "written")
    for role in written:
        written[role] += written_bytes[role]
    moved = 0
    for role, so_far in written.items():
        if read_bytes[role] and not so_far:
            moved += read_bytes[role]
            read_bytes["data"] = min(read_bytes["data"] + read_bytes[role], MOST_BYTES)
            read_bytes[role] = 0
    kernel, kernel_rule = kernel_of(told, math.fsum(read_bytes.values()), math.fsum(written_bytes.values()))
    random: Mapping[Role, int] = {}
    if kernel == "look_up":
        most = max(ROLES, key=lambda role: read_bytes[role])
        random = {most: min(max(read_bytes[most] // LOOK_UP_BYTES, 1), MOST_REQUESTS)}
    cpu = cpu_of(told, size)
    memory = assumed.memory_bytes(told, loads).times(
        (size.rows if kernel in GROWS_WITH_ROWS else 1.0) * size.load
    )
    threads = assumed.threads(told)
    procedure = names.procedure(told.procedure)
    step = DerivedStep(
        name=f"s{told.number}.{procedure}",
        procedure=procedure,
        kernel=kernel,
        rows=rows_of(told, size),
        cpu_seconds=min(cpu.value, MOST_SECONDS),
        threads=min(int(threads.value), MOST_THREADS),
        memory_bytes=min(int(memory.value), MOST_BYTES),
        real_seconds=real_of(told, size),
        tables=tables.of_step(told, job, read_bytes["data"]),
        **{
            role: RoleLoad(
                read_bytes=read_bytes[role],
                written_bytes=written_bytes[role],
                random_reads=random.get(role, 0),
            )
            for role in ROLES
        },
    )
    evidence = StepEvidence(
        name=step.name,
        procedure=procedure,
        kernel=kernel,
        kernel_rule=kernel_rule,
        cpu_seconds=cpu,
        memory_bytes=memory,
        threads=threads,
        read_bytes=loads.read,
        written_bytes=loads.written,
        read_bytes_range=loads.read_range,
        written_bytes_range=loads.written_range,
        moved_reads_bytes=moved,
    )
    return step, evidence


def rows_of(told: StepTold, size: Growth) -> int | None:
    """Rows read, or rows written if no rows were read; None if the log has neither."""
    rows = told.rows_read or told.rows_written
    if rows is None:
        rows = told.rows_read
    return None if rows is None else min(int(rows * size.rows * size.load), MOST_ROWS)


def real_of(told: StepTold, size: Growth) -> float | None:
    """Elapsed seconds; None if the log does not have them."""
    return None if told.real_seconds is None else min(told.real_seconds * size.load, MOST_SECONDS)


def cpu_of(told: StepTold, size: Growth) -> Ranged:
    """CPU seconds with their range."""
    return assumed.cpu_seconds(told).times(size.rows * size.load)


def _whole(loads: Loads, direction: Direction) -> dict[Role, int]:
    parts: Mapping[Role, Ranged] = loads.read if direction == "read" else loads.written
    return {role: min(round(parts[role].value) if role in parts else 0, MOST_BYTES) for role in ROLES}
