"""How many jobs ran at a time on two sides, as two curves over one clock."""

from __future__ import annotations

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource

from mawl.analysis.concurrency import JobsOverTime
from mawl.reporters.comparison.over_time import SIDES
from mawl.reporters.html.charts.frame import Chart, Columns, Key, time_figure, time_range
from mawl.reporters.html.colours import light

READ_POINTS = 400
"""Points between the changes of a curve, at which the crosshair reads it."""


def jobs_at_once_chart(reference: JobsOverTime, candidate: JobsOverTime, names: tuple[str, str]) -> Chart:
    """Both curves over each other; ``names`` are what the legend calls the sides."""
    curves = dict(zip(SIDES, (reference, candidate), strict=True))
    end = max(one.seconds[-1] for one in curves.values())
    plot = time_figure("jobs_at_once", time_range(end), "jobs", "count")
    plot.xaxis.axis_label = "clock of the night (h:mm:ss)"
    plot.yaxis.ticker = BasicTicker(min_interval=1)
    for side, curve in curves.items():
        plot.line(
            "seconds",
            "jobs",
            source=ColumnDataSource(_columns(curve), name=side),
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


def _columns(curve: JobsOverTime) -> Columns:
    """The corners of the steps, and points between them."""
    seconds, jobs = np.array(curve.seconds), np.array(curve.jobs, np.float64)
    between = np.linspace(seconds[0], seconds[-1], READ_POINTS)
    there = jobs[np.searchsorted(seconds, between, side="right") - 1]
    before = np.concatenate([[0.0], jobs[:-1]])
    moments = np.concatenate([seconds, seconds, between])
    values = np.concatenate([before, jobs, there])
    turns = np.repeat([0, 1, 2], [len(seconds), len(seconds), len(between)])
    order = np.lexsort((turns, moments))
    return {"seconds": moments[order], "jobs": values[order]}
