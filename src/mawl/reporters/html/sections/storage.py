"""What each role asked of its devices, beside what a probe found that they can do."""

from __future__ import annotations

from markupsafe import Markup

from mawl.model.options import ROLES
from mawl.reporters.demand import COLUMNS, DIRECTIONS, notes
from mawl.reporters.html.figures import Figures, paragraph, section, table


def storage(figures: Figures) -> Markup:
    """A row per role and direction; the reason where the run holds no probe."""
    title = "Demand on storage, and what it can do"
    if figures.value("storage") is None:
        why = paragraph(f"Not known: {figures.reason(('storage',))}.", "why")
        return section("storage", title, why)
    head = (
        "role, at its devices",
        *(figures.term(label, f"storage.by_role.*.read.{name}") for label, name, _ in COLUMNS),
    )
    rows = [
        (
            f"{role}, {direction}",
            *(figures.show(form, "storage", "by_role", role, direction, name) for _, name, form in COLUMNS),
        )
        for role in ROLES
        for direction in DIRECTIONS
    ]
    probed = (
        f"Probed {figures.summary['storage']['probed_at'][:10]} with {figures.summary['storage']['tool']}."
    )
    beside = [paragraph(note, "quiet") for note in [probed, *notes(figures.summary)]]
    return section("storage", title, table("Demand and capability by role", head, rows), *beside)
