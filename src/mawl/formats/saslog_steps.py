"""A performance note as a step of a run, for logs that are imported and those of commands alike."""

from __future__ import annotations

from mawl.formats.saslog_records import NoteKind, PerformanceNote
from mawl.model.records import StepKind, StepRecord

STEP_KINDS: dict[NoteKind, StepKind] = {
    "data": "data",
    "procedure": "procedure",
    "view": "view",
    "initialization": "startup",
}
"""Notes that are steps; the session total is none."""


def step_of(
    note: PerformanceNote, job: str, number: int, started_at: float | None, ended_at: float | None
) -> StepRecord:
    """The step of a note, named as SAS names it: ``SORT``, ``DATA``; times in seconds since the epoch.

    That of a nested note is of kind ``nested``, whatever it is: its figures are in a step that follows.

    KeyError for the note of a session total.
    """
    return StepRecord(
        job=job,
        number=number,
        name=note.name or ("DATA" if note.kind == "data" else note.kind),
        kind="nested" if note.nested else STEP_KINDS[note.kind],
        started_at=started_at,
        ended_at=ended_at,
        usage=note.usage,
        rows_read=note.rows_read,
        rows_written=note.rows_written,
        variables_written=note.variables_written,
        notes=note.notes,
    )
