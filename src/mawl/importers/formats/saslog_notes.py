"""The notes of a SAS log above its performance notes: tables and files with their rows, sorts, indexes.

``Above`` reads them; ``file_notes`` and ``row_notes`` make those of mawl's own logs, with tables named as SAS
would name them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from mawl.importers.formats.saslog_records import FactName
from mawl.plan.programs import Pass, Program
from mawl.records.model.records import (
    MOST_REMOVALS,
    MOST_TABLES,
    SortNote,
    StepNotes,
    StepRecord,
    TableNote,
    TableRemoval,
)
from mawl.records.spec.program_options import ROLES, Role

_READ = re.compile(r"NOTE: There (?:were|was) [0-9][0-9 ]*o")
_WRITTEN = re.compile(r"NOTE: (?:The data set \S+ has [0-9]|Table \S+ created, with [0-9])")

_FACTS: tuple[tuple[FactName, re.Pattern[str]], ...] = (
    ("begins", re.compile(r"NOTE: (?:Copyright \(c\) .*|Written by mawl .*)")),
    ("software", re.compile(r"NOTE: SAS \([rR]\) (?:Proprietary Software |(?=[0-9]))(?:Release )?(.*?)\s*")),
    ("platform", re.compile(r"NOTE: This session is executing on the (.*?) platform\.\s*")),
    ("identity", re.compile(r"NOTE: This is (job .*); all times are UTC\.\s*")),
    ("place", re.compile(r"(NOTE: It is stage .*)")),
    (
        "view",
        re.compile(r"NOTE: (?:DATA STEP view saved on file|SQL view) (\S+?)(?: has been defined)?\.\s*"),
    ),
    (
        "remote",
        re.compile(r"NOTE: Remote ((?:signon to|submit to|signoff from) \S+ (?:commencing|complete))\b.*"),
    ),
)
_ERROR = re.compile(r"ERROR(?: [0-9]{1,4}-[0-9]{1,4})?: ?(.*)")
_HEADER = re.compile(r"PASS HEADER ([a-z0-9]{1,10}=\S.*?)\s*")

OPENINGS = (
    "NOTE: DATA statement",
    "NOTE: PROCEDURE ",
    "NOTE: View ",
    "NOTE: SAS initialization",
    "NOTE: The SAS System",
    "NOTE: There were ",
    "NOTE: The data set ",
    "NOTE: Table ",
    "NOTE: Deleting ",
    "NOTE: Changing the name ",
    "NOTE: The PROCEDURE ",
    "NOTE: The DATA ",
    "NOTE: The view ",
    "NOTE: This session is executing",
    "NOTE: This is job ",
    "NOTE: Remote ",
)
"""Notes of which a part may stand on the next line, where the lines of a log are short."""

_FIGURE_BELOW = re.compile(
    r"\s{2,}[^\s0-9][^0-9:]{0,40}?(?:\s{2,}|\s:\s+)"
    r"[0-9]{1,9}[.,:][0-9][0-9.,:]{0,20}(?:\s?[^\s0-9]{1,12})?\s*"
)
"""A time, with which performance notes begin; ``Levels:  2`` below a libref is none."""
_COLONS = (":", "：", "£º")
"""Also the wide colon of Chinese and Japanese logs, and its bytes read as cp1252."""


def fact(text: str) -> tuple[FactName, str] | None:
    """What a line tells of its session; None for most lines."""
    if text.startswith("ERROR"):
        match = _ERROR.fullmatch(text)
        return None if match is None else ("error", match[1].strip())
    if text.startswith("PASS HEADER "):
        match = _HEADER.fullmatch(text)
        return None if match is None else ("header", match[1])
    for name, pattern in _FACTS:
        if match := pattern.fullmatch(text):
            return name, match[1] if pattern.groups else ""
    return None


def damaged_rows(text: str) -> tuple[str, ...]:
    """The counts that a note on rows would tell, were it whole; none for any other note."""
    if _READ.match(text):
        return ("rows_read",)
    return ("rows_written", "variables_written") if _WRITTEN.match(text) else ()


def may_go_on(text: str) -> bool:
    """Whether a note begins as one that matters and may end on the next line."""
    return text.startswith(OPENINGS)


def like_a_heading(text: str) -> bool:
    """Whether a note that is none of SAS's own headings could be one of another language or vendor."""
    return text.rstrip().endswith(_COLONS)


def like_a_figure(text: str) -> bool:
    """Whether the line below such a note looks like a name and a figure; CAS begins that with NOTE:, too."""
    return _FIGURE_BELOW.fullmatch(text.strip("\r\n").removeprefix(" ").removeprefix("NOTE:")) is not None


def look_alike(text: str) -> str:
    """Why such a block is not read."""
    if re.match(r"NOTE: Action\b", text):
        return "metrics of a CAS action, no step of SAS"
    if not text.isascii() or not re.search(r"used \(Total process time\)|took :", text):
        return "a performance note in another language than English, or no note of SAS"
    if "took :" in text:
        return "a note of another vendor's software, no step of SAS"
    return "a performance note of something that is no DATA step and no procedure"


NUMBER_BYTES = 8
LONGEST_MEMBER = 32


class _Declared(NamedTuple):
    role: Role
    rows: float
    """At scale 1."""
    variables: int
    record_bytes: int | None
    """Of a text file, whose records are of one length."""


def file_notes(step: StepRecord, program: str) -> Iterator[str]:
    """The bytes of the files of a step that no program declares, by role: a command names no tables.

    SAS has no such note.  Its words are those of the notes on records of files.
    """
    for role in ROLES:
        if step.io is None or role not in step.io:
            continue
        name, moved = f"{role.upper()}.{member(program)}", step.io[role]
        if moved.read_bytes:
            yield f"NOTE: {moved.read_bytes} bytes were read from the files {name}."
        if moved.written_bytes:
            yield f"NOTE: {moved.written_bytes} bytes were written to the files {name}."


def row_notes(step: StepRecord, program: Program | None, name: str) -> Iterator[str]:
    """The notes of a step; ``name`` stands for its tables where the program declares none.

    A step counts its rows over all tables, and each table gets what it declares of them.  The libref is the
    role in which the table lies; a temporary table has a variable for each 8 bytes of its rows.
    """
    passes = None
    if program is not None:
        passes = next((one for one in program.steps if one.name == step.name), None)
    if step.rows_read is not None:
        if program is None or passes is None or not passes.reads:
            yield f"NOTE: There were {step.rows_read} observations read from the data set MAWL.{name}."
        else:
            for one, rows in _shared(program, passes.reads, step.rows_read):
                yield from _read(one.table, _table(program, one.table), rows)
    if step.rows_written is not None:
        if program is None or passes is None or not passes.writes:
            yield f"NOTE: {step.rows_written} records were written to the file {name}."
        else:
            for one, rows in _shared(program, passes.writes, step.rows_written):
                table = _table(program, one.table)
                yield (
                    f"NOTE: The data set {_name(one.table, table)} has {rows} observations "
                    f"and {table.variables} variables."
                )


def _read(name: str, table: _Declared, rows: int) -> Iterator[str]:
    if table.record_bytes is None:
        yield f"NOTE: There were {rows} observations read from the data set {_name(name, table)}."
        return
    yield f"NOTE: {rows} records were read from the infile {member(name)}."
    yield f"      The minimum record length was {table.record_bytes}."
    yield f"      The maximum record length was {table.record_bytes}."


def _shared(program: Program, passes: Sequence[Pass], rows: int) -> list[tuple[Pass, int]]:
    """The rows of each pass: in proportion to what it declares, whole numbers that add up to ``rows``."""
    declared = [_table(program, one.table).rows * one.share for one in passes]
    whole = math.fsum(declared)
    ends = [round(rows * math.fsum(declared[: place + 1]) / whole) for place in range(len(passes))]
    starts = [0, *ends]
    return [(one, end - start) for one, start, end in zip(passes, starts, ends, strict=False)]


def _table(program: Program, name: str) -> _Declared:
    for table in program.inputs:
        if table.name == name:
            return _Declared("data", float(table.rows(1.0)), len(table.columns), table.record_bytes)
    for temporary in program.temporaries:
        if temporary.name == name:
            variables = -(-temporary.row_bytes // NUMBER_BYTES)
            return _Declared(temporary.role, program.rows(1.0) * temporary.rows_ratio, variables, None)
    raise KeyError(f"{program.name} declares no table {name!r}")


def _name(name: str, table: _Declared) -> str:
    return f"{table.role.upper()}.{member(name)}"


def member(name: str) -> str:
    """A table's name as SAS allows it: upper case, one word."""
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name.upper())
    return plain[:LONGEST_MEMBER] if plain[:1].isalpha() else f"_{plain}"[:LONGEST_MEMBER]


NAME = r"(?:[A-Za-z_][A-Za-z0-9_]{0,31}\.)?(?:[A-Za-z_][A-Za-z0-9_]{0,63}|'[^'\n]{1,64}'n)"
"""A table: ``LIBREF.MEMBER``, ``MEMBER``, or with a name literal."""

_NUMBER = r"([0-9]{1,18})"
_WAS = r"(?:were|was)"
_TABLE_READ = re.compile(
    rf"NOTE: There {_WAS} {_NUMBER} observations? read from the data ?set (?:({NAME})\.(?=\s|$))?.*"
)
_TABLE_WRITTEN = re.compile(
    rf"NOTE: The data set (?:({NAME})|\S+) has {_NUMBER} observations and {_NUMBER} variables\..*"
)
_CREATED = re.compile(rf"NOTE: Table (?:({NAME})|\S+) created, with {_NUMBER} rows and {_NUMBER} columns\..*")
_ADDED = re.compile(rf"NOTE: {_NUMBER} observations? added\.\s*")
_TRANSFERRED = re.compile(
    rf"NOTE: (?:Uploaded|Downloaded) {_NUMBER} observations? of {_NUMBER} variables?\.\s*"
)
_INSERTED = re.compile(rf"NOTE: {_NUMBER} rows? {_WAS} inserted into (?:({NAME})\.?(?=\s|$))?.*")
_FILE_READ = re.compile(rf"NOTE: {_NUMBER} records? {_WAS} read from the .*")
_FILE_WRITTEN = re.compile(rf"NOTE: {_NUMBER} records? {_WAS} written to the .*")
_FILES_READ = re.compile(rf"NOTE: {_NUMBER} bytes were read from the files ({NAME})\.")
_FILES_WRITTEN = re.compile(rf"NOTE: {_NUMBER} bytes were written to the files ({NAME})\.")
_EXPORTED = re.compile(rf"\s?{_NUMBER} records created in .{{1,1024}} from ({NAME})\.\s*")
_ROW_WORDS = (
    "observations",
    "records",
    "record",
    "rows",
    "row",
    "Table",
    "data set",
    "dataset",
    " the files ",
)

_GROUPED = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3}){1,6}(?![\w,])")
_COMPRESSED = re.compile(rf"NOTE: Compressing data set ({NAME}) (?:de|in)creased size by .*")
_PAGES = re.compile(
    rf".*?Compressed (?:is|file is) {_NUMBER} pages?; un-?compressed would require {_NUMBER} pages?\..*"
)
_WHERE = re.compile(r"\s{2,}WHERE .*")
_LONGEST = re.compile(rf"\s*The maximum record length was {_NUMBER}\.\s*")
_SHORTEST = re.compile(rf"\s*The minimum record length was {_NUMBER}\.\s*")
_INFILE = re.compile(r"NOTE: The infile .{1,400} is:\s*")
_FILE_BYTES = re.compile(rf".*?\bFile Size \(bytes\)={_NUMBER}\b.*")
_LIBREF = re.compile(r"NOTE: Libref ([A-Za-z_][A-Za-z0-9_]{0,7}) was successfully assigned as follows:\s*")
_ENGINE = re.compile(r"\s*Engine:\s+([A-Z][A-Z0-9]{0,31})\s*")
_INDEX_MADE = re.compile(r"NOTE: (?:Simple|Composite) index \S+ has been defined\..*")
_INDEX_USED = re.compile(r"INFO: Index \S+ .{0,200}?selected for (?:WHERE|SQL|BY).*")

_DELETED = re.compile(rf"NOTE: Deleting ({NAME}) \((?:mem)?type=DATA\)\.\s*")
_DROPPED = re.compile(rf"NOTE: Table ({NAME}) has been dropped\.\s*")
_RENAMED = re.compile(rf"NOTE: Changing the name ({NAME}) to ({NAME}) \((?:mem)?type=DATA\)\.\s*")
_KEPT = re.compile(rf"NOTE: File ({NAME}) \((?:mem)?type=DATA\) cannot be deleted because it is in use\.\s*")

_SORTS: tuple[tuple[str, SortNote], ...] = (
    ("NOTE: SAS threaded sort was used", "threaded"),
    ("NOTE: SAS sort was used", "single"),
    ("NOTE: Host sort was used", "host"),
    ("NOTE: Input data set is already sorted", "sorted"),
    ("NOTE: Sorting was performed by the data source", "source"),
)

Details = Literal["compression", "records", "where", "file", "libref"]
"""What the indented lines below a note tell."""


def table_note(text: str) -> TableNote | None:
    """The table or file, with its rows, that a whole note tells of; None for any other note."""
    if not any(word in text for word in _ROW_WORDS):
        return None
    text = without_commas(text)
    if match := _TABLE_READ.fullmatch(text):
        return TableNote(direction="read", rows=int(match[1]), name=match[2])
    if match := _TABLE_WRITTEN.fullmatch(text) or _CREATED.fullmatch(text):
        return TableNote(direction="written", name=match[1], rows=int(match[2]), variables=int(match[3]))
    if match := _FILE_READ.fullmatch(text):
        return TableNote(direction="read", external=True, rows=int(match[1]))
    if match := _FILE_WRITTEN.fullmatch(text):
        return TableNote(direction="written", external=True, rows=int(match[1]))
    if match := _FILES_READ.fullmatch(text):
        return TableNote(direction="read", name=match[2], file_bytes=int(match[1]))
    if match := _FILES_WRITTEN.fullmatch(text):
        return TableNote(direction="written", name=match[2], file_bytes=int(match[1]))
    if match := _INSERTED.fullmatch(text):
        return TableNote(direction="written", rows=int(match[1]), name=match[2])
    return None


def removal_note(text: str) -> TableRemoval | None:
    """The table that a whole note says is deleted, dropped or renamed; None for any other note."""
    if match := _DELETED.fullmatch(text) or _DROPPED.fullmatch(text):
        return TableRemoval(match[1])
    match = _RENAMED.fullmatch(text)
    return None if match is None else TableRemoval(match[1], match[2])


def without_commas(text: str) -> str:
    """A line whose numbers have no thousands commas, which LOGNUMBERFORMAT and STIMEFMT=C write."""
    return _GROUPED.sub(lambda number: number[0].replace(",", ""), text) if "," in text else text


def exported_table(line: str) -> TableNote | None:
    """The table that PROC EXPORT to a text file says it read; None for any other line."""
    match = _EXPORTED.fullmatch(line)
    return match and TableNote(direction="read", rows=int(match[1]), name=match[2])


class Above:
    """What the notes above a performance note have told so far."""

    __slots__ = (
        "_added",
        "_compressed",
        "_file_bytes",
        "_left_out",
        "_libref",
        "_made",
        "_removed",
        "_removed_left_out",
        "_sort",
        "_transferred",
        "_used",
        "counts",
        "tables",
    )

    def __init__(self) -> None:
        self.counts: dict[str, int | None] = {}
        """Sums of rows and variables; None for one that a damaged note leaves unknown."""
        self.tables: list[TableNote] = []
        self._left_out = self._made = self._used = self._removed_left_out = 0
        self._removed: list[TableRemoval] = []
        self._sort: SortNote | None = None
        self._compressed: str | None = None
        self._libref: str | None = None
        self._file_bytes: int | None = None
        self._added: int | None = None
        self._transferred = False

    def add(self, note: TableNote) -> None:
        if self.repeats(note.name, note.rows, note.variables):
            return
        read = note.direction == "read"
        if note.variables is not None and note.rows is not None:
            note = self.as_added(note, note.rows)
        if note.rows is not None or note.file_bytes is None:
            self.count("rows_read" if read else "rows_written", note.rows)
        if note.variables is not None:
            self.count("variables_written", note.variables)
        if read and note.external and self._file_bytes is not None:
            note = msgspec.structs.replace(note, file_bytes=self._file_bytes)
            self._file_bytes = None
        self.keep(note)

    def as_added(self, note: TableNote, rows: int) -> TableNote:
        """The note on a table that now has so many rows, with those that the step added, if it says so.

        PROC APPEND writes both: ``5 observations added.``, and below it the rows of the whole base table.
        """
        added, self._added = self._added, None
        return note if added is None else msgspec.structs.replace(note, rows=added, table_rows=rows)

    def repeats(self, name: str | None, rows: int | None, variables: int | None) -> bool:
        """Whether a note tells once more what the last one did.

        PROC UPLOAD and DOWNLOAD give the note of a table twice, one for each session, and between them
        ``Uploaded 9 observations of 2 variables.``
        """
        transferred, self._transferred = self._transferred, False
        last = self.tables[-1] if self.tables else None
        return (
            transferred
            and last is not None
            and (last.name, last.rows, last.variables) == (name, rows, variables)
        )

    def keep(self, note: TableNote) -> None:
        """A table or file whose rows are counted already."""
        if len(self.tables) < MOST_TABLES:
            self.tables.append(note)
        else:
            self._left_out += 1

    def count(self, field: str, count: int | None) -> None:
        """Add to a sum; once a part of a sum is not known (None), the sum is not."""
        before = self.counts.get(field, 0)
        self.counts[field] = None if before is None or count is None else before + count

    def take(self, text: str) -> Details | None:
        """Take what another note tells; which details the indented lines below it may have."""
        for opening, sort in _SORTS:
            if text.startswith(opening):
                self._sort = sort
                return None
        if match := _ADDED.fullmatch(text):
            self._added = int(match[1])
        elif _TRANSFERRED.fullmatch(text):
            self._transferred = True
        elif _INDEX_MADE.fullmatch(text):
            self._made += 1
        elif _INDEX_USED.fullmatch(text):
            self._used += 1
        elif removal := removal_note(text):
            self._remove(removal)
        elif match := _KEPT.fullmatch(text):
            self._removed = [one for one in self._removed if one.name != match[1]]
        elif match := _COMPRESSED.fullmatch(text):
            self._compressed = match[1]
            return None if self.detail("compression", text) else "compression"
        elif match := _LIBREF.fullmatch(text):
            self._libref = match[1].upper()
            return "libref"
        elif _INFILE.fullmatch(text):
            self._file_bytes = None
            return "file"
        return None

    def _remove(self, removal: TableRemoval) -> None:
        if len(self._removed) < MOST_REMOVALS:
            self._removed.append(removal)
        else:
            self._removed_left_out += 1

    def detail(self, kind: Details, line: str) -> bool:
        """Take an indented line below a note; whether it told something."""
        if kind == "libref":
            return False
        if kind == "file":
            if match := _FILE_BYTES.fullmatch(line):
                self._file_bytes = int(match[1])
            return match is not None
        if kind == "where":
            if (match := _WHERE.fullmatch(line)) is not None and self.tables:
                self.tables[-1] = msgspec.structs.replace(self.tables[-1], filtered=True)
            return match is not None
        if kind == "records":
            for field, pattern in (("longest_record_bytes", _LONGEST), ("shortest_record_bytes", _SHORTEST)):
                if (match := pattern.fullmatch(line)) and self.tables:
                    self.tables[-1] = msgspec.structs.replace(self.tables[-1], **{field: int(match[1])})
                    return True
            return False
        match = _PAGES.fullmatch(line)
        if match is None:
            return False
        for place in range(len(self.tables) - 1, -1, -1):
            table = self.tables[place]
            if table.direction == "written" and table.name == self._compressed:
                pages = {"pages": int(match[1]), "uncompressed_pages": int(match[2])}
                self.tables[place] = msgspec.structs.replace(table, **pages)
                break
        return True

    def engine(self, line: str) -> str | None:
        """``LIBREF ENGINE`` of a line below the note on a libref; None for any other line."""
        match = _ENGINE.fullmatch(line)
        return None if match is None or self._libref is None else f"{self._libref} {match[1]}"

    def notes(self) -> StepNotes | None:
        """The record; None where the notes above told nothing."""
        tables = self.tables
        if not (tables or self._sort or self._made or self._used or self._removed):
            return None
        return StepNotes(
            tables=tuple(tables),
            tables_left_out=self._left_out,
            sort=self._sort,
            indexes_made=self._made,
            indexes_used=self._used,
            removed=tuple(self._removed),
            removed_left_out=self._removed_left_out,
        )

    @property
    def tells_nothing(self) -> bool:
        """Whether a performance note below would be the same without these."""
        told = self.counts or self.tables or self._made or self._used or self._removed
        return not told and self._sort is None and self._added is None

    def fields(self) -> dict[str, object]:
        return {**self.counts, "notes": self.notes()}
