"""The nodes of a run on several, side by side."""

from __future__ import annotations

from markupsafe import Markup

from mawl.model.summary.cluster import Cluster
from mawl.reporters.cluster import COLUMNS, STORAGE, notes
from mawl.reporters.html.figures import ShownFigures, paragraph, section, table


def cluster(figures: ShownFigures) -> Markup:
    """A row per node and one of their mean; nothing for a run on one node."""
    block = figures.summary.cluster
    if block is None:
        return Markup()
    head = ("node", "ended", *(figures.term(label, f"cluster.nodes.*.{name}") for label, name, _ in COLUMNS))
    rows = [
        (
            name,
            node.outcome,
            *(figures.show(form, "cluster", "nodes", name, field) for _, field, form in COLUMNS),
        )
        for name, node in block.nodes.items()
    ]
    means = [
        figures.show(form, "cluster", "mean", field) if hasattr(block.mean, field) else Markup()
        for _, field, form in COLUMNS
    ]
    beside = [paragraph(note, "quiet") for note in notes(figures.summary)]
    nodes = table("Nodes", head, [*rows, ("mean", "", *means)])
    return section("nodes", "Nodes", nodes, *_storage(figures, block), *beside)


def _storage(figures: ShownFigures, block: Cluster) -> list[Markup]:
    """A row for each storage server that was watched."""
    if not block.storage:
        return []
    head = (
        "storage server",
        "watched",
        *(figures.term(label, ".".join(("cluster.storage.*", *place))) for label, place, _ in STORAGE),
    )
    rows = [
        (
            name,
            server.outcome,
            *(figures.show(form, "cluster", "storage", name, *place) for _, place, form in STORAGE),
        )
        for name, server in block.storage.items()
    ]
    return [table("Storage servers", head, rows)]
