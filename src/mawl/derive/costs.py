"""Which steps of a run cost most, and which tables were read most, by what logs and counters tell."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, get_args

import msgspec

from mawl.base.units import (
    counted_noun,
    format_bytes,
    format_memory,
    format_percent,
    format_seconds,
)
from mawl.derive.derive import derivable_steps, started_jobs
from mawl.derive.job_costs import JOB_HEAD, JobCosts, job_costs, job_lines, job_rows
from mawl.derive.space import Space, peak_rows, space_lines, space_of
from mawl.derive.steps import StepFigures
from mawl.records.definitions import FACTS, block, count, listing, rate, seconds, size, text
from mawl.records.model.records import TableNote
from mawl.records.store import Run
from mawl.reports.document import Document, Headline, Lines, Part, Sentences, Table, filled
from mawl.reports.layout import ABSENT, figure, format_count

PAGE = "docs/design/derive.md, Which steps cost most"
StepOrder = Literal["real", "cpu", "waiting", "bytes", "memory", "switches"]
ORDERS: tuple[StepOrder, ...] = get_args(StepOrder)
MOST_STEPS = 20
MOST_TABLES = 10
NOT_TOLD = "the log does not tell it"
NO_SPACE = "only of imported logs: a run that mawl measures has roles.*.peak_used_bytes"
NO_BLOCKS = "the log has no block operations, or does not tell their size"


class StepCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one step used."""

    job: Annotated[str, text("The job of the step.", PAGE)]
    number: Annotated[int, count("The number of the step in its job.", PAGE)]
    procedure: Annotated[str, text("DATA, or the procedure.", PAGE)]
    real_seconds: Annotated[float | None, seconds("Real time of the step.", PAGE, absent=NOT_TOLD)]
    cpu_seconds: Annotated[float | None, seconds("User and system CPU time.", PAGE, absent=NOT_TOLD)]
    waiting_at_most_seconds: Annotated[
        float | None,
        seconds("Real time less CPU time: what the step waited at most.", PAGE, absent="one is not known"),
    ]
    read_bytes: Annotated[
        int | None,
        size(
            "Bytes of block input operations; of a measured run those that calls read.",
            PAGE,
            absent=NO_BLOCKS,
        ),
    ]
    written_bytes: Annotated[int | None, size("The same, written.", PAGE, absent=NO_BLOCKS)]
    bytes_per_second: Annotated[
        float | None, rate("Bytes read and written over real time.", PAGE, absent="one is not known")
    ]
    rows_read: Annotated[int | None, count("Rows read, those that pass a WHERE.", PAGE, absent=NOT_TOLD)]
    rows_written: Annotated[int | None, count("Rows written.", PAGE, absent=NOT_TOLD)]
    memory_bytes: Annotated[int | None, size("Peak memory.", PAGE, absent=NOT_TOLD)]
    involuntary_switches: Annotated[
        int | None, count("Times that a processor was taken from the step.", PAGE, absent=NOT_TOLD)
    ]


class TableReads(msgspec.Struct, frozen=True, kw_only=True):
    """How often a table was read."""

    table: Annotated[str, text("The table, as the logs name it.", PAGE)]
    passes: Annotated[int, count("Steps that read it.", PAGE)]
    filtered: Annotated[int, count("Those of them with a WHERE.", PAGE)]
    rows: Annotated[int, count("The most rows that any step tells of it, written or read.", PAGE)]
    scanned_rows: Annotated[
        int, count("Rows that the steps read; with a WHERE as many as the table has.", PAGE)
    ]


class StepCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a run that cost most."""

    run_id: Annotated[str, text("The run.", FACTS)]
    by: Annotated[StepOrder, text("What the steps are ordered by.", PAGE)]
    steps: Annotated[int, count("DATA and PROC steps of the run; views and nested steps are left out.", PAGE)]
    real_seconds: Annotated[
        float | None, seconds("Real time of all steps that tell it.", PAGE, absent="no step tells it")
    ]
    costliest: Annotated[list[StepCost], listing("The steps that cost most, the first first.", PAGE)]
    tables: Annotated[list[TableReads], listing("The tables of which most rows were read.", PAGE)]
    jobs: Annotated[
        JobCosts | None,
        block("The jobs that cost most.", PAGE, absent="only of imported logs that have steps"),
    ]
    space: Annotated[
        Space | None,
        block("The most space that WORK and utility files took at one time.", PAGE, absent=NO_SPACE),
    ]


def step_costs(run: Run, by: StepOrder, most: int = MOST_STEPS) -> StepCosts:
    """The ``most`` steps of a run with the largest figure; steps that lack it come last."""
    jobs = started_jobs(run)
    steps, _ = derivable_steps(run, jobs)
    of_logs = run.facts.kind == "imported" and bool(steps)
    costs = [_cost(job, step) for job, mine in steps.items() for step in mine]
    ranked = sorted(costs, key=_key(by))
    return StepCosts(
        run_id=run.facts.run_id,
        by=by,
        steps=len(costs),
        real_seconds=_real(costs),
        costliest=ranked[:most],
        tables=_tables(step for mine in steps.values() for step in mine),
        jobs=job_costs(jobs, steps) if of_logs else None,
        space=space_of(jobs, steps) if of_logs else None,
    )


def _real(costs: Sequence[StepCost]) -> float | None:
    known = [cost.real_seconds for cost in costs if cost.real_seconds is not None]
    return math.fsum(known) if known else None


def _cost(job: str, step: StepFigures) -> StepCost:
    read, written = step.read_bytes, step.written_bytes
    if step.io is not None:
        read = sum(moved.read_bytes for moved in step.io.values())
        written = sum(moved.written_bytes for moved in step.io.values())
    real, cpu = step.real_seconds, step.cpu_seconds
    moved = _sum(read, written)
    return StepCost(
        job=job,
        number=step.number,
        procedure=step.procedure,
        real_seconds=real,
        cpu_seconds=cpu,
        waiting_at_most_seconds=None if real is None or cpu is None else max(real - cpu, 0.0),
        read_bytes=read,
        written_bytes=written,
        bytes_per_second=None if moved is None or not real else moved / real,
        rows_read=step.rows_read,
        rows_written=step.rows_written,
        memory_bytes=step.memory_bytes,
        involuntary_switches=step.involuntary_switches,
    )


def _sum(read: int | None, written: int | None) -> int | None:
    return None if read is None or written is None else read + written


def _key(by: StepOrder) -> Callable[[StepCost], tuple[bool, float, str, int]]:
    def key(cost: StepCost) -> tuple[bool, float, str, int]:
        value = {
            "real": cost.real_seconds,
            "cpu": cost.cpu_seconds,
            "waiting": cost.waiting_at_most_seconds,
            "bytes": _sum(cost.read_bytes, cost.written_bytes),
            "memory": cost.memory_bytes,
            "switches": cost.involuntary_switches,
        }[by]
        return value is None, -(value or 0.0), cost.job, cost.number

    return key


def _tables(steps: Iterable[StepFigures]) -> list[TableReads]:
    rows: dict[str, int] = {}
    reads: dict[str, list[TableNote]] = {}
    for note in (note for step in steps for note in step.tables):
        if note.name is None or note.rows is None:
            continue
        name = note.name.upper()
        rows[name] = max(rows.get(name, 0), note.rows)
        if note.direction == "read":
            reads.setdefault(name, []).append(note)
    tables = [
        TableReads(
            table=name,
            passes=len(notes),
            filtered=sum(note.filtered for note in notes),
            rows=rows[name],
            scanned_rows=sum(rows[name] if note.filtered else note.rows or 0 for note in notes),
        )
        for name, notes in reads.items()
    ]
    return sorted(tables, key=lambda table: (-table.scanned_rows, table.table))[:MOST_TABLES]


HEAD = (
    *("step", "procedure", "real", "CPU", "waiting at most", "read", "written", "MB/s"),
    *("rows read", "rows written", "memory", "switches"),
)
SPARE = ("rows written", "rows read", "switches", "memory", "MB/s")
TABLE_HEAD = ("table", "passes", "with WHERE", "rows", "rows scanned")
SPACE_HEAD = ("place", "host", "at its peak", "at least", "at most", "when (UTC)", "sessions")
ORDERED_BY = {
    "real": "real time",
    "cpu": "CPU time",
    "waiting": "real time less CPU time",
    "bytes": "bytes read and written",
    "memory": "memory",
    "switches": "involuntary switches",
}
SHOWN: dict[StepOrder, Callable[[StepCost], str]] = {
    "cpu": lambda cost: figure(cost.cpu_seconds, format_seconds),
    "waiting": lambda cost: figure(cost.waiting_at_most_seconds, format_seconds),
    "bytes": lambda cost: figure(_sum(cost.read_bytes, cost.written_bytes), format_bytes),
    "memory": lambda cost: figure(cost.memory_bytes, format_memory),
    "switches": lambda cost: figure(cost.involuntary_switches, format_count),
}
NOTES = (
    "Waiting at most is real time less CPU time: threads that compute side by side hide waiting, and a step "
    "that pauses for its session counts as one that waits.",
    "Read and written are block operations of 512 bytes each where the log has them: what memory served is "
    "not in them. In a measured run they are what calls moved.",
    "Rows read are those that passed a WHERE; rows scanned are then those of the table.",
    "Switches are involuntary context switches: the system took the processor for another task.",
)


def document(costs: StepCosts) -> Document:
    """The table of the steps, then that of the tables."""
    steps = _told(
        name="steps",
        title=f"steps by {ORDERED_BY[costs.by]}",
        head=HEAD,
        rows=[_row(cost) for cost in costs.costliest],
        spare=tuple(name for name in SPARE if name != costs.by),
    )
    tables = Table(
        name="tables",
        title="tables of which most rows were read",
        head=TABLE_HEAD,
        rows=[
            (
                table.table,
                str(table.passes),
                str(table.filtered),
                format_count(table.rows),
                format_count(table.scanned_rows),
            )
            for table in costs.tables
        ],
    )
    lines = [
        ("steps", _finding(costs)),
        *(() if costs.jobs is None else job_lines(costs.jobs)),
        *(() if costs.space is None else space_lines(costs.space)),
    ]
    jobs = _told(
        name="jobs",
        title="jobs that cost most",
        head=JOB_HEAD,
        rows=[] if costs.jobs is None else job_rows(costs.jobs),
    )
    return Document(
        headline=Headline(sign="measured", sentence=_finding(costs)),
        facts=[f"run {costs.run_id}", counted_noun(costs.steps, "step")],
        parts=[
            Part((Lines(lines),), anchor="finding", title="Finding", short="Finding"),
            Part(filled(steps), anchor="steps", title="Steps that cost most", short="Steps"),
            Part(filled(jobs), anchor="jobs", title="Jobs that cost most", short="Jobs"),
            Part(filled(tables), anchor="tables", title="Tables that are read most", short="Tables"),
            *_space_parts(costs.space),
            Part((Sentences(NOTES),), anchor="notes", title="What the columns mean", short="Notes"),
        ],
        tag=("by steps", ""),
    )


def _told(*, head: Sequence[str], rows: Sequence[Sequence[str]], **other: Any) -> Table:
    """A table without the columns that no row tells."""
    told = [any(row[place] not in (ABSENT, "") for row in rows) for place in range(len(head))]
    kept = [place for place, is_told in enumerate(told) if is_told or not rows]
    head, *rows = (tuple(row[place] for place in kept) for row in (head, *rows))
    return Table(head=head, rows=rows, **other)


def _space_parts(space: Space | None) -> list[Part]:
    if space is None:
        return []
    peaks = Table(
        name="space",
        title="space of WORK and UTILLOC at its peak",
        head=SPACE_HEAD,
        rows=[*peak_rows(space)],
    )
    blocks = (peaks, Sentences(space.unknown))
    return [Part(blocks, anchor="space", title="Space of WORK and UTILLOC", short="Space")]


def _finding(costs: StepCosts) -> str:
    if not costs.costliest:
        return "the run has no DATA or PROC step"
    first = costs.costliest[0]
    took = figure(first.real_seconds, format_seconds)
    if costs.by != "real":
        value = SHOWN[costs.by](first)
        took = f"{value} (real time {took})"
    largest = (
        f"largest {ORDERED_BY[costs.by]}: step {first.number} ({first.procedure}) of {first.job}, {took}"
    )
    real = _real(costs.costliest)
    if len(costs.costliest) == costs.steps or real is None or not costs.real_seconds:
        return largest
    share = format_percent(real / costs.real_seconds)
    return f"{largest}; {len(costs.costliest)} of {costs.steps} steps take {share} of their real time"


def _row(cost: StepCost) -> tuple[str, ...]:
    return (
        f"{cost.job} {cost.number}",
        cost.procedure,
        figure(cost.real_seconds, format_seconds),
        figure(cost.cpu_seconds, format_seconds),
        figure(cost.waiting_at_most_seconds, format_seconds),
        figure(cost.read_bytes, format_bytes),
        figure(cost.written_bytes, format_bytes),
        ABSENT if cost.bytes_per_second is None else f"{cost.bytes_per_second / 1e6:.1f}",
        figure(cost.rows_read, format_count),
        figure(cost.rows_written, format_count),
        figure(cost.memory_bytes, format_memory),
        figure(cost.involuntary_switches, format_count),
    )


def csv_of(costs: StepCosts) -> str:
    """The steps as CSV, figures in base units; an unknown one is empty."""
    into = io.StringIO()
    writer = csv.writer(into, lineterminator="\n")
    writer.writerow(StepCost.__struct_fields__)
    writer.writerows(msgspec.structs.astuple(cost) for cost in costs.costliest)
    return into.getvalue().rstrip("\n")
