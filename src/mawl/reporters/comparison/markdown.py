"""A comparison as Markdown, for a pull request or a ticket."""

from __future__ import annotations

from mawl.analysis.comparison.compare import Comparison, Matrix
from mawl.reporters.comparison.sentences import against, head, unlike
from mawl.reporters.comparison.tables import ComparisonTable, matrix_tables, tables
from mawl.reporters.markup import escaped, table


def render(comparison: Comparison) -> str:
    """The finding, the other lines as a list, the tables."""
    (_, found), *others = head(comparison)
    listed = [f"- **{name}**: {escaped(sentence)}" for name, sentence in others]
    parts = [f"# {escaped(found)}", "\n".join(listed), *map(section, tables(comparison))]
    facts = unlike(comparison)
    if facts:
        parts.append("\n".join(["## Other facts that differ", "", *(f"- {escaped(fact)}" for fact in facts)]))
    return "\n\n".join(parts)


def render_matrix(matrix: Matrix) -> str:
    """The table of all sides, and each candidate against the first."""
    lines = [f"## Against {escaped(matrix.reference)}", ""]
    lines += [f"- **{escaped(pair.candidate)}**: {escaped(against(pair))}" for pair in matrix.pairs]
    return "\n\n".join(("# Comparison", *map(section, matrix_tables(matrix)), "\n".join(lines)))


def section(shown: ComparisonTable) -> str:
    """A table under its title."""
    title = shown.title[0].upper() + shown.title[1:]
    rows = [tuple(map(escaped, row)) for row in shown.rows]
    lines = [f"## {escaped(title)}", "", *table(tuple(map(escaped, shown.head)), rows)]
    if shown.note:
        lines += ["", escaped(shown.note)]
    return "\n".join(lines)
