"""Spark lines: a series as a small line, with marks where its level changed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from markupsafe import Markup

from mawl.reports.html.templating import fill

WIDTH, HEIGHT, EDGE = 132, 28, 3
MOST_POINTS = 120
"""Of more values, each point is the mean of several that follow each other."""


def spark(
    values: Sequence[float | None],
    alternative: str,
    *,
    marks: Sequence[int] = (),
    least_span: float = 0.0,
    from_zero: bool = False,
) -> Markup:
    """The line of a series; None and NaN are gaps.  Empty where no value is known.

    ``marks`` are places in ``values``; ``alternative`` is the text for a screen reader.  The height is
    from the lowest value to the highest, at least ``least_span``; from zero with ``from_zero``.
    """
    size = max(math.ceil(len(values) / MOST_POINTS), 1)
    points = [_mean(values[at : at + size]) for at in range(0, len(values), size)]
    known = [value for value in points if value is not None]
    if not known:
        return Markup()
    low, high = 0.0 if from_zero else min(known), max(known)
    short = max(least_span - (high - low), 0.0) / 2
    low, high = low - short, high + short
    across = (WIDTH - 2 * EDGE) / max(len(points) - 1, 1)

    def place(at: int, value: float) -> str:
        up = (value - low) / (high - low) if high > low else 0.5
        return f"{EDGE + at * across:.1f},{HEIGHT - EDGE - up * (HEIGHT - 2 * EDGE):.1f}"

    pieces: list[list[str]] = [[]]
    for at, value in enumerate(points):
        if value is not None:
            pieces[-1].append(place(at, value))
        elif pieces[-1]:
            pieces.append([])
    return fill(
        "spark.html",
        width=WIDTH,
        height=HEIGHT,
        alternative=alternative,
        marks=[f"{EDGE + (at // size) * across:.1f}" for at in marks],
        lines=[" ".join(one if len(one) > 1 else one * 2) for one in pieces if one],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.fmean(known) if known else None
