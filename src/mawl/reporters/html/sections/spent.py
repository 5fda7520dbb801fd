"""Where the time of the jobs went: one bar."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from mawl.reporters.html.charts.sessions import STATES
from mawl.reporters.html.figures import ShownFigures
from mawl.reporters.html.templating import fill
from mawl.reporters.waits import known_waits, memory_in_waits
from mawl.units import format_percent, format_seconds


class TimeShare(NamedTuple):
    """A part of the bar: what it is, its colour, its share of the whole, and its seconds."""

    name: Markup
    colour: str
    share: float
    percent: str
    seconds: Markup


def spent(figures: ShownFigures) -> Markup:
    """The bar with its legend; nothing where not every state is known."""
    block, of_jobs = known_waits(figures.summary)
    if block is None:
        return Markup()
    root = ("wait",) if block is figures.summary.wait else ("wait", "known")
    found = []
    for field, (words, colour) in STATES.items():
        path = _path(field)
        value = figures.value(*root, *path)
        if value is None:
            return Markup()
        found.append((words, colour, value, (*root, *path)))
    whole = sum(value for _, _, value, _ in found)
    if whole <= 0:
        return Markup()
    parts = [
        TimeShare(
            figures.term(words, ".".join(path)),
            colour,
            value / whole,
            format_percent(value / whole),
            figures.show(format_seconds, *path),
        )
        for words, colour, value, path in found
    ]
    return fill(
        "spent.html",
        parts=parts,
        of_jobs=of_jobs.rstrip(": "),
        contained=memory_in_waits(figures.summary),
    )


def _path(field: str) -> tuple[str, ...]:
    """The place in ``wait`` of a state of a job."""
    if field.startswith("blocked_"):
        return ("blocked_seconds", field.removeprefix("blocked_").removesuffix("_seconds"))
    return (field,)
