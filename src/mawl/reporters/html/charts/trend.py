"""One program over the nights: a dot for each night, the levels of its real time, and when they changed."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from itertools import pairwise
from math import exp
from typing import Any

from bokeh.models import ColumnDataSource, DatetimeTickFormatter, NoOverlap
from bokeh.models.annotations import Span

from mawl.analysis.nights.logged import LoggedNights
from mawl.analysis.nights.trends import Trend
from mawl.reporters.html.charts.frame import Chart, Columns, Key, blank, from_zero, hover, ticks_of
from mawl.reporters.html.colours import light
from mawl.units import format_seconds

DAY_MILLISECONDS = 86_400_000.0
UNITS = (("h", 3600.0), ("min", 60.0), ("s", 1.0))
LEAST_UNITS = 2.0
"""The axis has the largest unit in which the longest time is at least this number."""
DATE = "%Y-%m-%d"


def trend_line(nights: LoggedNights, trend: Trend) -> Chart:
    """The chart of a program whose level changed."""
    days = [_day(nights, place) for place in trend.places]
    seconds = [exp(mean) for mean in trend.means]
    unit, size = next((one for one in UNITS if max(seconds) >= LEAST_UNITS * one[1]), UNITS[-1])
    dots: Columns = {
        "day": days,
        "took": [one / size for one in seconds],
        "night": [nights.nights[place].label for place in trend.places],
        "said": [format_seconds(one) for one in seconds],
    }
    plot = blank("trend", x_axis_type="datetime", y_range=from_zero())
    plot.xaxis.axis_label = "date on which the night begins"
    plot.yaxis.axis_label = f"real time ({unit})"
    plot.yaxis.formatter = ticks_of("count")
    _write_dates(plot.xaxis)
    shown = plot.scatter(
        "day",
        "took",
        source=ColumnDataSource(dots, name="trend"),
        name="trend_nights",
        size=7,
        color=light("quiet"),
    )
    hover(plot, shown, [("night", "@night"), ("real time", "@said")])
    plot.segment(
        "left",
        "level",
        "right",
        "level",
        source=ColumnDataSource(_levels(trend, days, size), name="trend_levels"),
        name="trend_levels",
        color=light("accent"),
        line_width=3,
    )
    for place in trend.changes:
        at = _day(nights, place) - DAY_MILLISECONDS / 2
        plot.add_layout(Span(location=at, dimension="height", line_color=light("ink"), line_dash="dashed"))
    dates = [nights.nights[place].label for place in trend.changes]
    return Chart(
        "trend",
        f"{trend.name}: real time of a job, night by night",
        "A dot is the geometric mean over the program's jobs of one night; a line is the geometric mean of "
        "the nights between two changes.",
        f"Dots by date: the real time of a job of {trend.name} in each night, and its levels.",
        [
            Key("one night", "quiet", "mark", "trend_nights"),
            Key("level", "accent", "line", "trend_levels"),
            Key(f"change: {', '.join(dates)}", "ink", "dashed"),
        ],
        plot,
    )


def _levels(trend: Trend, days: list[float], size: float) -> Columns:
    """Of each level its first and last day, half a day further on both sides, and its height."""
    edges = [0, *(trend.places.index(place) for place in trend.changes), len(days)]
    spans = list(pairwise(edges))
    return {
        "left": [days[first] - DAY_MILLISECONDS / 2 for first, _ in spans],
        "right": [days[end - 1] + DAY_MILLISECONDS / 2 for _, end in spans],
        "level": [exp(statistics.fmean(trend.means[first:end])) / size for first, end in spans],
    }


def _day(nights: LoggedNights, place: int) -> float:
    """The date of a night in milliseconds since the epoch, as the axis counts."""
    return datetime.fromisoformat(nights.nights[place].label).replace(tzinfo=UTC).timestamp() * 1000.0


def _write_dates(axis: Any) -> None:
    """Write every label as a date, as tables do, and leave out those for which there is no room."""
    axis.formatter = DatetimeTickFormatter(
        hours=DATE, days=DATE, months=DATE, years=DATE, hourmin=DATE, minutes=DATE
    )
    axis.major_label_policy = NoOverlap(min_distance=14)
