"""Predicted beside published, as text: a row for every figure, the pairs, and how many are near."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap

from mawl.reporters.columns import LINE_WIDTH, aligned
from mawl.units import (
    format_bytes,
    format_change,
    format_latency,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.whatif.metrics import PublishedForecasts, PublishedPair, PublishedRow

NEAR_RATIO = 0.15
"""A prediction this near to the figure counts as near."""

HEAD = ("system", "figure", "published", "predicted", "error")
PAIR_HEAD = ("from", "to", "figure", "published", "predicted", "direction")

LEGEND = (
    "*: the six numbers were fitted on this system; all other rows are predictions. -: the model does not "
    "give the figure, and a line below says why. Inputs, assumptions, equations: "
    "docs/design/published-forecasts.md."
)


def render(forecasts: PublishedForecasts) -> str:
    """What ``mawl simulate --published`` prints."""
    lines = aligned([HEAD, *map(row_cells, forecasts.rows)])
    lines += ["", *wrap(LEGEND, LINE_WIDTH), *reasons(forecasts.rows), ""]
    lines += aligned([PAIR_HEAD, *map(pair_cells, forecasts.pairs)])
    return "\n".join([*lines, "", *standing(forecasts)]) + "\n"


def row_cells(row: PublishedRow) -> tuple[str, ...]:
    """System, figure, published, predicted, error."""
    form = form_of(row.figure)
    error = row.error_ratio
    return (
        row.system + ("*" if row.fitted else ""),
        row.figure,
        _cell(row.published, form),
        _cell(row.predicted, form),
        "" if error is None else format_change(error),
    )


def pair_cells(pair: PublishedPair) -> tuple[str, ...]:
    """Reference, candidate, figure, both changes, and whether the direction is right."""
    predicted = pair.predicted_change_ratio
    return (
        pair.reference,
        pair.candidate,
        pair.figure,
        format_change(pair.published_change_ratio),
        "-" if predicted is None else format_change(predicted),
        {True: "right", False: "WRONG", None: "-"}[pair.right],
    )


def reasons(rows: Sequence[PublishedRow]) -> list[str]:
    """Why figures have no prediction, each reason once, with how many rows it has."""
    counts: dict[str, int] = {}
    for row in rows:
        if row.reason is not None:
            counts[row.reason] = counts.get(row.reason, 0) + 1
    return [f"no prediction for {count} figures: {reason}" for reason, count in counts.items()]


def standing(forecasts: PublishedForecasts) -> list[str]:
    """How many rows are near, how many pairs have the right direction."""
    lines = []
    for words, fitted in (("predicted", False), ("of fitted systems", True)):
        errors = [
            row.error_ratio for row in forecasts.rows if row.fitted is fitted and row.error_ratio is not None
        ]
        near = sum(abs(error) <= NEAR_RATIO for error in errors)
        lines.append(f"figures {words}: {near} of {len(errors)} within {NEAR_RATIO:.0%}")
    pairs = [pair.right for pair in forecasts.pairs if pair.right is not None]
    right = sum(pairs)
    return [*lines, f"pairs with the right direction: {right} of {len(pairs)}"]


def form_of(figure: str) -> Callable[[float], str]:
    """How a figure is written, by the end of its name."""
    if figure.startswith(("change.", "latency.")):
        return format_latency if figure.startswith("latency.") else format_ratio
    ends: tuple[tuple[tuple[str, ...], Callable[[float], str]], ...] = (
        (("bytes_per_second", "bytes_per_second_per_core"), format_rate),
        (("_bytes",), format_bytes),
        (("_seconds",), format_seconds),
    )
    return next((form for names, form in ends if figure.endswith(names)), format_ratio)


def _cell(value: object, form: Callable[[float], str]) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return f"{form(value['low'])} to {form(value['high'])}"
    return form(value) if isinstance(value, int | float) else str(value)
