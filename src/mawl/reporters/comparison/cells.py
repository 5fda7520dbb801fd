"""One figure of a comparison as text."""

from __future__ import annotations

from mawl.definitions.metric import Unit
from mawl.model.published import PaperRange
from mawl.reporters.figure import ABSENT, Form, figure
from mawl.units import (
    format_change,
    format_latency,
    format_memory,
    format_plain,
    format_rate,
    format_ratio,
    format_seconds,
)

FORMS: dict[Unit, Form] = {
    "seconds": format_seconds,
    "bytes": format_memory,
    "bytes per second": format_rate,
    "ratio": format_ratio,
}


def value(amount: float | None, unit: Unit) -> str:
    """A figure in its unit; ``-`` where it is missing."""
    return figure(amount, FORMS.get(unit, format_plain))


def latency(amount: float | None, unit: Unit) -> str:
    """As :func:`value`, seconds being those of one request."""
    return figure(amount, format_latency) if unit == "seconds" else value(amount, unit)


def changed(ratio: float | None) -> str:
    """A change in per cent."""
    return figure(ratio, format_change)


def interval(low: float | None, high: float | None) -> str:
    """``-2.1 % to +7.4 %``; one of the ends if they print alike."""
    if low is None or high is None:
        return ABSENT
    return between(format_change(low), format_change(high))


def between(low: str, high: str) -> str:
    """Both ends of an interval as they are printed; one if they are alike."""
    return low if low == high else f"{low} to {high}"


def span(some: PaperRange | None, unit: Unit) -> str:
    """A figure, or the two ends of a range."""
    if some is None:
        return ABSENT
    ends = [value(end, unit) for end in (some.low, some.high)]
    return ends[0] if some.low == some.high else " to ".join(ends)


VERDICT_WORDS = {"not told apart": "no difference found", "not judged": "too few runs to decide"}
"""The verdicts of a comparison that read otherwise than they are called in JSON."""


def verdict_words(verdict: str) -> str:
    """A verdict in plain words: ``slower``, ``no difference found``."""
    return VERDICT_WORDS.get(verdict, verdict)


def verdict_cell(verdict: str, smallest: str | None) -> str:
    """The verdict of a row; without a difference, the ``smallest`` change that would show."""
    if verdict == "not judged":
        return ABSENT
    if verdict != "not told apart" or smallest is None:
        return verdict_words(verdict)
    return f"no difference ({smallest} would show)"


def verdict_cell_of_ratio(verdict: str, smallest_ratio: float | None) -> str:
    """As :func:`verdict_cell`, of a ratio less 1."""
    smallest = None if smallest_ratio is None else format_change(smallest_ratio).lstrip("+")
    return verdict_cell(verdict, smallest)


def signed_seconds(seconds: float) -> str:
    """A change of a time: ``+1.20 s``, ``-1.20 s``, and ``0.00 s`` without a sign."""
    text = format_seconds(abs(seconds))
    if text == format_seconds(0.0):
        return text
    return ("-" if seconds < 0 else "+") + text
