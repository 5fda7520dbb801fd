"""Tables that steps name: their roles, and how many bytes their rows take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from statistics import median
from typing import Literal

import msgspec

from mawl.records.model.records import TableNote
from mawl.records.spec.program_options import Role

Origin = Literal["told", "inferred", "assumed"]
ORIGINS: tuple[Origin, ...] = ("told", "inferred", "assumed")
"""From the surest to the least sure."""


class Ranged(msgspec.Struct, frozen=True, gc=False):
    """A figure of a step: ``value`` between ``low`` and ``high``, in base units.

    A ``told`` figure is in the log.  An ``inferred`` one follows from figures of the log.  An ``assumed`` one
    rests on a convention of mawl.  ``rule`` is a name of ``RULES``.
    """

    value: float
    low: float
    high: float
    origin: Origin
    rule: str

    def times(self, factor: float) -> Ranged:
        return msgspec.structs.replace(
            self, value=self.value * factor, low=self.low * factor, high=self.high * factor
        )


def about(value: float, below: float, above: float, origin: Origin, rule: str) -> Ranged:
    """A value whose range goes from ``below`` times to ``above`` times of it."""
    return Ranged(value, value * below, value * above, origin, rule)


def exactly(value: float, rule: str, origin: Origin = "told") -> Ranged:
    """A value without a range."""
    return Ranged(value, value, value, origin, rule)


RULES: dict[str, str] = {
    "log": "the log tells it; the range is that of its last digit",
    "counted": "mawl counted the calls of the job, by role",
    "no-input-output": "the step names no table and its block operations are 0",
    "blocks": "block operations times 512 bytes, all in the only role of the tables that the step names",
    "blocks-by-tables": "block operations times 512 bytes, shared out over roles by the sizes of the tables",
    "blocks-role": "block operations times 512 bytes; no table is named: reads count as of the table the "
    "job wrote last (_LAST_), or of permanent ones before the first, writes as of WORK, and those of a sort, "
    "join or summary from 1 MiB on as of utility files",
    "blocks-cached": "the size of the tables, since block operations are less: memory served the rest",
    "blocks-at-least": "block operations times 512 bytes, by the sizes of the tables; memory may have "
    "served more, up to the largest size that the rows allow",
    "written-width": "rows times bytes a row, by the block operations of the step that wrote the table",
    "written-at-most": "rows times bytes a row, by the block operations of the step that wrote the table; "
    "some of them can be of utility files",
    "where-whole": "rows after WHERE: the step read the table, whose rows another step tells, and the log "
    "counts the rows that passed; an index that no line names can have found these alone",
    "where-index": "rows after WHERE: an index found them; the range goes up to the whole table",
    "where-open": "rows after WHERE: the log counts the rows that passed, and no step tells how many the "
    "table has; the range goes up to what the real time allows at 1 GB/s",
    "where-blocks": "rows after WHERE: the step read more than the rows that passed, and block operations "
    "times 512 bytes, less the sizes of the other tables, tell how much",
    "part-of-table": "fewer rows than another step tells of the table (OBS=, FIRSTOBS=, STOP, an index): the "
    "range goes up to the whole table; block operations beyond the other tables are of this one",
    "part-of-file": "the records that were read are less than the file whose size the log tells (OBS=, "
    "FIRSTOBS=, STOP): the range goes up to the whole file",
    "sorted-width": "rows times bytes a row of the table that was sorted",
    "variables": "rows times variables times 8 bytes, the length of a number in SAS; character variables are "
    "longer or shorter",
    "compressed": "rows times variables times 8 bytes, times the share of pages that compression left",
    "file": "the size of the external file, or the bytes of a command's files, which the log tells",
    "records": "records times the mean of the shortest and the longest",
    "rows-only": "rows times 160 bytes (20 variables of 8 bytes): the log tells no variables",
    "records-only": "records times 100 bytes: the log tells no record length",
    "sort-spill": "the step sorts more than its memory holds: what it reads goes through utility files once",
    "rest-util": "block operations beyond the tables of a sort, join or summary count as utility files; "
    "they can be of any role",
    "may-spill": "the procedure may use utility files, on which SAS writes no note: up to what its tables "
    "leave of the block operations, or to the largest size of the tables that it reads",
    "any-role": "no table that a note names accounts for these bytes: they can be of any role",
    "no-blocks": "the log has neither tables nor block operations of a known size; the "
    "range is what the real time allows at 1 GB/s",
    "cpu-of-real": "the log tells no CPU time: half of the real time; the range is from 0 to all of it",
    "memory": "the log tells no memory: 64 MiB; the range is from 1 MiB to 2 GiB (SAS's default MEMSIZE)",
    "memory-of-sort": "the log tells no memory: what is sorted, at most 1 GiB (SAS's default SORTSIZE)",
    "threads": "CPU time divided by real time, rounded up",
    "one-thread": "CPU time is at most 1.05 times the real time, or the log lacks one of the two",
    "last-table": "the procedure reads a table and the log does not say which: the one that the job wrote "
    "last; the range is from 0 to twice its size, or to what the real time allows at 1 GB/s",
    "query": "a query joins tables, unless its notes name one only; SAS writes no note on what SQL reads",
    "procedure": "the procedure, and the tables that the step names",
    "queue": "the history of a scheduler tells it: from the time at which the job could run to its start",
    "cpu-per-byte": "CPU seconds for each GB that the step moves",
}
"""Rule to its sentence, for pages and JSON."""


NUMBER_BYTES = 8
USUAL_VARIABLES = 20
USUAL_RECORD_BYTES = 100
SHORTEST, LONGEST = 0.4, 4.0
"""The range of 8 bytes for each variable: from numbers of length 3 to text of 32 characters."""

PAGES_BYTES = 2 * 65536
"""What a table of few rows takes: the page that describes it and one of rows, each of 64 KiB (BUFSIZE)."""

WIDTH_SHORTEST, WIDTH_LONGEST = 0.8, 1.25
"""The range of a width that comes from the step that wrote the table."""

Key = tuple[str, str]
"""The job whose table it is (empty for permanent tables), and LIBREF.MEMBER in upper case."""

USUAL_ROLES: dict[Role, re.Pattern[str]] = {
    "work": re.compile(r"WORK|USER"),
    "util": re.compile(r"UTIL|UTILLOC|SASUTIL"),
}
"""Librefs that are not of permanent tables, unless the user says otherwise."""


def whole_rows(note: TableNote) -> int | None:
    """The rows of a table, as far as a note tells: at least those that were read without a WHERE.

    None for rows that were inserted: that note does not say how many there were before.
    """
    if note.table_rows is not None:
        return note.table_rows
    inserted = note.direction == "written" and note.variables is None
    return None if inserted or note.filtered else note.rows


class Libraries:
    """Which role a libref is in, and how many rows its tables have."""

    def __init__(self, given: Mapping[Role, Sequence[re.Pattern[str]]] | None = None) -> None:
        """``given`` are patterns of whole librefs in upper case by role, which go before the usual ones."""
        self._patterns = [
            *((role, one) for role, many in (given or {}).items() for one in many),
            *USUAL_ROLES.items(),
        ]
        self.rows: dict[Key, int] = {}
        """The most rows of each permanent table, as far as ``learn`` was given notes."""

    def learn(self, notes: Iterable[TableNote]) -> None:
        """Take the rows of permanent tables from notes of any step: written, or read whole."""
        for note in notes:
            rows = whole_rows(note)
            if rows is None or self.role_of(note) != "data" or (key := self.key_of(note, "")) is None:
                continue
            self.rows[key] = max(self.rows.get(key, 0), rows)

    def role_of(self, note: TableNote) -> Role:
        """The role of a table; external files, and tables whose name cannot be read, are permanent."""
        if note.external or note.name is None:
            return "data"
        libref, dot, _ = note.name.partition(".")
        if not dot:
            return "work"
        upper = libref.upper()
        return next((role for role, pattern in self._patterns if pattern.fullmatch(upper)), "data")

    def key_of(self, note: TableNote, job: str) -> Key | None:
        """What the table is known by; None where its name is not known."""
        if note.name is None:
            return None
        name = note.name.upper() if "." in note.name else f"WORK.{note.name.upper()}"
        return ("" if self.role_of(note) == "data" else job, name)


class ObservedSizes:
    """What steps so far have shown of each table: variables, and bytes a row."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self._rows = dict(libraries.rows)
        self._written: dict[Key, int | None] = {}
        self._variables: dict[Key, int] = {}
        self._widths: dict[Key, list[float]] = {}
        self._at_most: set[Key] = set()

    def wrote(self, note: TableNote, job: str, table_bytes: float | None, *, at_most: bool = False) -> None:
        """A table was written; ``table_bytes`` where the step wrote nothing else and its bytes are known.

        ``at_most``: some of these bytes can be of utility files.
        """
        key = self.libraries.key_of(note, job)
        if key is None or note.external:
            return
        if note.variables is not None:
            self._variables[key] = note.variables
        widths = self._widths.setdefault(key, [])
        rows = whole_rows(note)
        if rows is None and note.rows is not None and key in self._written:
            rows = (self._written[key] or 0) + note.rows  # rows were inserted
        elif key[0] and note.table_rows is None:  # a table of WORK is replaced
            widths.clear()
            self._at_most.discard(key)
        if key[0]:
            self._rows[key] = rows or 0
        self._written[key] = rows
        if table_bytes is not None and note.rows:
            widths.append(table_bytes / note.rows)
            if at_most:
                self._at_most.add(key)

    def of(self, note: TableNote, job: str, *, indexed: bool = False) -> Ranged | None:
        """Bytes that a step moves of a table; None where the note tells no rows.

        A step reads more rows than pass its WHERE, unless it is ``indexed``; the highest value is infinite if
        nothing tells how many rows the table has.  A table that an earlier step wrote has the rows of then,
        and at most those that any step tells.
        """
        passed = self.of_rows(note, job)
        if passed is None or note.direction != "read" or note.external or note.rows is None:
            return passed
        key = self.libraries.key_of(note, job)
        rows = None if key is None else self._rows.get(key)
        if rows is None or rows < note.rows:
            return msgspec.structs.replace(passed, high=inf, rule="where-open") if note.filtered else passed
        written = None if key is None else self._written.get(key)
        if note.rows in (rows, written) and not note.filtered:
            return passed
        whole = self._of(note, rows, job)
        if note.filtered:
            then = whole if written is None or written < note.rows else self._of(note, written, job)
            most = max(whole.high, then.high)
            if indexed:
                return Ranged(passed.value, passed.low, most, "inferred", "where-index")
            return Ranged(then.value, passed.low, most, "inferred", "where-whole")
        return msgspec.structs.replace(passed, high=whole.high, rule="part-of-table")

    def whole(self, note: TableNote, job: str) -> Ranged | None:
        """Bytes of the table that a step reads, also with a WHERE; None if no earlier step wrote that one."""
        if not note.filtered:
            return self.of(note, job)
        key = self.libraries.key_of(note, job)
        rows = None if key is None else self._written.get(key)
        return None if rows is None else self._of(note, rows, job)

    def _of(self, note: TableNote, rows: int, job: str) -> Ranged:
        size = self.of_rows(msgspec.structs.replace(note, rows=rows), job)
        assert size is not None, "the note tells rows"
        return size

    def of_rows(self, note: TableNote, job: str) -> Ranged | None:
        """Bytes of the rows that a note tells; None where it tells no rows."""
        if note.external:
            return _external(note)
        if note.file_bytes is not None:
            return exactly(float(note.file_bytes), "file")
        if note.rows is None:
            return None
        key = self.libraries.key_of(note, job)
        variables = note.variables
        if key is not None:
            if (widths := self._widths.get(key)) and note.direction == "read":
                bytes_ = note.rows * median(widths)
                rule, least = "written-width", bytes_ * WIDTH_SHORTEST
                if key in self._at_most:
                    plain = note.rows * self._variables.get(key, 0) * NUMBER_BYTES
                    rule, least = "written-at-most", min(least, plain * SHORTEST)
                return Ranged(bytes_, least, bytes_ * WIDTH_LONGEST, "inferred", rule)
            variables = self._variables.get(key) if variables is None else variables
        if variables is None:
            usual = note.rows * USUAL_VARIABLES * NUMBER_BYTES
            return in_pages(about(usual, 0.1, 10.0, "assumed", "rows-only"))
        plain = note.rows * max(variables, 1) * NUMBER_BYTES
        if note.pages is not None and note.uncompressed_pages:
            kept = note.pages / note.uncompressed_pages
            return in_pages(about(plain * kept, SHORTEST, LONGEST, "inferred", "compressed"))
        return in_pages(about(plain, SHORTEST, LONGEST, "inferred", "variables"))


def in_pages(rows: Ranged) -> Ranged:
    """Rows in whole pages, below the page that describes the table."""
    return msgspec.structs.replace(rows, high=max(rows.high, rows.value + PAGES_BYTES))


def _external(note: TableNote) -> Ranged | None:
    records = _records(note)
    if note.file_bytes is None:
        return records
    if records is not None and records.rule == "records" and records.high < note.file_bytes:
        return msgspec.structs.replace(records, high=float(note.file_bytes), rule="part-of-file")
    return exactly(float(note.file_bytes), "file")


def _records(note: TableNote) -> Ranged | None:
    """Bytes of the records that a note tells."""
    if note.rows is None:
        return None
    if note.longest_record_bytes is None:
        return about(note.rows * USUAL_RECORD_BYTES, 0.1, 10.0, "assumed", "records-only")
    shortest = min(note.shortest_record_bytes or 0, note.longest_record_bytes)
    mean = (shortest + note.longest_record_bytes) / 2 + 1
    return Ranged(
        note.rows * mean,
        note.rows * float(shortest),
        note.rows * float(note.longest_record_bytes + 2),
        "inferred",
        "records",
    )
