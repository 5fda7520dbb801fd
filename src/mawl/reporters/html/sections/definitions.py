"""What is missing and why, and what every figure of the page means: the page opens without a network."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.missing import gaps
from mawl.reporters.html.figures import ShownFigures, Terms, folded, paragraph, section, table
from mawl.reporters.html.templating import fill


def missing(figures: ShownFigures) -> Markup:
    """Every figure of the summary that is null, with its reason."""
    rows = list(gaps(figures.summary).items())
    if not rows:
        return section("missing", "What is missing", paragraph("Nothing: every figure was measured."))
    words = paragraph("A dash marks a figure that was not measured; it is never zero. Each has its reason.")
    every = table("Figures that are missing, and why", ("figure", "why"), rows, words=(0, 1))
    return section(
        "missing", "What is missing", words, folded(f"{len(rows)} figures and their reasons", every)
    )


def definitions(figures: Terms) -> Markup:
    """The glossary of the figures that the page has named; made last."""
    metrics = figures.glossary()
    entries = folded(f"{len(metrics)} figures", fill("glossary.html", metrics=metrics))
    return section("definitions", "What the figures mean", entries)
