"""What sessions cost: a point for each candidate system, by its price and the sessions that fit on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bokeh.models import ColumnDataSource, NumeralTickFormatter
from bokeh.models.annotations import Span

from mawl.base.units import counted_noun
from mawl.reports.html.charts.frame import Chart, Key, blank, from_zero, hover
from mawl.reports.html.colours import light

NO_SESSIONS = "no candidate has a number of sessions that fits"


class PricedSystem(NamedTuple):
    """A candidate: sessions by the forecast, and those that are safe; ``carries`` is its colour.

    ``price_said`` is the price in words.
    """

    name: str
    price: float
    price_said: str
    sessions: int
    safe: int | None
    carries: bool | None


COLOURS = {True: "good", False: "bad", None: "warn"}


def price_chart(systems: Sequence[PricedSystem], asked: int, currency: str, safe: str) -> Chart:
    """Price against sessions that fit; a line down to those that fit with the probability ``safe``."""
    title, caption = (
        "What sessions cost",
        "Price of each candidate and the sessions that fit on it by the forecast.",
    )
    if not systems:
        return Chart("prices", title, caption, NO_SESSIONS, [], None, NO_SESSIONS)
    source = ColumnDataSource(
        {
            "sessions": [one.sessions for one in systems],
            "price": [one.price for one in systems],
            "name": [one.name for one in systems],
            "price_said": [one.price_said for one in systems],
            "safe": ["not known" if one.safe is None else str(one.safe) for one in systems],
            "color": [light(COLOURS[one.carries]) for one in systems],
        },
        name="prices",
    )
    plot = blank("prices", x_range=from_zero(), y_range=from_zero())
    known = [(one.safe, one.sessions, one.price) for one in systems if one.safe is not None]
    plot.segment(
        [safe for safe, _, _ in known],
        [price for _, _, price in known],
        [sessions for _, sessions, _ in known],
        [price for _, _, price in known],
        color=light("quiet"),
        line_width=2,
    )
    plot.add_layout(Span(location=asked, dimension="height", line_color=light("ink"), line_dash="dashed"))
    points = plot.scatter("sessions", "price", size=12, color="color", source=source)
    plot.xaxis.axis_label = "sessions that fit"
    plot.yaxis.axis_label = f"price in {currency}" if currency else "price"
    plot.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
    rows = [("", "@name"), ("price", "@price_said"), ("sessions", "@sessions"), (f"with {safe}", "@safe")]
    hover(plot, points, rows)
    return Chart(
        "prices",
        title,
        caption,
        "Points: the price of each candidate by the sessions that fit on it, with the asked number.",
        [
            Key("carries the asked sessions", "good"),
            Key("does not", "bad"),
            Key("not known", "warn"),
            Key(f"down to the sessions that fit with a probability of at least {safe}", "quiet", "line"),
            Key(f"asked: {counted_noun(asked, 'session')}", "ink", "dashed"),
        ],
        plot,
    )
