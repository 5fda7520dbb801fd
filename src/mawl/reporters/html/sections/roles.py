"""I/O by role: bytes, calls, latency, and its distribution."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.html.figures import ShownFigures, paragraph, part
from mawl.reporters.html.tables import tables_in
from mawl.units import format_percent


def roles(figures: ShownFigures, view: RunView, distribution: Markup) -> Markup:
    """The tables of roles and volumes, then the distribution; nothing where none of it was measured."""
    tables = tables_in("roles", figures, view)
    if figures.summary.io.by_role is None:
        why = paragraph(f"Not measured: {figures.reason(('io', 'by_role'))}.", "why")
        return part("roles", "I/O by role", why, *tables) if tables else Markup()
    return part("roles", "I/O by role", *tables, _coverage(figures), distribution)


def _coverage(figures: ShownFigures) -> Markup:
    """How much of the jobs' I/O was counted, and what was not."""
    counted = Markup("{}: {}. ").format(
        figures.term("Bytes counted over bytes that the kernel saw", "io.coverage_ratio"),
        figures.show(format_percent, "io", "coverage_ratio"),
    )
    return paragraph(counted + "; ".join(figures.summary.io.unseen), "quiet")
