"""What is missing and why, and what every figure of the page means: the page opens without a network."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.missing import gaps
from mawl.reporters.html.figures import ShownFigures, Terms, breakable, paragraph, part, table
from mawl.reporters.html.templating import fill
from mawl.units import counted_noun

PARTS = {"storage": "storage", "compressibility": "compression", "host": "host", "io.by_role": "I/O by role"}
"""Block of a summary to the part of the page that is not there where the block is null."""


def missing(figures: ShownFigures) -> Markup:
    """Every part and figure that is not there, with its reason; nothing where all are."""
    rows = [(breakable(path), why) for path, why in gaps(figures.summary).items()]
    absent = [
        (words, figures.reason(path.split(".")))
        for path, words in PARTS.items()
        if figures.value(*path.split(".")) is None
    ]
    if not rows and not absent:
        return Markup()
    words = paragraph("A dash marks a figure that was not measured; it is never zero. Each has its reason.")
    parts = table("Parts that this report does not have, and why", ("part", "why"), absent, words=(0, 1))
    every = table("Figures that are missing, and why", ("figure", "why"), rows, words=(0, 1))
    return part(
        "missing",
        f"What is missing: {counted_noun(len(rows), 'figure')}, and why",
        words,
        *([parts] if absent else []),
        *([every] if rows else []),
    )


def definitions(figures: Terms) -> Markup:
    """The glossary of the figures that the page has named; made last."""
    metrics = figures.glossary()
    return part("definitions", "What the figures mean", fill("glossary.html", metrics=metrics))
