"""Tables of a run as HTML: heads lead to definitions, figures have their path, missing ones their reason."""

from __future__ import annotations

from markupsafe import Markup
from msgspec import UNSET

from mawl.analysis.view import RunView
from mawl.reporters.html.figures import Cell, ShownFigures, absent, folded, paragraph, table
from mawl.reporters.run_tables.every import RUN_TABLES
from mawl.reporters.table import Row, RunColumn, RunTable, Section, notes_of, shown


def tables_in(section: Section, figures: ShownFigures, view: RunView) -> list[Markup]:
    """Every table of a section that has rows, with its notes."""
    tables = (one for one in RUN_TABLES if one.section == section)
    return [part for one in tables for part in html_table(one, figures, view)]


def html_table(of: RunTable, figures: ShownFigures, view: RunView) -> list[Markup]:
    """A table, a sentence that names the columns of which no file of an import tells, and its notes."""
    summary = figures.summary
    found = shown(of, view, summary, "html")
    above, below = notes_of(of, found, view, summary, "html")
    parts = [paragraph(note.text, "quiet") for note in above]
    if found.rows:
        named = "html" in of.named
        made = table(
            of.caption,
            [*([of.first] if named else []), *(_head(of, column, figures) for column in found.columns)],
            [
                [*([row.name] if named else []), *(_cell(column, row, figures) for column in found.columns)]
                for row in found.rows
            ],
            narrow=of.narrow,
            alike=of.alike,
            texts=[
                place
                for place, column in enumerate(found.columns, named)
                if column.holds != "figures" and place
            ],
        )
        folds = "html" in of.folded
        parts.append(folded(of.fold.format(rows=len(found.rows)), made) if folds else made)
        if found.unknown:
            names = "; ".join(dict.fromkeys(column.title or column.label for column in found.unknown))
            parts.append(paragraph(f"Not known (imported): {names}.", "quiet"))
    return [*parts, *(paragraph(note.text, "quiet") for note in below)]


def _head(of: RunTable, column: RunColumn, figures: ShownFigures) -> Cell:
    label = column.title or column.label
    name = of.definition(column)
    return label if name is None else figures.term(label, name)


def _cell(column: RunColumn, row: Row, figures: ShownFigures) -> Cell:
    """A figure of the summary with its path; one that is worked out here as a text."""
    found = column.of(figures.summary, row)
    if found is UNSET:
        return Markup()
    if column.value is None:
        return figures.show(column.form, *column.path_of(row))
    return absent(figures.reason(row.path)) if found is None else column.form(found)
