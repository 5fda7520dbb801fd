"""The steps of the jobs that took longest."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.errors import UnreadableRunError
from mawl.model.records import JobRecord, StepRecord
from mawl.model.role_io import FILE_ROLES
from mawl.reporters.figure import Form, figure, format_count
from mawl.reporters.html.figures import Cell, ShownFigures, absent, folded, paragraph, part, table
from mawl.store import Run
from mawl.units import format_bytes, format_memory, format_seconds

MOST_JOBS = 10
MOST_STEPS = 100
"""Steps of one job that are shown: a log may have many thousands."""

TERMS = {"cpu_seconds": "time.cpu_seconds"}
"""Field of a usage that is worked out, to the name that its definition has."""

NO_FIGURE = "the step has no such figure"

COLUMNS: dict[str, tuple[str, Form]] = {
    "real": ("real_time_seconds", format_seconds),
    "CPU": ("cpu_seconds", format_seconds),
    "user CPU": ("user_cpu_seconds", format_seconds),
    "system CPU": ("system_cpu_seconds", format_seconds),
    "read": ("application_read_bytes", format_bytes),
    "written": ("application_written_bytes", format_bytes),
    "own read": ("own_read_bytes", format_bytes),
    "memory": ("memory_bytes", format_memory),
    "page faults": ("page_faults", format_count),
}


def slowest(figures: ShownFigures, run: Run, jobs: Sequence[JobRecord]) -> Markup:
    """A folded table of steps per job, the longest real time first; nothing where none is known."""
    known = [job for job in jobs if job.usage.real_time_seconds is not None]
    longest = sorted(known, key=lambda job: -(job.usage.real_time_seconds or 0.0))[:MOST_JOBS]
    title = "Steps of the slowest jobs"
    if not longest:
        return Markup()
    try:
        steps = run.steps_by_job([job.job for job in longest])
    except UnreadableRunError as error:
        return part("slowest", title, paragraph(f"The steps cannot be read: {error}.", "why"))
    head = (
        "step",
        "kind",
        *(figures.term(label, TERMS.get(field, field)) for label, (field, _) in COLUMNS.items()),
        "read and written by role",
    )
    parts = [folded(_title(job), _table(job, steps.get(job.job, []), head)) for job in longest]
    return part("slowest", title, *parts)


def _title(job: JobRecord) -> str:
    real = figure(job.usage.real_time_seconds, format_seconds)
    return f"{job.job}: {job.program}, {real}, {job.outcome.replace('_', ' ')}"


def _table(job: JobRecord, steps: Sequence[StepRecord], head: Sequence[Cell]) -> Markup:
    if not steps:
        return paragraph("It left no record of a step.", "why")
    shown = sorted(steps, key=lambda step: -(step.usage.real_time_seconds or 0.0))[:MOST_STEPS]
    shown.sort(key=lambda step: step.number)
    rows = [
        (
            f"{step.number} {step.name}",
            step.kind,
            *(_cell(getattr(step.usage, field), form) for field, form in COLUMNS.values()),
            _roles(step),
        )
        for step in shown
    ]
    title = (
        f"Steps of {job.job}"
        if len(shown) == len(steps)
        else (f"The {len(shown)} longest of {len(steps)} steps of {job.job}")
    )
    return table(title, head, rows, words=(len(head) - 1,), texts=(1,))


def _cell(value: float | None, form: Form) -> Cell:
    return absent(NO_FIGURE) if value is None else form(value)


def _roles(step: StepRecord) -> Cell:
    if step.io is None:
        return absent("I/O by role was not measured")
    moved = [
        f"{role} {format_bytes(part.read_bytes)} and {format_bytes(part.written_bytes)}"
        for role in FILE_ROLES
        if (part := step.io.get(role)) and (part.read_bytes or part.written_bytes)
    ]
    return ", ".join(moved) or "none"
