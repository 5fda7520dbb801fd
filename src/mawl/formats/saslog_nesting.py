"""Steps that run within another step: PROC IMPORT of a text file runs a DATA step, DOSUBL any steps.

SAS writes the note of the inner step first and numbers both alike (``Step Count``).  The times of the outer
step include those of the inner one (public logs of PROC IMPORT: none is smaller).  Without step counts
(STIMER) only PROC IMPORT shows it: the DATA step above wrote the table that its own notes name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mawl.formats.saslog_records import Entry, FactName, LogFact, PerformanceNote
from mawl.formats.saslog_scan.batch import MISSING, NoteBatch
from mawl.model.step_notes import MOST_TABLES, StepNotes, TableNote

BETWEEN: tuple[FactName, ...] = ("page", "error", "libref")
"""What may stand between the notes of an inner and an outer step: other facts begin or end something."""
MOST_BETWEEN = 100

STAMP_SECONDS = 1.1
"""What the time between two stamps of whole seconds may be off, and times of hundredths with it."""

_WORKING = ("data", "procedure")
_IMPORT = "IMPORT"


def with_nesting(parts: Iterable[Entry | NoteBatch]) -> Iterator[Entry | NoteBatch]:
    """The parts in their order; inner steps are marked ``nested``, and their rows and tables are the outer's.

    One note or batch and the facts below it are held back until the next note tells what it is.
    """
    held = _Held()
    for part in parts:
        split = isinstance(part, NoteBatch) and (not part.count or _nests(part) or held.goes_on_in(part))
        for piece in part.entries() if isinstance(part, NoteBatch) and split else (part,):
            if isinstance(piece, LogFact):
                if not held.takes(piece):
                    yield from held.released()
                    yield piece
            else:
                last = held.last_of(piece)
                if last is not None and isinstance(piece, PerformanceNote) and _contains(piece, last):
                    piece = _outer(piece, last)
                    held.mark_last()
                yield from held.released()
                held.first = piece
    yield from held.released()


class _Held:
    """A note or a batch, and the facts below it."""

    def __init__(self) -> None:
        self.first: PerformanceNote | NoteBatch | None = None
        self._before: list[Entry] = []
        self._facts: list[LogFact] = []

    def takes(self, fact: LogFact) -> bool:
        """Hold a fact back, if it may stand between two notes of one step."""
        if self.first is None or fact.name not in BETWEEN or len(self._facts) >= MOST_BETWEEN:
            return False
        self._facts.append(fact)
        return True

    def released(self) -> list[Entry | NoteBatch]:
        """All that was held back, in its order."""
        first = [] if self.first is None else [self.first]
        parts = [*self._before, *first, *self._facts]
        self.first, self._before, self._facts = None, [], []
        return parts

    def goes_on_in(self, batch: NoteBatch) -> bool:
        """Whether the first note of a batch has the step count of the last one that is held back."""
        count = self._step_count()
        return count is not None and int(batch.wholes["step_count"][0]) == count

    def last_of(self, following: PerformanceNote | NoteBatch) -> PerformanceNote | None:
        """The last note, if ``following`` may be of the same step."""
        if isinstance(following, NoteBatch) or self.first is None:
            return None
        count = self._step_count()
        if count != following.step_count or (count is None and following.name != _IMPORT):
            return None
        if isinstance(self.first, NoteBatch):
            entries = list(self.first.entries())
            place = max(at for at, entry in enumerate(entries) if isinstance(entry, PerformanceNote))
            last = entries[place]
            assert isinstance(last, PerformanceNote)
            self._before, self.first = entries[:place], last
            self._facts[:0] = [entry for entry in entries[place:] if isinstance(entry, LogFact)]
        return self.first

    def mark_last(self) -> None:
        """Mark the last note as of a step within the next one, which has its rows and tables now."""
        assert isinstance(self.first, PerformanceNote)
        self.first = msgspec.structs.replace(
            self.first, nested=True, rows_read=None, rows_written=None, variables_written=None, notes=None
        )

    def _step_count(self) -> int | None:
        if self.first is None or isinstance(self.first, PerformanceNote):
            return None if self.first is None else self.first.step_count
        count = int(self.first.wholes["step_count"][-1])
        return None if count == MISSING else count


def _nests(batch: NoteBatch) -> bool:
    """Whether a note of a batch may contain the one before it."""
    counts = batch.wholes["step_count"]
    known = counts != MISSING
    return bool(((counts[1:] == counts[:-1]) & known[1:]).any()) or (
        _IMPORT.encode() in batch.names.letters and not known.all()
    )


def _contains(outer: PerformanceNote, inner: PerformanceNote) -> bool:
    """Whether a step ran the one of the note above it; their step counts are alike, or both unknown."""
    long, short = outer.usage.real_time_seconds, inner.usage.real_time_seconds
    if outer.kind not in _WORKING or inner.kind not in _WORKING:
        return False
    if long is None or short is None or long < short:
        return False
    if outer.step_count is None and not (inner.kind == "data" and _repeated(outer, inner)):
        return False
    if outer.ended_at is None or inner.ended_at is None:
        return True
    # Logs of several sessions, one after another, can have steps of one number, too.
    since = outer.ended_at - inner.ended_at
    return since >= 0.0 and since + short <= long + STAMP_SECONDS


def _tables(note: PerformanceNote) -> Sequence[TableNote]:
    return () if note.notes is None else note.notes.tables


def _repeated(outer: PerformanceNote, inner: PerformanceNote) -> list[TableNote]:
    """The tables of which both steps say that they wrote them, with as many rows: they were written once."""
    written = [(table.name, table.rows, table.variables) for table in _written(inner) if table.name]
    return [table for table in _written(outer) if (table.name, table.rows, table.variables) in written]


def _written(note: PerformanceNote) -> list[TableNote]:
    return [table for table in _tables(note) if table.direction == "written"]


def _outer(outer: PerformanceNote, inner: PerformanceNote) -> PerformanceNote:
    """The outer step with the rows and tables of the inner one, each table once."""
    repeated = _repeated(outer, inner)
    tables = [*_tables(inner), *(table for table in _tables(outer) if table not in repeated)]
    own, its = outer.notes or StepNotes(), inner.notes or StepNotes()
    notes = StepNotes(
        tables=tuple(tables[:MOST_TABLES]),
        tables_left_out=own.tables_left_out + its.tables_left_out + max(len(tables) - MOST_TABLES, 0),
        sort=own.sort or its.sort,
        indexes_made=own.indexes_made + its.indexes_made,
        indexes_used=own.indexes_used + its.indexes_used,
    )
    return msgspec.structs.replace(
        outer,
        rows_read=_sum(outer.rows_read, inner.rows_read),
        rows_written=_sum(outer.rows_written, inner.rows_written, [table.rows for table in repeated]),
        variables_written=_sum(
            outer.variables_written, inner.variables_written, [table.variables for table in repeated]
        ),
        notes=None if notes == StepNotes() else notes,
    )


def _sum(outer: int | None, inner: int | None, repeated: Sequence[int | None] = ()) -> int | None:
    """A count of both steps, of tables that both tell of once; None where neither tells any."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    return outer + inner - sum(count or 0 for count in repeated)
