"""The shape of the run beside the shape that the papers publish."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.signature import is_the_mix
from mawl.model.signature import SIGNATURE
from mawl.model.summary.signature import SignatureFigure
from mawl.reporters.html.figures import ShownFigures, part, table
from mawl.reporters.html.templating import fill
from mawl.reporters.signature import FORMS, range_of, standing

BULLET_WIDTH = 100.0
BEYOND = 1.25
"""A bullet ends this far beyond the larger of value and range."""


def signature(figures: ShownFigures) -> Markup:
    """A row per figure: value, published range, a bullet of both, and what to make of it;
    nothing of a workload that is not the mix whose shape is published."""
    if not is_the_mix(figures.summary.programs):
        return Markup()
    rows = []
    for row in SIGNATURE:
        found, form = figures.summary.signature[row.name], FORMS[row.unit]
        rows.append(
            (
                figures.term(row.title, f"signature.{row.name}"),
                figures.show(form, "signature", row.name, "value"),
                range_of(found, form) or "none given",
                _bullet(found),
                standing(found),
                "; ".join(part for part in (found.reason, f"the range: {found.source}") if part),
            )
        )
    head = ("figure", "value", "published", "both", "standing", "why, and where the range is from")
    return part(
        "signature",
        "Signature: the shape of the load compared with the published one",
        table("Value of this run and range of the papers", head, rows, words=(5,), texts=(4,)),
    )


def _bullet(found: SignatureFigure) -> Markup:
    """The range as a band, the value as a line, from 0 on; nothing where one of them is missing."""
    value, low, high = found.value, found.low, found.high
    if value is None or (low is None and high is None):
        return Markup()
    most = max(bound for bound in (value, low, high) if bound is not None) * BEYOND or 1.0
    start = BULLET_WIDTH * (low or 0.0) / most
    end = BULLET_WIDTH if high is None else BULLET_WIDTH * high / most
    return fill("bullet.html", start=start, width=end - start, value=BULLET_WIDTH * value / most)
