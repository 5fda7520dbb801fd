"""A table of a run as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.view import RunView
from mawl.formats.lines import one_line
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import LINE_WIDTH, fitting, stacked, wrapped
from mawl.reporters.head import labelled
from mawl.reporters.table import Note, Row, RunTable, Shown, notes_of, shown


def table_lines(table: RunTable, view: RunView, summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """The notes above, head and rows in aligned columns, and the notes below; empty without any of them."""
    found = shown(table, view, summary, "text")
    lines: list[Sequence[str]] = []
    if found.rows:
        named = [table.text_first or table.first] if "text" in table.named else []
        lines.append([*named, *(column.label for column in found.columns)])
        lines += [_cells(table, found, row, summary) for row in found.rows]
    above, below = notes_of(table, found, view, summary, "text")
    return [
        *(line for note in above for line in _note_lines(note, width)),
        *stacked(fitting(lines, width, table.spare), width),
        *(line for note in below for line in _note_lines(note, width)),
    ]


def _cells(table: RunTable, found: Shown, row: Row, summary: Summary) -> list[str]:
    named = [one_line(row.name)] if "text" in table.named else []
    return [*named, *(one_line(column.text(summary, row)) for column in found.columns)]


def _note_lines(note: Note, width: int) -> list[str]:
    """A note, its label in a column of its own."""
    text = one_line(note.text)
    return labelled(note.label, text, width) if note.label else wrapped(text, width, "  ")
