"""The nodes of a run on several, side by side."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.html.figures import ShownFigures, part
from mawl.reporters.html.tables import tables_in


def nodes(figures: ShownFigures, view: RunView) -> Markup:
    """The tables of nodes and storage servers; nothing for a run on one node."""
    if figures.summary.cluster is None:
        return Markup()
    return part("nodes", "Nodes", *tables_in("nodes", figures, view))
