"""Charts over time of a comparison: both sides as lines on one time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from mawl.figures.comparison.compare import Comparison
from mawl.figures.comparison.sides import SUMS, RunOverTime, middle
from mawl.figures.sessions import JobsOverTime
from mawl.importers.formats.text import one_line
from mawl.reports.html.charts.frame import Chart, Columns, Form, Key, Sources, time_figure, time_range
from mawl.reports.html.colours import light

SIDES = ("reference", "candidate")
"""The sides, whose colours have their names."""
THIN_ALPHA = 0.35


class Over(NamedTuple):
    """One chart over time: what it shows, its axis, and how its figures are written."""

    name: str
    title: str
    column: str
    axis: str
    form: Form
    what: str


CHARTS = (
    Over(
        "device",
        "Throughput at the device",
        "device_bytes_per_second",
        "throughput",
        "rate",
        "Bytes per second that reached the devices, read and written together",
    ),
    Over(
        "application",
        "Throughput at the application",
        "application_bytes_per_second",
        "throughput",
        "rate",
        "Bytes per second that programs read and wrote, cache hits included",
    ),
    Over(
        "latency",
        "Latency at the device",
        "device_latency_seconds",
        "time of a request",
        "latency",
        "Mean time of a request at the devices of the roles, queues included",
    ),
    Over("jobs", "Jobs running", "jobs_running", "jobs", "count", "Mean number of jobs that ran"),
    Over(
        "cpu",
        "Processors busy",
        "cpu_busy_ratio",
        "share of processor time",
        "share",
        "Share of the time of all processors in user mode and in the system",
    ),
)


class RunLine(NamedTuple):
    """A run in the charts: its side, the name of its source, and whether it stands for its side."""

    side: str
    source: str
    run: RunOverTime
    stands: bool


def lines_over_time(comparison: Comparison) -> list[RunLine]:
    """Every run that is known over time, those that stand for their sides last, so that they lie on top."""
    lines = [
        RunLine(side, f"{side}_{number}", run, run is middle(runs))
        for side, runs in (
            ("reference", comparison.reference.courses),
            ("candidate", comparison.candidate.courses),
        )
        for number, run in enumerate(runs)
    ]
    return sorted(lines, key=lambda line: line.stands)


def charts_over_time(lines: Sequence[RunLine]) -> list[Chart]:
    """The charts over time, with the reason where no run has the figures of one."""
    sources = {line.source: ColumnDataSource(_columns(line.run), name=line.source) for line in lines}
    time = time_range(max((line.run.elapsed_seconds for line in lines), default=0.0))
    return [_chart(over, lines, sources, time) for over in CHARTS]


def _columns(run: RunOverTime) -> Columns:
    lists: Mapping[str, Sequence[float | None] | None] = {name: getattr(run, name) for name in SUMS}
    known = {name: column for name, column in lists.items() if column is not None}
    return {
        "seconds": np.array(run.seconds, np.float32),
        **{name: np.array(column, np.float32) for name, column in known.items()},
    }


def _chart(over: Over, lines: Sequence[RunLine], sources: Sources, time: Range1d) -> Chart:
    shown = [line for line in lines if over.column in sources[line.source].data]
    return Chart(
        over.name,
        over.title,
        f"{over.what}.",
        f"Line chart over time, reference and candidate over each other: {over.what.lower()}.",
        _keys(shown),
        _drawn(over, shown, sources, time) if shown else None,
        "" if shown else "no samples of either side hold such figures",
        form=over.form,
    )


def _drawn(over: Over, lines: Sequence[RunLine], sources: Sources, time: Range1d) -> figure:
    axis = Range1d(start=0, end=1) if over.form == "share" else None
    plot = time_figure(over.name, time, over.axis, over.form, y_range=axis)
    for line in lines:
        plot.line(
            "seconds",
            over.column,
            source=sources[line.source],
            name=line.source,
            color=light(line.side),
            line_width=2.0 if line.stands else 1.0,
            line_alpha=1.0 if line.stands else THIN_ALPHA,
        )
        if line.stands:
            plot.add_layout(
                Span(
                    location=line.run.active_seconds,
                    dimension="height",
                    line_color=light(line.side),
                    line_dash="dashed",
                )
            )
    return plot


def _keys(lines: Sequence[RunLine]) -> list[Key]:
    keys = []
    for side in SIDES:
        own = [line for line in lines if line.side == side]
        keys += [
            Key(f"{side}, run {one_line(line.run.run_id)}", side, "line", line.source)
            for line in own
            if line.stands
        ]
        others = sum(not line.stands for line in own)
        keys += [Key(f"{side}, {others} more", side, "pale")] if others else []
    return keys


READ_POINTS = 400
"""Points between the changes of a curve, at which the crosshair reads it."""


def jobs_at_once_chart(reference: JobsOverTime, candidate: JobsOverTime, names: tuple[str, str]) -> Chart:
    """Both curves over each other; ``names`` are what the legend calls the sides."""
    curves = dict(zip(SIDES, (reference, candidate), strict=True))
    end = max(curve.seconds[-1] for curve in curves.values())
    plot = time_figure("jobs_at_once", time_range(end), "jobs", "count")
    plot.xaxis.axis_label = "clock of the night (h:mm:ss)"
    plot.yaxis.ticker = BasicTicker(min_interval=1)
    for side, curve in curves.items():
        plot.line(
            "seconds",
            "jobs",
            source=ColumnDataSource(_jobs_at_once_columns(curve), name=side),
            name=side,
            color=light(side),
            line_width=2.0,
        )
    return Chart(
        "jobs_at_once",
        "Jobs at a time",
        "How many of the compared jobs ran at a time.",
        "Line chart over time, both sides over each other: how many jobs ran.",
        [Key(name, side, "line", side) for side, name in zip(SIDES, names, strict=True)],
        plot,
        form="count",
    )


def _jobs_at_once_columns(curve: JobsOverTime) -> Columns:
    seconds, jobs = np.array(curve.seconds), np.array(curve.jobs, np.float64)
    between = np.linspace(seconds[0], seconds[-1], READ_POINTS)
    there = jobs[np.searchsorted(seconds, between, side="right") - 1]
    before = np.concatenate([[0.0], jobs[:-1]])
    moments = np.concatenate([seconds, seconds, between])
    values = np.concatenate([before, jobs, there])
    turns = np.repeat([0, 1, 2], [len(seconds), len(seconds), len(between)])
    order = np.lexsort((turns, moments))
    return {"seconds": moments[order], "jobs": values[order]}
