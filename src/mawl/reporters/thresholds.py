"""The thresholds that decided, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mawl.definitions.metric import Unit
from mawl.model.summary.summary import Summary
from mawl.reporters.columns import LINE_WIDTH, stacked
from mawl.units import format_bytes, format_plain, format_rate, format_seconds

FORMS: Mapping[Unit, Callable[[float], str]] = {
    "seconds": format_seconds,
    "bytes": format_bytes,
    "bytes per second": format_rate,
}
HEAD = ("thresholds that decided", "value", "source")


def shown(value: float, unit: Unit) -> str:
    """A threshold's value in its unit."""
    return FORMS.get(unit, format_plain)(value)


def rows_of(summary: Summary) -> list[tuple[str, str, str]]:
    """Name, value and source of each threshold that decided something in this run."""
    return [(one.name, shown(one.bound, one.unit), one.source) for one in summary.thresholds or ()]


def thresholds(summary: Summary, width: int = LINE_WIDTH) -> Sequence[str]:
    """The table for a terminal: names and values; the page of thresholds has the sources."""
    found = rows_of(summary)
    if not found:
        return []
    return [*stacked([HEAD[:2], *(row[:2] for row in found)], width), "sources: docs/reference/thresholds.md"]
