"""Charts of answers that are no runs: prices of systems, slowdown by sessions, and throughput by nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import shorten
from typing import NamedTuple

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FactorRange,
    FixedTicker,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.models.annotations import BoxAnnotation, Span

from mawl.base.units import counted_noun, format_rate
from mawl.figures.campaign import ScalingRow
from mawl.figures.knee import Knee, SessionRun
from mawl.importers.formats.text import one_line
from mawl.reports.campaign_finding import GROWS
from mawl.reports.html.charts.frame import Chart, Key, blank, from_zero, hover, ticks_of
from mawl.reports.html.colours import light
from mawl.reports.layout import figure

NO_SESSIONS = "no candidate has a number of sessions that fits"
NO_SESSIONS_OF_SYSTEMS = "no system has a number of sessions that fits"


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


CARRIES = {
    True: ("carries the asked sessions", "good"),
    False: ("does not", "bad"),
    None: ("not known", "warn"),
}
NAME_LETTERS = 22
NAME_PIXELS = 9
"""From a point to its name."""


def _without_number(names: Sequence[str]) -> str:
    """The end of a caption that names what the chart cannot show."""
    return f" Not drawn, because the number is not known: {', '.join(names)}." if names else ""


def price_chart(
    systems: Sequence[PricedSystem], asked: int, currency: str, safe: str, unknown: Sequence[str] = ()
) -> Chart:
    """Price against sessions that fit; a line down to those that fit with the probability ``safe``.

    ``unknown`` are the candidates without such a number.
    """
    title, caption = (
        "What sessions cost",
        f"Price of each candidate and the sessions that fit on it by the forecast.{_without_number(unknown)}",
    )
    if not systems:
        return Chart("prices", title, caption, NO_SESSIONS, [], None, NO_SESSIONS)
    # Names are written towards the middle, so that none leaves the chart.
    middle = max(one.sessions for one in systems) / 2
    source = ColumnDataSource(
        {
            "sessions": [one.sessions for one in systems],
            "price": [one.price for one in systems],
            "name": [one.name for one in systems],
            "short": [shorten(one_line(one.name), NAME_LETTERS, placeholder="...") for one in systems],
            "align": ["right" if one.sessions > middle else "left" for one in systems],
            "offset": [-NAME_PIXELS if one.sessions > middle else NAME_PIXELS for one in systems],
            "price_said": [one.price_said for one in systems],
            "safe": ["not known" if one.safe is None else str(one.safe) for one in systems],
            "color": [light(CARRIES[one.carries][1]) for one in systems],
        },
        name="prices",
    )
    shown = {one.carries for one in systems}
    plot = blank(
        "prices",
        x_range=from_zero(),
        y_range=Range1d(start=0, end=1.25 * max(one.price for one in systems) or 1),
    )
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
    plot.text(
        "sessions",
        "price",
        "short",
        text_align="align",
        x_offset="offset",
        y_offset=-6,
        text_font_size="12px",
        text_color=light("ink"),
        source=source,
    )
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
            *(Key(*words, "dot") for value, words in CARRIES.items() if value in shown),
            Key(f"down to the sessions that fit with a probability of at least {safe}", "quiet", "line"),
            Key(f"asked: {counted_noun(asked, 'session')}", "ink", "dashed"),
        ],
        plot,
    )


class RankedBar(NamedTuple):
    """A system: the sessions that fit, their range (None: no such end), both in words, and its colour."""

    name: str
    sessions: int
    low: int | None
    high: int | None
    said: str
    colour: str


BAR_PIXELS = 30
"""Height of a chart for each of its bars."""


def ranked_chart(bars: Sequence[RankedBar], needed: int | None, unknown: Sequence[str] = ()) -> Chart:
    """A bar for each system, in order: the sessions that fit, their range, and the needed number.

    ``unknown`` are the systems without such a number.
    """
    title = "Sessions that fit"
    caption = (
        "A bar for each system, in the order of the table; the thin line is the range."
        f"{_without_number(unknown)}"
    )
    if not bars:
        return Chart("ranked", title, caption, NO_SESSIONS_OF_SYSTEMS, [], None, NO_SESSIONS_OF_SYSTEMS)
    source = ColumnDataSource(
        {
            "name": [bar.name for bar in bars],
            "sessions": [bar.sessions for bar in bars],
            "low": [bar.sessions if bar.low is None else bar.low for bar in bars],
            "high": [bar.sessions if bar.high is None else bar.high for bar in bars],
            "said": [bar.said for bar in bars],
            "color": [light(bar.colour) for bar in bars],
        },
        name="ranked",
    )
    plot = blank(
        "ranked",
        height=90 + BAR_PIXELS * len(bars),
        x_range=from_zero(),
        y_range=FactorRange(factors=[bar.name for bar in reversed(bars)]),
    )
    drawn = plot.hbar(y="name", right="sessions", height=0.6, color="color", source=source)
    plot.segment("low", "name", "high", "name", color=light("ink"), line_width=2, source=source)
    keys = [Key("range of the number", "ink", "line")]
    if needed is not None:
        plot.add_layout(
            Span(location=needed, dimension="height", line_color=light("ink"), line_dash="dashed")
        )
        keys = [
            Key("carries the needed sessions", "good"),
            Key("does not", "bad"),
            Key("open: its range includes the number", "warn"),
            *keys,
            Key(f"needed: {counted_noun(needed, 'session')}", "ink", "dashed"),
        ]
    plot.xaxis.axis_label = "sessions that fit"
    hover(plot, drawn, [("", "@name"), ("sessions", "@said")])
    summary = "Bars: the sessions that fit on each system, with their range and the needed number."
    return Chart("ranked", title, caption, summary, keys, plot)


MARGIN = 0.5
"""Room of an axis below its smallest and above its largest number; these are whole numbers."""

STEP = 0.06
"""Distance between runs with the same number: they are drawn side by side around it, in their order."""

VERDICTS = {"carried": ("good", "circle"), "too many": ("bad", "inverted_triangle")}
"""Colour and shape of a run by its verdict."""


def slowdown_chart(runs: Sequence[SessionRun], knee: Knee | None) -> Chart:
    """Slowdown of each run by its sessions, the bound, and the largest number that fits."""
    sessions = [run.sessions for run in runs]
    looks = [VERDICTS.get(run.verdict, VERDICTS["carried"]) for run in runs]
    source = ColumnDataSource(
        {
            "sessions": sessions,
            "at": side_by_side(sessions),
            "slowdown": np.array([run.answer_slowdown for run in runs], np.float64),
            "verdict": [run.verdict for run in runs],
            "color": [light(colour) for colour, _ in looks],
            "shape": [shape for _, shape in looks],
        },
        name="slowdown",
    )
    plot = blank("slowdown", x_range=_beside(sessions), y_range=from_zero())
    keys = [
        Key("run that is carried", "good", "dot"),
        Key("run with too many", "bad", "triangle"),
    ]
    if knee is not None and knee.low is not None and knee.high is not None and knee.low < knee.high:
        plot.add_layout(
            BoxAnnotation(left=knee.low, right=knee.high, fill_color=light("quiet"), fill_alpha=0.2)
        )
        keys.append(Key(f"95 % interval, {knee.low} to {knee.high}", "quiet", "pale"))
    if knee is not None and knee.sessions is not None and not knee.beyond:
        plot.add_layout(
            Span(location=knee.sessions, dimension="height", line_color=light("ink"), line_dash="dashed")
        )
        keys.append(Key(f"largest number that fits, {knee.sessions}", "ink", "dashed"))
    for bound in {run.answer_bound for run in runs if run.answer_bound is not None}:
        plot.line([min(sessions) - MARGIN, max(sessions) + MARGIN], [bound, bound], color=light("ink"))
        keys.append(Key(f"bound of the slowdown, {bound:g}", "ink", "line"))
    points = plot.scatter("at", "slowdown", marker="shape", size=10, color="color", source=source)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "sessions", "slowdown"
    plot.xaxis.ticker = FixedTicker(ticks=sorted(set(sessions)))
    hover(
        plot,
        points,
        [("sessions", "@sessions"), ("slowdown", "@slowdown{0.00}"), ("", "@verdict")],
    )
    return Chart(
        "slowdown",
        "Slowdown by sessions",
        "A mark for each run: real time of its jobs over their reference time.",
        "Marks: the slowdown of each run by its number of sessions, the bound, and the largest number "
        "that fits.",
        keys,
        plot,
    )


def scaling_chart(rows: Sequence[ScalingRow]) -> Chart:
    """Application throughput of all nodes, beside what as many times the fewest would be."""
    nodes = [row.nodes for row in rows]
    first = rows[0].bytes_per_second or 0.0
    source = ColumnDataSource(
        {
            "nodes": nodes,
            "rate": np.array([row.bytes_per_second for row in rows], np.float64),
            "ideal": np.array([first * row.nodes / rows[0].nodes for row in rows]),
            "rate_said": [figure(row.bytes_per_second, format_rate) for row in rows],
            "ideal_said": [format_rate(first * row.nodes / rows[0].nodes) for row in rows],
        },
        name="scaling",
    )
    plot = blank("scaling", x_range=_beside(nodes), y_range=from_zero())
    plot.line("nodes", "ideal", color=light("quiet"), line_dash="dashed", source=source)
    plot.line("nodes", "rate", color=light("ink"), line_width=2, source=source)
    points = plot.scatter("nodes", "rate", marker="diamond", size=14, color=light("ink"), source=source)
    made = [(row.nodes, rate) for row in rows for rate in row.run_bytes_per_second]
    runs = ColumnDataSource(
        {
            "nodes": [nodes for nodes, _ in made],
            "at": side_by_side([nodes for nodes, _ in made]),
            "rate": np.array([rate for _, rate in made], np.float64),
        },
        name="scaling_runs",
    )
    plot.scatter("at", "rate", size=8, color=light("accent"), source=runs)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "nodes", "throughput"
    plot.xaxis.ticker = FixedTicker(ticks=nodes)
    plot.yaxis.formatter = ticks_of("rate")
    hover(
        plot,
        points,
        [("nodes", "@nodes"), ("throughput", "@rate_said"), ("ideal", "@ideal_said")],
    )
    return Chart(
        "scaling",
        "Throughput by nodes",
        f"Application bytes per second of all nodes together. {GROWS}",
        "Line: throughput of all nodes by their number; dashed: ideal, in proportion to the fewest.",
        [
            Key("throughput of a run", "accent", "dot"),
            Key("median of the runs", "ink", "diamond"),
            Key(f"ideal: in proportion to {counted_noun(rows[0].nodes, 'node')}", "quiet", "dashed"),
        ],
        plot,
    )


def side_by_side(numbers: Sequence[int]) -> list[float]:
    """Where to draw runs so that those with one number do not cover each other."""
    whole, seen = Counter(numbers), Counter[int]()
    places = []
    for number in numbers:
        places.append(number + STEP * (seen[number] - (whole[number] - 1) / 2))
        seen[number] += 1
    return places


def _beside(numbers: Sequence[int]) -> Range1d:
    return Range1d(start=min(numbers) - MARGIN, end=max(numbers) + MARGIN)
