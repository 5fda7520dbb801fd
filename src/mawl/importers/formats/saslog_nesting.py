"""Steps that run within another step: PROC IMPORT of a text file runs a DATA step, DOSUBL any steps.

SAS writes the note of an inner step first and numbers both alike (``Step Count``).  The times of the outer
step include those of the inner ones (public logs of PROC IMPORT: none is smaller).  Where step counts or
timestamps are absent (STIMER), only two procedures show it: the DATA step above wrote the table that PROC
IMPORT names, or read the one that PROC EXPORT to a text file names (``9 records created in FILE from A.``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from mawl.importers.formats.saslog_records import Entry, FactName, LogFact, PerformanceNote, is_first_page
from mawl.importers.formats.saslog_scan import MISSING, NoteBatch
from mawl.records.model.records import MOST_REMOVALS, MOST_TABLES, StepNotes, TableNote

BETWEEN: tuple[FactName, ...] = ("page", "error", "libref", "view")
"""What may stand between the notes of an inner and an outer step: other facts begin or end something."""
MOST_HELD = 100
"""Notes of one step count, and what stands between them, that are held back."""

STAMP_SECONDS = 1.1
"""What the time between two stamps of whole seconds may be off, and times of hundredths with it."""

_WORKING = ("data", "procedure")
_IMPORT, _EXPORT, _SQL = "IMPORT", "EXPORT", "SQL"
_NAME_THE_TABLE = (_IMPORT, _EXPORT)
"""Procedures whose notes name the table of the DATA step that they ran."""


def with_nesting(parts: Iterable[Entry | NoteBatch]) -> Iterator[Entry | NoteBatch]:
    """The parts in their order; inner steps are marked ``nested``, and their rows and tables are the outer's.

    Notes of one step count, or a batch, and what stands below them are held back until the next note.
    """
    held = _Held()
    for part in parts:
        split = isinstance(part, NoteBatch) and (not part.count or _nests(part) or held.goes_on_in(part))
        for piece in part.entries() if isinstance(part, NoteBatch) and split else (part,):
            if isinstance(piece, PerformanceNote) and held.is_of_last_step(piece):
                yield from held.add(piece)
            elif isinstance(piece, LogFact) and held.takes(piece):
                held.parts.append(piece)
            else:
                yield from held.parts
                held.parts = [] if isinstance(piece, LogFact) else [piece]
                if isinstance(piece, LogFact):
                    yield piece
    yield from held.parts


class _Held:
    """Notes that may be of one step, or a batch, and the facts between and below them."""

    def __init__(self) -> None:
        self.parts: list[Entry | NoteBatch] = []

    def takes(self, fact: LogFact) -> bool:
        """Whether a fact may stand between two notes of one step."""
        begins = fact.name == "page" and is_first_page(fact.text)
        ends = fact.name == "error" and fact.text.startswith("Remote submit to ")
        return 0 < len(self.parts) < MOST_HELD and fact.name in BETWEEN and not begins and not ends

    def goes_on_in(self, batch: NoteBatch) -> bool:
        count = self._step_count()
        return count is not None and int(batch.wholes["step_count"][0]) == count

    def is_of_last_step(self, note: PerformanceNote) -> bool:
        if not 0 < len(self.parts) < MOST_HELD or self._ends_with_first_page():
            return False
        count = self._step_count()
        shown = count is not None or note.name in _NAME_THE_TABLE
        return shown and note.step_count == count

    def add(self, outer: PerformanceNote) -> list[Entry]:
        """Hold a note back, too; those of steps within its own are marked, and it has their rows and tables.

        Returns what came in a batch before its last note, and is held back no longer.
        """
        before: list[Entry] = []
        if isinstance(self.parts[0], NoteBatch):
            entries = list(self.parts[0].entries())
            last = max(place for place, one in enumerate(entries) if isinstance(one, PerformanceNote))
            before, self.parts[:1] = entries[:last], entries[last:]
        told = outer
        places = [
            place
            for place, part in enumerate(self.parts)
            if isinstance(part, PerformanceNote) and not part.nested
        ]
        for place in reversed(places):
            inner = self.parts[place]
            assert isinstance(inner, PerformanceNote)
            if not _contains(told, inner):
                break
            outer = _outer(outer, inner, _repeated(told, inner))
            self.parts[place] = msgspec.structs.replace(
                inner, nested=True, rows_read=None, rows_written=None, variables_written=None, notes=None
            )
        self.parts.append(outer)
        return before

    def _ends_with_first_page(self) -> bool:
        """Whether a session begins below the last note of a batch."""
        first = self.parts[0]
        if not isinstance(first, NoteBatch):
            return False
        below = (first.pages.notes == first.count).nonzero()[0].tolist()
        return any(is_first_page(first.pages.at(place)[1].text) for place in below)

    def _step_count(self) -> int | None:
        for part in reversed(self.parts):
            if isinstance(part, NoteBatch):
                count = int(part.wholes["step_count"][-1])
                return None if count == MISSING else count
            if isinstance(part, PerformanceNote):
                return part.step_count
        return None


def _nests(batch: NoteBatch) -> bool:
    """Whether a note of a batch may contain the one before it."""
    counts = batch.wholes["step_count"]
    known = counts != MISSING
    return bool(((counts[1:] == counts[:-1]) & known[1:]).any()) or (
        _IMPORT.encode() in batch.names.letters and not known.all()
    )


def _contains(outer: PerformanceNote, inner: PerformanceNote) -> bool:
    """Whether a step ran that of a note above it; their step counts are alike, or both unknown."""
    long, short = outer.usage.real_time_seconds, inner.usage.real_time_seconds
    if outer.kind not in _WORKING or inner.kind not in _WORKING:
        return False
    if outer.name == inner.name == _SQL:
        return False  # statements of one PROC SQL STIMER
    if long is None or short is None or long < short:
        return False
    if outer.step_count is None or outer.ended_at is None or inner.ended_at is None:
        return outer.name in _NAME_THE_TABLE and inner.kind == "data" and bool(_repeated(outer, inner))
    # Logs of several sessions, one after another, can have steps of one number, too.
    since = outer.ended_at - inner.ended_at
    return since >= 0.0 and since + short <= long + STAMP_SECONDS


def _tables(note: PerformanceNote) -> Sequence[TableNote]:
    return () if note.notes is None else note.notes.tables


def _repeated(outer: PerformanceNote, inner: PerformanceNote) -> list[TableNote]:
    """The tables that both steps wrote, or read for PROC EXPORT, with as many rows: it was done once."""
    direction = "read" if outer.name == _EXPORT else "written"
    inside, own = (
        [table for table in _tables(note) if table.direction == direction] for note in (inner, outer)
    )
    told = [(table.name, table.rows, table.variables) for table in inside if table.name]
    return [table for table in own if (table.name, table.rows, table.variables) in told]


def _outer(outer: PerformanceNote, inner: PerformanceNote, repeated: Sequence[TableNote]) -> PerformanceNote:
    """The outer step with the rows and tables of the inner one, ``repeated`` ones once."""
    tables = [*_tables(inner), *(table for table in _tables(outer) if table not in repeated)]
    own, its = outer.notes or StepNotes(), inner.notes or StepNotes()
    notes = StepNotes(
        tables=tuple(tables[:MOST_TABLES]),
        tables_left_out=own.tables_left_out + its.tables_left_out + max(len(tables) - MOST_TABLES, 0),
        sort=own.sort or its.sort,
        indexes_made=own.indexes_made + its.indexes_made,
        indexes_used=own.indexes_used + its.indexes_used,
        removed=(its.removed + own.removed)[:MOST_REMOVALS],
        removed_left_out=own.removed_left_out
        + its.removed_left_out
        + max(len(its.removed) + len(own.removed) - MOST_REMOVALS, 0),
    )
    both = (outer, inner)
    read, written = (
        [table for table in repeated if table.direction == direction] for direction in ("read", "written")
    )
    return msgspec.structs.replace(
        outer,
        rows_read=_sum(both, "rows_read", "read", [table.rows for table in read]),
        rows_written=_sum(both, "rows_written", "written", [table.rows for table in written]),
        variables_written=_sum(both, "variables_written", "written", [table.variables for table in written]),
        notes=None if notes == StepNotes() else notes,
    )


def _sum(
    steps: Sequence[PerformanceNote],
    field: str,
    direction: Literal["read", "written"],
    repeated: Sequence[int | None] = (),
) -> int | None:
    """A count of several steps less that of the tables that two tell of.

    None where no step tells any, and where one names tables of which a count is not known.  (Of a step whose
    only note on rows is damaged, nothing shows that it had any.)
    """
    known = []
    for step in steps:
        count: int | None = getattr(step, field)
        if count is not None:
            known.append(count)
        elif any(table.direction == direction for table in _tables(step)):
            return None
    return sum(known) - sum(count or 0 for count in repeated) if known else None
