"""A comparison as Markdown, for a pull request or a ticket."""

from __future__ import annotations

import re

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.formats.lines import one_line
from mawl.reporters.comparison.sentences import against, head, unlike
from mawl.reporters.comparison.tables import Table, matrix_tables, tables

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")


def render(comparison: Comparison) -> str:
    """The statement, the other lines as a list, the tables."""
    title = f"# {as_text(comparison.reference.label)} against {as_text(comparison.candidate.label)}"
    listed = [f"- **{name}**: {as_text(sentence)}" for name, sentence in head(comparison)]
    parts = [title, "\n".join(listed), *(section(table) for table in tables(comparison))]
    facts = unlike(comparison)
    if facts:
        parts.append("\n".join(["## Other facts that differ", "", *(f"- {as_text(fact)}" for fact in facts)]))
    return "\n\n".join(parts)


def render_matrix(matrix: Matrix) -> str:
    """The table of all sides, and each candidate against the first."""
    lines = [f"## Against {as_text(matrix.reference)}", ""]
    lines += [f"- **{as_text(pair.candidate)}**: {as_text(against(pair))}" for pair in matrix.pairs]
    return "\n\n".join(("# Comparison", *map(section, matrix_tables(matrix)), "\n".join(lines)))


def section(table: Table) -> str:
    """A table under its title."""
    rows = [_row(table.head), _row(("---", *["---:"] * (len(table.head) - 1)), plain=True)]
    rows += [_row(row) for row in table.rows]
    lines = [f"## {table.title[0].upper()}{table.title[1:]}", "", *rows]
    if table.note:
        lines += ["", as_text(table.note)]
    return "\n".join(lines)


def _row(cells: tuple[str, ...], *, plain: bool = False) -> str:
    return f"| {' | '.join(cells if plain else map(as_text, cells))} |"


def as_text(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", one_line(text))
