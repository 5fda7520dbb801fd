"""The steps of a shop's jobs as records that kernels reproduce, with the evidence of each number.

CPU time, memory and threads have ranges, and are assumed where a log has no figure.  ``places`` infers which
jobs the clock started, and which started when another job had ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from mawl.derive.step_bytes import SORTS, SORTSIZE_BYTES, Direction, Ends, Inference, Loads
from mawl.derive.steps import Names, StepFigures, kernel_of
from mawl.derive.tables import Libraries, Ranged, exactly
from mawl.figures.sessions import MOST_AFTER, STAMP_SECONDS, predecessors
from mawl.records.model.derived import (
    MOST_BYTES,
    MOST_REQUESTS,
    MOST_ROWS,
    MOST_SECONDS,
    MOST_THREADS,
    DerivedStep,
    DerivedTable,
    RoleLoad,
)
from mawl.records.model.records import JobRecord
from mawl.records.spec.program_options import ROLES, Role

HUNDREDTH = 0.005
"""Half of the last digit of a time in a log."""
KILOBYTE_HUNDREDTH = 1024 * 0.005
USUAL_MEMORY_BYTES = 64 * 2**20
LEAST_MEMORY_BYTES = 2**20
MEMSIZE_BYTES = 2 * 2**30
"""The default of MEMSIZE in SAS 9.4 on UNIX, which bounds what a session takes."""
THREADED = 1.05
"""CPU over real time from which a step ran in several threads; below it, that is rounding."""


def cpu_seconds(step: StepFigures) -> Ranged:
    """CPU time within half of its last digit; half of the real time where the log has none."""
    if step.cpu_seconds is not None:
        off = HUNDREDTH * (2 if step.split else 1)
        cpu = step.cpu_seconds
        return Ranged(cpu, max(cpu - off, 0.0), cpu + off, "told", "log")
    real = step.real_seconds or 0.0
    return Ranged(real / 2, 0.0, real, "assumed", "cpu-of-real")


def memory_bytes(step: StepFigures, loads: Loads) -> Ranged:
    """Peak memory; where the log has none, what a sort sorts (at most SORTSIZE), else a usual value."""
    if step.memory_bytes is not None:
        memory = float(step.memory_bytes)
        return Ranged(
            memory, max(memory - KILOBYTE_HUNDREDTH, 0.0), memory + KILOBYTE_HUNDREDTH, "told", "log"
        )
    if step.procedure in SORTS and loads.read:
        filtered = any(note.filtered for note in step.tables)
        sorted_ = math.fsum(
            part.value
            for role, part in (loads.written if filtered else loads.read).items()
            if role != "util" or not filtered
        )
        value = min(max(sorted_, LEAST_MEMORY_BYTES), SORTSIZE_BYTES)
        return Ranged(value, LEAST_MEMORY_BYTES, MEMSIZE_BYTES, "assumed", "memory-of-sort")
    return Ranged(USUAL_MEMORY_BYTES, LEAST_MEMORY_BYTES, MEMSIZE_BYTES, "assumed", "memory")


def assumed_threads(step: StepFigures) -> Ranged:
    """Threads that computed at one time: CPU time divided by real time, rounded up."""
    if step.cpu_seconds is None or not step.real_seconds:
        return Ranged(1.0, 1.0, 1.0, "assumed", "one-thread")
    ratio = min(step.cpu_seconds / step.real_seconds, float(MOST_THREADS))
    if ratio <= THREADED:
        return exactly(1.0, "one-thread", "inferred")
    return Ranged(float(math.ceil(ratio)), math.floor(ratio), math.ceil(ratio) * 4.0, "inferred", "threads")


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

    def of_step(self, step: StepFigures, job: str, read_bytes: int, inference: Inference) -> tuple[str, ...]:
        """Names of the tables of a step, made as large as it needs; one of its own where it names none."""
        if not read_bytes:
            return ()
        named: dict[str, int] = {}
        for note in step.tables:
            if note.direction == "read" and self._libraries.role_of(note) == "data":
                key = self._libraries.key_of(note, job)
                name = self._names.of("t", key[1] if key else f"file of {job}")
                size = max(int(inference.table_bytes(note, step, job)), 1)
                named[name] = named.get(name, 0) + size
        if not named:
            named = {self._names.of("t", f"table of {job}"): 1}
        whole = sum(named.values())
        for name, mine in named.items():
            size = max(read_bytes * mine // whole, LEAST_BYTES)
            self._sizes[name] = min(max(self._sizes.get(name, 0), size), MOST_BYTES)
        return tuple(named)

    def records(self) -> tuple[DerivedTable, ...]:
        return tuple(DerivedTable(name=name, size_bytes=size) for name, size in sorted(self._sizes.items()))


def steps_of(
    steps: Iterable[StepFigures],
    job: str,
    inference: Inference,
    tables: TableSizes,
    names: Names,
    size: Growth,
) -> list[tuple[DerivedStep, StepEvidence]]:
    """The steps of a job, in order, with their evidence."""
    written: dict[Role, int] = {"work": 0, "util": 0}
    found = []
    for step in steps:
        loads = _sized(inference.loads(step, job), size)
        found.append(_step(step, job, loads, written, tables, inference, names, size))
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
    figures: StepFigures,
    job: str,
    loads: Loads,
    written: dict[Role, int],
    tables: TableSizes,
    inference: Inference,
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
    kernel, kernel_rule = kernel_of(
        figures, math.fsum(read_bytes.values()), math.fsum(written_bytes.values())
    )
    random: Mapping[Role, int] = {}
    if kernel == "look_up":
        most = max(ROLES, key=lambda role: read_bytes[role])
        random = {most: min(max(read_bytes[most] // LOOK_UP_BYTES, 1), MOST_REQUESTS)}
    cpu = cpu_of(figures, size)
    memory = memory_bytes(figures, loads).times((size.rows if kernel in GROWS_WITH_ROWS else 1.0) * size.load)
    threads = assumed_threads(figures)
    procedure = names.procedure(figures.procedure)
    step = DerivedStep(
        name=f"s{figures.number}.{procedure}",
        procedure=procedure,
        kernel=kernel,
        rows=rows_of(figures, size),
        cpu_seconds=min(cpu.value, MOST_SECONDS),
        threads=min(int(threads.value), MOST_THREADS),
        memory_bytes=min(int(memory.value), MOST_BYTES),
        real_seconds=real_of(figures, size),
        tables=tables.of_step(figures, job, read_bytes["data"], inference),
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


def rows_of(step: StepFigures, size: Growth) -> int | None:
    """Rows read, or rows written if no rows were read; None if the log has neither."""
    rows = step.rows_read or step.rows_written
    if rows is None:
        rows = step.rows_read
    return None if rows is None else min(int(rows * size.rows * size.load), MOST_ROWS)


def real_of(step: StepFigures, size: Growth) -> float | None:
    """Elapsed seconds; None if the log does not have them."""
    return None if step.real_seconds is None else min(step.real_seconds * size.load, MOST_SECONDS)


def cpu_of(step: StepFigures, size: Growth) -> Ranged:
    """CPU seconds with their range."""
    return cpu_seconds(step).times(size.rows * size.load)


def _whole(loads: Loads, direction: Direction) -> dict[Role, int]:
    parts: Mapping[Role, Ranged] = loads.read if direction == "read" else loads.written
    return {role: min(round(parts[role].value) if role in parts else 0, MOST_BYTES) for role in ROLES}


Arrivals = Literal["clock", "closed"]


class Arrival(msgspec.Struct, frozen=True):
    """The order of a job: its lane, the jobs that it followed, and its second of the clock (0: at once)."""

    lane: str
    after: tuple[str, ...]
    start_seconds: float


def places(jobs: Sequence[JobRecord], starts_at: float, arrivals: Arrivals) -> dict[str, Arrival]:
    """The place of each job, by its name.

    A lane is a session, or a part of one where its jobs overlap, so that jobs of a lane ran one after
    another.  A job that was in the queue of a scheduler while one that it followed still ran does not
    start before the time at which it could run.  With ``closed`` arrivals each job of a lane waits for the
    one before it, none for the clock.
    """
    found: dict[str, Arrival] = {}
    sessions: dict[tuple[str, str], list[JobRecord]] = {}
    for job in sorted(jobs, key=lambda job: (job.started_at is None, job.started_at or 0.0, job.stage)):
        sessions.setdefault((job.node, job.session), []).append(job)
    for (node, session), mine in sessions.items():
        lanes: list[list[JobRecord]] = []
        for number, job in enumerate(mine):
            lane = _lane(lanes, job)
            before = lanes[lane][-1] if lanes[lane] else None
            lanes[lane].append(job)
            name = f"{node} {session} {lane}"
            if arrivals == "closed" or job.started_at is None:
                found[job.job] = Arrival(name, () if before is None else (before.job,), 0.0)
                continue
            near = mine[max(number - MOST_AFTER, 0) : number]
            after = predecessors(job, near)
            begins = queued_since(job, after) if after else job.started_at
            offset = 0.0 if begins is None else max(begins - starts_at, 0.0)
            found[job.job] = Arrival(name, tuple(one.job for one in after), offset)
    return found


def queued_since(job: JobRecord, before: Sequence[JobRecord]) -> float | None:
    """When a job that followed others could run, if it then waited in a queue while one of them still ran.

    None if its queue time is unknown, or if it could run only once they had ended: then their end, and not
    the clock, let it start.
    """
    if job.started_at is None or job.queue_seconds is None:
        return None
    since = job.started_at - job.queue_seconds
    last = max((one.ended_at for one in before if one.ended_at is not None), default=None)
    return since if last is not None and since < last - STAMP_SECONDS else None


def _lane(lanes: list[list[JobRecord]], job: JobRecord) -> int:
    """The first lane that is free when the job starts, a new one where none is."""
    for number, lane in enumerate(lanes):
        end = lane[-1].ended_at
        if job.started_at is None or end is None or end <= job.started_at + STAMP_SECONDS:
            return number
    lanes.append([])
    return len(lanes) - 1


def renamed(place: Arrival, names: Mapping[str, str]) -> tuple[str, ...]:
    """The jobs of ``after`` by their names in the derived folder; those left out are not waited for."""
    return tuple(names[name] for name in place.after if name in names)
