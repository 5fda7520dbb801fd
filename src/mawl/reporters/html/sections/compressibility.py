"""What compression would save on the roles, as the run sampled it."""

from __future__ import annotations

from markupsafe import Markup

from mawl.reporters.compressibility import notes_in_a_run, table_in_a_run
from mawl.reporters.html.figures import ShownFigures, paragraph, part, table

TITLE = "What compression would save"


def compressibility(figures: ShownFigures) -> Markup:
    """A row per role; nothing where the run did not look."""
    if figures.value("compressibility") is None:
        return Markup()
    head, *rows = table_in_a_run(figures.summary)
    saving = "compressibility.role_estimates.*.saving_ratio"
    terms = [figures.term(cell, saving) if cell[-1] == "B" else cell for cell in head[2:]]
    notes = [paragraph(note, "quiet") for note in notes_in_a_run(figures.summary)]
    return part(
        "compressibility", TITLE, table("Estimated saving by role", ("role", head[1], *terms), rows), *notes
    )
