"""A comparison on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.formats.lines import one_line
from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.reporters.comparison.sentences import Line, against, head, unlike
from mawl.reporters.comparison.tables import Table, matrix_tables, rows_shown, tables

MOST_PROGRAMS = 10
INDENT = 11


def render(comparison: Comparison, *, every: bool = False) -> str:
    """Head, tables and the facts that differ; ``every`` program instead of those that changed most."""
    parts = [lines(head(comparison))]
    for table in tables(comparison):
        parts.append(laid_out(table, None if every or table.name != "programs" else MOST_PROGRAMS))
    facts = unlike(comparison)
    if facts:
        parts.append(
            [*wrapped("other facts that differ:"), *(line for fact in facts for line in wrapped(fact, "  "))]
        )
    return "\n\n".join("\n".join(part) for part in parts)


def render_matrix(matrix: Matrix) -> str:
    """The table of all sides, and a line for each candidate against the first."""
    made = [laid_out(table, None) for table in matrix_tables(matrix)]
    listed = [f"against {one_line(matrix.reference)}:"]
    listed += [line for pair in matrix.pairs for line in wrapped(f"{pair.candidate}: {against(pair)}", "  ")]
    return "\n\n".join("\n".join(part) for part in (*made, listed))


def lines(some: Sequence[Line]) -> list[str]:
    """Names in a column, their sentences beside them."""
    return [
        line
        for name, text in some
        for line in wrap(f"{name:<{INDENT}}{one_line(text)}", LINE_WIDTH, subsequent_indent=" " * INDENT)
    ]


def laid_out(table: Table, most: int | None) -> list[str]:
    """A table in columns, with at most so many rows, and its note."""
    rows = table.rows if most is None else rows_shown(table, most)
    found = aligned([table.head, *rows])
    hidden = len(table.rows) - len(rows)
    if hidden:
        half = (len(rows) + 1) // 2
        found.insert(half + 1, f"... {hidden} between these (--all lists them)")
    return [*found, *wrapped(table.note)] if table.note else found


def wrapped(text: str, indent: str = "") -> list[str]:
    """A sentence within the width of a screen."""
    return wrap(one_line(text), LINE_WIDTH, initial_indent=indent, subsequent_indent=indent or "  ")
