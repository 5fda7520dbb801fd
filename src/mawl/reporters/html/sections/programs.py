"""Times, slowdown and waits of each program, and how CPU over real time spreads over the jobs."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.html.figures import ShownFigures, part
from mawl.reporters.html.tables import tables_in


def programs(figures: ShownFigures, view: RunView, distribution: Markup) -> Markup:
    """The tables by program, then the distribution; nothing without jobs."""
    if not figures.summary.programs:
        return Markup()
    return part("programs", "Programs", *tables_in("programs", figures, view), distribution)
