"""Tables of a run, stated once for text, Markdown, HTML and CSV: which rows, which figures, in what form.

A table is a :class:`RunTable` in a module of :mod:`mawl.reporters.run_tables`; ``every.py`` there lists all.
Definitions, reasons of missing figures and units follow from the paths of the figures in the summary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import ABSENT

Format = Literal["text", "markdown", "html", "csv"]
Formats = frozenset[Format]

TEXT: Formats = frozenset({"text"})
MARKDOWN: Formats = frozenset({"markdown"})
HTML: Formats = frozenset({"html"})
CSV: Formats = frozenset({"csv"})
SHOWN = TEXT | MARKDOWN | HTML
"""For people: CSV, for programs, has every figure of a row instead of columns."""
EVERY: Formats = frozenset(get_args(Format))

Section = Literal["timeline", "summary", "nodes", "roles", "storage", "programs", "host", "system"]
"""Sections of the HTML report that show tables of runs."""

Path: TypeAlias = tuple[str | int, ...]
"""Names of fields, names of members, and numbers of members from 0, from a record to one of its figures."""


def _always(_: Summary, __: Format) -> bool:
    return True


class RunColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that every row has.

    ``path`` leads to it from the block of a row, or ``value`` works it out of that block; ``{way}`` in a path
    is the way of the row.  ``form`` makes the figure a text.  ``title`` is a longer label for HTML, and
    ``when`` says for which summaries the column stands in a format.  ``holds`` is what the cells are:
    ``code`` are words that Markdown shows as code.
    """

    label: str
    form: Callable[[Any], str]
    path: tuple[str, ...] = ()
    value: Callable[[Any], object] | None = None
    title: str = ""
    holds: Literal["figures", "words", "code"] = "figures"
    formats: Formats = SHOWN
    when: Callable[[Summary, Format], bool] = _always

    def path_of(self, row: Row) -> Path:
        """The path of the figure in the summary."""
        return (*row.path, *(part.format(way=row.way) for part in self.path))

    def of(self, summary: Summary, row: Row) -> object:
        """The figure of a row; None if it is missing, UNSET if such a row has none."""
        if self.label in row.without:
            return msgspec.UNSET
        return at(summary, self.path_of(row)) if self.value is None else self.value(at(summary, row.path))

    def text(self, summary: Summary, row: Row) -> str:
        """:meth:`of` as a text: ``-`` if it is missing, empty if such a row has none."""
        found = self.of(summary, row)
        return ABSENT if found is None else "" if found is msgspec.UNSET else self.form(found)


class Row(msgspec.Struct, frozen=True):
    """A row: its name, the path of its block in the summary, and the formats that show it.

    ``way`` is read, write or total where a block has all of them, ``without`` the labels of columns that
    such a row has no figure for.
    """

    name: str
    path: Path
    formats: Formats = EVERY
    way: str = ""
    without: frozenset[str] = frozenset()


class Note(msgspec.Struct, frozen=True):
    """A sentence above or below a table, with a word before it that says what it is about."""

    text: str
    formats: Formats = SHOWN
    label: str = ""


Notes = Callable[[RunView, Summary], Sequence[Note]]


def _no_notes(_: RunView, __: Summary) -> Sequence[Note]:
    return ()


class RunTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a run.

    ``name`` is that of the CSV table, ``caption`` that of the HTML table, ``section`` where it stands there.
    ``first`` is the label of the column with the rows' names (``text_first`` that in text); ``named`` are
    the formats with that column, and ``code`` says that Markdown shows the names as code.
    ``block`` is the path of the rows' blocks with ``*`` for any member, and ``way`` a way of theirs:
    definitions are found by them.  ``narrow`` lets the HTML table be no wider than it needs.
    ``alike``: rows may be compared with each other, so HTML shades figures outside the usual range.
    ``fold`` is the title behind which the table is folded in the formats ``folded``; ``{rows}`` is their
    number.  ``lead`` are sentences above, with or without rows; ``notes`` are below the rows.
    ``spare`` are the labels of columns that a narrow terminal does without, the first to go first.
    """

    name: str
    caption: str
    section: Section
    first: str
    block: tuple[str, ...]
    way: str = ""
    rows: Callable[[RunView, Summary], Sequence[Row]]
    columns: tuple[RunColumn, ...]
    text_first: str = ""
    named: Formats = EVERY
    code: bool = False
    narrow: bool = False
    alike: bool = False
    formats: Formats = SHOWN
    fold: str = ""
    folded: Formats = frozenset()
    lead: Notes = _no_notes
    notes: Notes = _no_notes
    spare: tuple[str, ...] = ()

    def definition(self, column: RunColumn) -> str | None:
        """The name of a column's figure in the registry of metrics; None for one that is worked out here."""
        if column.value is not None:
            return None
        return ".".join(map(str, column.path_of(Row(self.first, self.block, way=self.way))))


class Shown(msgspec.Struct, frozen=True):
    """What one format shows of a table: no row means no table.

    ``unknown`` are the columns that are left out because no file of an import contains their figures.
    """

    columns: list[RunColumn]
    rows: list[Row]
    unknown: list[RunColumn]


def shown(table: RunTable, view: RunView, summary: Summary, to: Format) -> Shown:
    """The rows and columns of a table in a format; of an import only those that have a figure."""
    rows = [row for row in table.rows(view, summary) if to in row.formats] if to in table.formats else []
    columns = [one for one in table.columns if to in one.formats and one.when(summary, to)]
    if summary.kind != "imported" or to == "csv":
        return Shown(columns, rows, [])

    def known(column: RunColumn, row: Row) -> bool:
        return column.of(summary, row) not in (None, msgspec.UNSET)

    rows = [row for row in rows if any(known(column, row) for column in columns)]
    held = [column for column in columns if any(known(column, row) for row in rows)]
    return Shown(held, rows, [column for column in columns if column not in held])


def notes_of(
    table: RunTable, found: Shown, view: RunView, summary: Summary, to: Format
) -> tuple[list[Note], list[Note]]:
    """The notes above and below what a format shows of a table."""
    above = table.lead(view, summary) if to in table.formats else ()
    below = table.notes(view, summary) if found.rows else ()
    return [note for note in above if to in note.formats], [note for note in below if to in note.formats]


def at(found: Any, path: Path) -> Any:
    """What a record holds at a path: None where a part of it is null, UNSET where there is no such field."""
    for part in path:
        if found is None or found is msgspec.UNSET:
            break
        members = isinstance(found, dict | list)
        found = found[part] if members else getattr(found, str(part), msgspec.UNSET)
    return found
