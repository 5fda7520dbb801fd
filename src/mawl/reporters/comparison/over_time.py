"""Both sides over time, laid over each other: a line a run, on the one time axis of all charts over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from mawl.analysis.comparison.compare import Comparison
from mawl.analysis.comparison.over_time import SUMS, RunOverTime, middle
from mawl.formats.lines import one_line
from mawl.reporters.html.charts.frame import (
    Chart,
    Columns,
    Form,
    Key,
    Sources,
    time_figure,
    time_range,
)
from mawl.reporters.html.colours import light

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
    """The lists of a run as columns, missing figures NaN; a figure that the run has not is no column."""
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
    """Which run each colour is."""
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
