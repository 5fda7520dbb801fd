"""Charts of many nights: laid over each other by hour of the day, and one program from night to night."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from math import exp
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, DatetimeTickFormatter, FixedTicker, NoOverlap, PlainText, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from mawl.base.units import format_seconds
from mawl.figures.nights import (
    STEP_MINUTES,
    STEPS,
    Floats,
    LoggedNight,
    LoggedNights,
    hours_of,
    middle_and_band,
)
from mawl.figures.trends import Trend
from mawl.figures.view import RunView
from mawl.reports.html.charts.frame import Chart, Columns, Key, blank, from_zero, hover, ticks_of
from mawl.reports.html.colours import light
from mawl.reports.layout import figure as figure_text

TOOLS = "xpan,xbox_zoom,reset,save"
HEIGHT = 300
THIN_ALPHA = 0.45
MANY_ALPHA = 0.18
MANY = 60
"""More lines than that are paler, so that where most of them lie can be seen."""
STEP_HOURS = STEP_MINUTES / 60
HOURS_RANGE = "hours"
"""The axis of hours, whose tag is the hour of the day from which it counts (``charts.js``)."""


class LaidOver(NamedTuple):
    """Mean jobs at once by night and quarter of an hour, (nights, 96), and the first and last quarter that
    any night has jobs in."""

    hours: Floats
    first: int
    last: int


def laid_over(nights: LoggedNights, view: RunView) -> LaidOver:
    hours = hours_of(nights, view.jobs)
    busy = np.flatnonzero(np.nansum(hours, axis=0) > 0.0)
    if not len(busy):
        return LaidOver(hours, 0, STEPS - 1)
    return LaidOver(hours, max(int(busy[0]) - 1, 0), min(int(busy[-1]) + 1, STEPS - 1))


def night_lines(nights: LoggedNights, view: RunView) -> Chart:
    """The chart of an import of several nights."""
    data = laid_over(nights, view)
    longest = nights.longest
    middle, low, high = middle_and_band(data.hours)
    at = (np.arange(STEPS) + 0.5) * STEP_HOURS
    inside = slice(data.first, data.last + 1)
    every: Columns = {"hours": at[inside].astype(np.float32)}
    every |= {
        name: values[inside].astype(np.float32)
        for name, values in (("middle", middle), ("low", low), ("high", high))
    }
    banded = not np.isnan(low).all()
    if longest is not None:
        every["longest"] = data.hours[nights.nights.index(longest), inside].astype(np.float32)
    plot = blank(
        "nights",
        tools=TOOLS,
        height=HEIGHT,
        x_range=Range1d(
            start=data.first * STEP_HOURS,
            end=(data.last + 1) * STEP_HOURS,
            bounds="auto",
            name=HOURS_RANGE,
            tags=[_first_hour(nights)],
        ),
        y_range=from_zero(),
    )
    plot.xaxis.axis_label = f"hour of the day ({nights.zone})"
    plot.yaxis.axis_label = "jobs at once"
    plot.yaxis.formatter = ticks_of("count")
    _name_hours(plot.xaxis, nights)
    source = ColumnDataSource(every, name="nights")
    if banded:
        plot.varea(
            "hours", "low", "high", source=source, name="band", fill_color=light("accent"), fill_alpha=0.16
        )
    lines = plot.multi_line(
        "hours",
        "jobs",
        source=ColumnDataSource(_lines(nights, data, every["hours"]), name="every_night"),
        name="every_night",
        line_color=light("quiet"),
        line_alpha=THIN_ALPHA if len(nights.nights) <= MANY else MANY_ALPHA,
        line_width=1,
    )
    hover(plot, lines, [("night", "@night"), ("jobs", "@count"), ("lasted", "@lasted")])
    keys = [Key("one night", "quiet", "thin", "every_night")]
    if longest is not None:
        plot.line("hours", "longest", source=source, name="longest", color=light("ink"), line_width=2.2)
        words = f"longest night, {longest.label}: {_lasted(longest)}"
        keys.append(Key(words, "ink", "line", "longest"))
    plot.line("hours", "middle", source=source, name="middle", color=light("accent"), line_width=3)
    keys.append(Key("median of the nights", "accent", "line", "middle"))
    if banded:
        keys.append(Key("10th to 90th percentile", "accent", "pale", "band"))
    return Chart(
        "nights",
        f"{len(nights.nights)} nights laid over each other",
        "Mean jobs at once in each quarter of an hour of the day. A new night begins at "
        f"{nights.divided_at}, the quietest time of the day. Tap or point at an hour to see its figures in "
        "the legend: for the nights, the lowest and the highest. With a mouse, point at a thin line to see "
        "which night it is.",
        "Line chart of the jobs at once by hour of the day: a line for each night, their median and the "
        "longest night.",
        keys,
        plot,
        form="count",
    )


def _lines(nights: LoggedNights, data: LaidOver, hours: object) -> Columns:
    inside = slice(data.first, data.last + 1)
    return {
        "hours": [hours for _ in nights.nights],
        "jobs": [row.astype(np.float32) for row in data.hours[:, inside]],
        "night": [one.label for one in nights.nights],
        "count": [one.load.jobs for one in nights.nights],
        "lasted": [_lasted(one) for one in nights.nights],
    }


def _lasted(one: LoggedNight) -> str:
    return figure_text(one.length_seconds, format_seconds)


def _first_hour(nights: LoggedNights) -> int:
    return nights.window.starts_minute // 60


def _name_hours(axis: Any, nights: LoggedNights) -> None:
    """Label the axis with hours of the day; it counts from the full hour at which a night begins."""
    first = _first_hour(nights)
    ticks = list(range(25))
    axis.ticker = FixedTicker(ticks=ticks)
    axis.major_label_overrides = {at: PlainText(text=f"{(first + at) % 24:02d}:00") for at in ticks}
    axis.major_label_policy = NoOverlap(min_distance=14)


DAY_MILLISECONDS = 86_400_000.0
UNITS = (("h", 3600.0), ("min", 60.0), ("s", 1.0))
LEAST_UNITS = 2.0
"""The axis has the largest unit in which the longest time is at least this number."""
DATE = "%Y-%m-%d"


def trend_line(nights: LoggedNights, trend: Trend) -> Chart:
    """The chart of a program whose level changed."""
    days = [_day(nights, place) for place in trend.places]
    plot, size = _by_date(
        "trend",
        days,
        [exp(mean) for mean in trend.means],
        [nights.nights[place].label for place in trend.places],
        "date on which the night begins",
    )
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
            Key("one night", "quiet", "dot", "trend_nights"),
            Key("level", "accent", "line", "trend_levels"),
            Key(f"change: {', '.join(dates)}", "ink", "dashed"),
        ],
        plot,
    )


def _by_date(
    name: str, days: Sequence[float], seconds: Sequence[float], labels: Sequence[str], axis: str
) -> tuple[figure, float]:
    """A dot for each night at its milliseconds since the epoch; the second is the axis' unit in seconds."""
    unit, size = next((one for one in UNITS if max(seconds) >= LEAST_UNITS * one[1]), UNITS[-1])
    dots: Columns = {
        "day": [*days],
        "took": [one / size for one in seconds],
        "night": [*labels],
        "said": [format_seconds(one) for one in seconds],
    }
    plot = blank(name, x_axis_type="datetime", y_range=from_zero())
    plot.xaxis.axis_label = axis
    plot.yaxis.axis_label = f"real time ({unit})"
    plot.yaxis.formatter = ticks_of("count")
    _write_dates(plot.xaxis)
    shown = plot.scatter(
        "day",
        "took",
        source=ColumnDataSource(dots, name=name),
        name=f"{name}_nights",
        size=7,
        color=light("quiet"),
    )
    hover(plot, shown, [("night", "@night"), ("real time", "@said")])
    return plot, size


class FollowedNight(NamedTuple):
    """A night of a history: its name, its start (seconds since the epoch), and seconds of a job."""

    name: str
    started_at: float
    seconds: float


def history_chart(nights: Sequence[FollowedNight], changes: Sequence[float]) -> Chart:
    """Nights by their start, and a line where the level changed (seconds since the epoch)."""
    plot, _ = _by_date(
        "history",
        [one.started_at * 1000.0 for one in nights],
        [one.seconds for one in nights],
        [one.name for one in nights],
        "date on which the night began",
    )
    for at in changes:
        plot.add_layout(
            Span(location=at * 1000.0, dimension="height", line_color=light("bad"), line_dash="dashed")
        )
    return Chart(
        "history",
        "Real time of a job, night by night",
        "A dot is the geometric mean over the jobs of one night.",
        "Dots by date: the geometric mean of a job's real time in each night.",
        [
            Key("one night", "quiet", "dot", "history_nights"),
            *([Key("first night after a change", "bad", "dashed")] if changes else []),
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
