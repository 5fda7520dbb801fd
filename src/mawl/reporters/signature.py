"""The signature in the long report: each row beside its published range."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.signature import is_the_mix
from mawl.definitions.metric import Unit
from mawl.model.signature import SIGNATURE
from mawl.model.summary.signature import SignatureFigure
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import LINE_WIDTH, stacked, wrapped
from mawl.reporters.figure import Form, figure
from mawl.units import format_memory, format_rate, format_ratio

FORMS: dict[Unit, Form] = {
    "ratio": format_ratio,
    "bytes": format_memory,
    "bytes per second": format_rate,
}


def signature(summary: Summary, width: int = LINE_WIDTH) -> list[str]:
    """A line per row with value, range and standing, and the reasons under the table.

    A workload that is not the mix has one line: the ranges say nothing about it.
    """
    if not is_the_mix(summary.programs):
        return wrapped(
            "signature: not shown, since this workload is not the mix of programs whose shape is published",
            width,
            "  ",
        )
    block = summary.signature
    rows: list[Sequence[str]] = [("signature", "value", "published", "")]
    reasons: dict[str, int] = {}
    for row in SIGNATURE:
        found, form = block[row.name], FORMS[row.unit]
        note = standing(found)
        if found.reason:
            note += f" ({reasons.setdefault(found.reason, len(reasons) + 1)})"
        rows.append((row.title, figure(found.value, form), range_of(found, form), note))
    notes = "; ".join(f"({number}) {reason}" for reason, number in reasons.items())
    return [*stacked(rows, width), *wrapped(notes, width, "")]


def standing(row: SignatureFigure) -> str:
    """Whether a row of the signature is inside its range, or why that says nothing."""
    if row.value is None:
        return "no value"
    where = {True: "inside", False: "outside", None: "for information"}[row.inside]
    return where if row.meaningful else "not meaningful"


def range_of(row: SignatureFigure, form: Form) -> str:
    """The published range of a row in words; empty where there is none."""
    low, high = row.low, row.high
    if low is None and high is None:
        return ""
    if high is None:
        return f"above {form(low)}" if low is not None else ""
    return f"below {form(high)}" if low is None else f"{form(low)} to {form(high)}"
