"""Times, slowdown and waits of each program, and how CPU over real time spreads over the jobs."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.html.figures import ShownFigures, paragraph, section
from mawl.reporters.html.tables import tables_in


def programs(figures: ShownFigures, view: RunView, distribution: Markup) -> Markup:
    """The tables by program, then the distribution."""
    if not figures.summary.programs:
        why = "No job was imported." if figures.imported else "No job has a record yet."
        return section("programs", "Programs", paragraph(why, "why"))
    return section("programs", "Programs", *tables_in("programs", figures, view), distribution)
