"""The declaration of a derived job, made from its record: inputs, steps, bytes and memory.

Which temporary files a derived job reads: one rule for the plan, which counts bytes, and for the job.

A step writes one file in each role that it writes to.  A step that reads ``work`` or ``util`` takes the
files that earlier steps wrote there, the newest first, and where they hold fewer bytes than it reads goes
over them again; where nothing is older, it reads back what it writes itself.  A file goes when no later step
reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from mawl.plan.columns import Column, InputTable, RowNumber, Uniform, lay_out
from mawl.plan.programs import BYTES_PER_SECOND_ALONE, OwnRows, Pass, Program, Step, Temporary
from mawl.records.model.derived import DerivedJob, DerivedStep, DerivedTable, RoleLoad
from mawl.records.model.records import ProgramClass
from mawl.records.spec.program_options import MIB, ROLES, Options, Role

WORD_BYTES = 8
"""Bytes are moved in whole words of this size."""


def scaled(job: DerivedJob, scale: float) -> DerivedJob:
    """The job at a scale: bytes, requests, rows, CPU seconds and memory in proportion.

    What is there stays there: a step that moves bytes in a role moves at least a word.
    """
    steps = tuple(
        msgspec.structs.replace(
            step,
            rows=None if step.rows is None else round(step.rows * scale),
            cpu_seconds=step.cpu_seconds * scale,
            memory_bytes=round(step.memory_bytes * scale),
            data=_scaled_load(step.data, scale),
            work=_scaled_load(step.work, scale),
            util=_scaled_load(step.util, scale),
        )
        for step in job.steps
    )
    return msgspec.structs.replace(job, steps=steps)


def at_core_speed(job: DerivedJob, core_speed: float | None) -> DerivedJob:
    """The job with the CPU seconds that it takes on a core of this speed.

    As it is where one of the two speeds is not known.
    """
    if core_speed is None or job.core_speed is None:
        return job
    factor = job.core_speed / core_speed
    steps = tuple(msgspec.structs.replace(step, cpu_seconds=step.cpu_seconds * factor) for step in job.steps)
    return msgspec.structs.replace(job, steps=steps)


def _scaled_load(load: RoleLoad, scale: float) -> RoleLoad:
    return RoleLoad(
        read_bytes=_words(load.read_bytes * scale),
        written_bytes=_words(load.written_bytes * scale),
        random_reads=_at_least_one(load.random_reads * scale),
        random_writes=_at_least_one(load.random_writes * scale),
    )


def _words(size: float) -> int:
    return 0 if size <= 0 else max(round(size / WORD_BYTES), 1) * WORD_BYTES


def _at_least_one(number: float) -> int:
    return 0 if number <= 0 else max(round(number), 1)


class Files(msgspec.Struct, frozen=True):
    """The files of one role of a job, by the number of the step that writes each.

    ``sources[step]`` are the files that the step reads, in order; ``gone[step]`` those that go after it.
    ``peak_bytes`` is the most that lies there at once.
    """

    sources: dict[int, tuple[int, ...]]
    gone: dict[int, tuple[int, ...]]
    peak_bytes: int


def files_of(steps: Sequence[DerivedStep], role: Role) -> Files:
    """The files that a job's steps write and read in a role."""
    sizes: dict[int, int] = {}
    last_use: dict[int, int] = {}
    sources: dict[int, tuple[int, ...]] = {}
    for number, step in enumerate(steps):
        load = step.load(role)
        own = [number] if load.written_bytes else []
        if load.read_bytes:
            chosen, held = [], 0
            for file in reversed(list(sizes) or own):
                chosen.append(file)
                held += sizes.get(file, load.written_bytes)
                if held >= load.read_bytes:
                    break
            sources[number] = tuple(chosen)
            last_use |= dict.fromkeys(chosen, number)
        if own:
            sizes[number] = load.written_bytes
            last_use.setdefault(number, number)
    gone: dict[int, tuple[int, ...]] = {}
    held = peak = 0
    for number in range(len(steps)):
        held += sizes.get(number, 0)
        peak = max(peak, held)
        ended = tuple(file for file, last in last_use.items() if last == number and file <= number)
        gone[number] = ended
        held -= sum(sizes[file] for file in ended)
    return Files(sources=sources, gone=gone, peak_bytes=peak)


def peak_memory_bytes(job: DerivedJob) -> int:
    """Memory of the step that holds most."""
    return max(step.memory_bytes for step in job.steps)


def moved_bytes(job: DerivedJob) -> int:
    """Bytes that the job moves in all roles."""
    return sum(step.moved_bytes for step in job.steps)


def cpu_seconds(job: DerivedJob) -> float:
    """CPU seconds of all steps."""
    return sum(step.cpu_seconds for step in job.steps)


def results_bytes(job: DerivedJob) -> int:
    """Bytes that the job leaves under data."""
    return sum(step.data.written_bytes for step in job.steps)


MODULES = ("numpy", "threadpoolctl", "pyarrow", "mawl.programs.derived_job")
"""Imported before a derived job begins."""

RECORD_BYTES = 128
"""Of a row of a generated table; those of ``data`` are fixed-width text."""

MEMORY_FLOOR_BYTES = 16 * MIB
"""What a derived job holds beside what its steps declare: buffers of requests, code at its first use."""

SMALLEST_MEMORY_BYTES = 2**20

_UNITS = 10**6
"""Sizes of a job's own files are declared in so many parts."""

_LAYOUT = lay_out(
    "S",
    1,
    RECORD_BYTES,
    (
        (Column("row", RowNumber()), 14),
        (Column("key", Uniform(0, 99_999)), 6),
        (Column("amount_cents", Uniform(0, 99_999, skew=2)), 6),
        (Column("class_code", Uniform(0, 99, skew=3)), 3),
    ),
    "filler",
)


UNFILLED_BYTES = 9.1
FILL_OVERHEAD_BYTES = 4.0
"""Of a record, by zstd level 1 (``InputTable``); tests/plan holds them."""


class DerivedJobPlan(msgspec.Struct, frozen=True):
    """A derived job in a plan, with the tables that it reads."""

    job: DerivedJob
    tables: tuple[DerivedTable, ...] = ()


def planned(job: DerivedJob, tables: Mapping[str, DerivedTable]) -> DerivedJobPlan:
    """A job of a file with those of the file's tables that it names."""
    names = dict.fromkeys(name for step in job.steps for name in step.tables)
    return DerivedJobPlan(job=job, tables=tuple(tables[name] for name in names))


def options_of_record(options: Options, job: DerivedJob, scale: float) -> Options:
    """The options of a derived job: memory and threads are what its steps had, at the scale."""
    memory = round(peak_memory_bytes(job) * scale)
    return msgspec.structs.replace(
        options,
        memsize_bytes=max(memory, SMALLEST_MEMORY_BYTES),
        cpucount=max(step.threads for step in job.steps),
    )


def input_name(table: str) -> str:
    """What the input table of a permanent table is called; none of the catalogue's has such a name."""
    return f"derived-{table}"


def input_of(table: DerivedTable) -> InputTable:
    """The input table that stands for a permanent table of a shop: text records of 128 bytes."""
    return InputTable(
        name=input_name(table.name),
        full_bytes=table.size_bytes,
        minimum_rows=1,
        layout="text",
        record_bytes=RECORD_BYTES,
        records=(_LAYOUT,),
        unfilled_bytes=UNFILLED_BYTES,
        fill_overhead_bytes=FILL_OVERHEAD_BYTES,
    )


def class_of(job: DerivedJob) -> ProgramClass:
    """``io`` where moving the bytes is taken to last longer than computing; else by the longest step."""
    if moved_bytes(job) / BYTES_PER_SECOND_ALONE > cpu_seconds(job):
        return "io"
    longest = max(job.steps, key=lambda step: step.cpu_seconds)
    return "memory" if longest.kernel == "hold" else "compute"


def derived_program(one: DerivedJobPlan) -> Program:
    """The declaration of a derived job; its sizes are those of its record at scale 1.

    Memory is ``memsize`` of the job's options, which the plan sets to the peak of its steps.
    """
    job = one.job
    inputs = tuple(map(input_of, one.tables))
    own_rows = OwnRows(full_rows=_UNITS, minimum_rows=1) if not inputs else None
    units = inputs[0].rows(1.0) if inputs else _UNITS
    peaks: dict[Role, int] = {
        "work": files_of(job.steps, "work").peak_bytes,
        "util": files_of(job.steps, "util").peak_bytes,
        "data": results_bytes(job),
    }
    temporaries = tuple(
        Temporary(name=_OWN[role], role=role, row_bytes=1, rows_ratio=size / units)
        for role, size in peaks.items()
        if size
    )
    sizes = {table.name: table.size_bytes for table in one.tables}
    steps = tuple(_step(step, sizes, peaks) for step in job.steps)
    return Program(
        name=job.name,
        program_class=class_of(job),
        title="a job derived from logs",
        inputs=inputs,
        own_rows=own_rows,
        temporaries=temporaries or (Temporary(name=_OWN["work"], role="work", row_bytes=1, rows_ratio=0.0),),
        steps=steps,
        size_knob="bytes, CPU seconds and memory of every step",
        check="the content of every block that is read, and the result of every unit of computing",
        modules=MODULES,
        own_cpu_seconds=cpu_seconds(job) * (job.core_speed or 1.0),
        memory_floor_bytes=MEMORY_FLOOR_BYTES,
        memory_per_memsize=1.0,
    )


_OWN: dict[Role, str] = {
    "work": "tables under work",
    "util": "files under util",
    "data": "results under data",
}


def _step(step: DerivedStep, tables: Mapping[str, int], peaks: Mapping[Role, int]) -> Step:
    is_data = step.procedure.upper() == "DATA"
    return Step(
        name=step.name,
        kind="data" if is_data else "procedure",
        procedure=None if is_data else step.procedure.upper(),
        title=f"{step.kernel}, derived",
        reads=tuple(_reads(step, tables, peaks)),
        writes=tuple(
            Pass(
                _OWN[role], load.written_bytes / peaks[role], _random(load.written_bytes, load.random_writes)
            )
            for role in ROLES
            if (load := step.load(role)).written_bytes
        ),
    )


def _reads(step: DerivedStep, tables: Mapping[str, int], peaks: Mapping[Role, int]) -> Iterator[Pass]:
    if step.data.read_bytes:
        random_bytes = _random(step.data.read_bytes, step.data.random_reads)
        share = step.data.read_bytes / sum(tables[name] for name in step.tables)
        for name in step.tables:
            yield Pass(input_name(name), share, random_bytes)
    own: tuple[Role, ...] = ("work", "util")
    for role in own:
        if (load := step.load(role)).read_bytes:
            yield Pass(_OWN[role], load.read_bytes / peaks[role], _random(load.read_bytes, load.random_reads))


def _random(moved: int, requests: int) -> int | None:
    return max(moved // requests, 1) if requests else None
