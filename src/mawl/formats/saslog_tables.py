"""Notes above a performance note: tables and files with their rows, compression, sorts and indexes."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from mawl.model.step_notes import MOST_TABLES, SortNote, StepNotes, TableNote

NAME = r"(?:[A-Za-z_][A-Za-z0-9_]{0,31}\.)?(?:[A-Za-z_][A-Za-z0-9_]{0,63}|'[^'\n]{1,64}'n)"
"""A table: ``LIBREF.MEMBER``, ``MEMBER``, or with a name literal."""

_NUMBER = r"([0-9]{1,18})"
_WAS = r"(?:were|was)"
_READ = re.compile(
    rf"NOTE: There {_WAS} {_NUMBER} observations? read from the data ?set (?:({NAME})\.(?=\s|$))?.*"
)
_WRITTEN = re.compile(
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

_COMPRESSED = re.compile(rf"NOTE: Compressing data set ({NAME}) (?:de|in)creased size by .*")
_PAGES = re.compile(
    rf".*?Compressed (?:is|file is) {_NUMBER} pages?; un-?compressed would require {_NUMBER} pages?\..*"
)
_LONGEST = re.compile(rf"\s*The maximum record length was {_NUMBER}\.\s*")
_SHORTEST = re.compile(rf"\s*The minimum record length was {_NUMBER}\.\s*")
_INFILE = re.compile(r"NOTE: The infile .{1,400} is:\s*")
_FILE_BYTES = re.compile(rf".*?\bFile Size \(bytes\)={_NUMBER}\b.*")
_LIBREF = re.compile(r"NOTE: Libref ([A-Za-z_][A-Za-z0-9_]{0,7}) was successfully assigned as follows:\s*")
_ENGINE = re.compile(r"\s*Engine:\s+([A-Z][A-Z0-9]{0,31})\s*")
_INDEX_MADE = re.compile(r"NOTE: (?:Simple|Composite) index \S+ has been defined\..*")
_INDEX_USED = re.compile(r"INFO: Index \S+ .{0,200}?selected for (?:WHERE|SQL|BY).*")

_SORTS: tuple[tuple[str, SortNote], ...] = (
    ("NOTE: SAS threaded sort was used", "threaded"),
    ("NOTE: SAS sort was used", "single"),
    ("NOTE: Host sort was used", "host"),
    ("NOTE: Input data set is already sorted", "sorted"),
    ("NOTE: Sorting was performed by the data source", "source"),
)

Details = Literal["compression", "records", "file", "libref"]
"""What the indented lines below a note tell."""


def table_note(text: str) -> TableNote | None:
    """The table or file, with its rows, that a whole note tells of; None for any other note."""
    if not any(word in text for word in _ROW_WORDS):
        return None
    if match := _READ.fullmatch(text):
        return TableNote(direction="read", rows=int(match[1]), name=match[2])
    if match := _WRITTEN.fullmatch(text) or _CREATED.fullmatch(text):
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
        self._left_out = self._made = self._used = 0
        self._sort: SortNote | None = None
        self._compressed: str | None = None
        self._libref: str | None = None
        self._file_bytes: int | None = None
        self._added: int | None = None
        self._transferred = False

    def add(self, note: TableNote) -> None:
        """A table or file."""
        if self.repeats(note.name, note.rows, note.variables):
            return
        read = note.direction == "read"
        if note.variables is not None and note.rows is not None:
            note = msgspec.structs.replace(note, rows=self.rows_written(note.rows))
        if note.rows is not None or note.file_bytes is None:
            self.count("rows_read" if read else "rows_written", note.rows)
        if note.variables is not None:
            self.count("variables_written", note.variables)
        if read and note.external and self._file_bytes is not None:
            note = msgspec.structs.replace(note, file_bytes=self._file_bytes)
            self._file_bytes = None
        self.keep(note)

    def rows_written(self, rows: int) -> int:
        """The rows that a step wrote into a table that now has so many: those that were added, if it says so.

        PROC APPEND writes both: ``5 observations added.``, and below it the rows of the whole base table.
        """
        added, self._added = self._added, None
        return rows if added is None else added

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

    def detail(self, kind: Details, line: str) -> bool:
        """Take an indented line below a note; whether it told something."""
        if kind == "libref":
            return False
        if kind == "file":
            if match := _FILE_BYTES.fullmatch(line):
                self._file_bytes = int(match[1])
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
        if not tables and self._sort is None and not self._made and not self._used:
            return None
        return StepNotes(
            tables=tuple(tables),
            tables_left_out=self._left_out,
            sort=self._sort,
            indexes_made=self._made,
            indexes_used=self._used,
        )

    @property
    def tells_nothing(self) -> bool:
        """Whether a performance note below would be the same without these."""
        told = self.counts or self.tables or self._made or self._used
        return not told and self._sort is None and self._added is None

    def fields(self) -> dict[str, object]:
        """Those of a performance note."""
        return {**self.counts, "notes": self.notes()}
