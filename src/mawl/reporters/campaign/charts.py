"""The charts of a campaign: what more sessions cost jobs, and what nodes give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.models.annotations import BoxAnnotation, Span

from mawl.analysis.campaign.knee import Knee, SessionRun
from mawl.analysis.campaign.results import ScalingRow
from mawl.reporters.figure import figure
from mawl.reporters.html.charts.frame import (
    Chart,
    Key,
    blank,
    from_zero,
    hover,
    ticks_of,
)
from mawl.reporters.html.colours import light
from mawl.units import format_rate

TOOLS = "save"
MARGIN = 0.5
"""Beside the smallest and the largest number of an axis or an interval: they are whole."""


def slowdown_chart(runs: Sequence[SessionRun], knee: Knee | None) -> Chart:
    """Median slowdown of each run by its sessions, the bound, and the knee with its interval."""
    sessions = [run.sessions for run in runs]
    source = ColumnDataSource(
        {
            "sessions": sessions,
            "slowdown": np.array([run.slowdown for run in runs], np.float64),
            "verdict": [run.verdict for run in runs],
            "color": [light("bad" if run.verdict == "too many" else "good") for run in runs],
        },
        name="slowdown",
    )
    plot = blank("slowdown", tools=TOOLS, x_range=_beside(sessions), y_range=from_zero())
    keys = [
        Key("run that is carried", "good"),
        Key("run with too many", "bad"),
    ]
    if knee is not None and knee.low is not None and knee.high is not None:
        plot.add_layout(
            BoxAnnotation(
                left=knee.low - MARGIN, right=knee.high + MARGIN, fill_color=light("quiet"), fill_alpha=0.2
            )
        )
        keys.append(Key("95 % interval of the knee", "quiet", "pale"))
    if knee is not None and knee.sessions is not None and not knee.beyond:
        plot.add_layout(
            Span(location=knee.sessions, dimension="height", line_color=light("ink"), line_dash="dashed")
        )
        keys.append(Key("knee", "ink", "dashed"))
    for bound in {run.most_slowdown for run in runs if run.most_slowdown is not None}:
        plot.line([min(sessions) - MARGIN, max(sessions) + MARGIN], [bound, bound], color=light("ink"))
        keys.append(Key(f"bound of the slowdown, {bound:g}", "ink", "line"))
    points = plot.scatter("sessions", "slowdown", size=10, color="color", source=source)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "sessions", "median slowdown of the jobs"
    plot.xaxis.ticker = FixedTicker(ticks=sorted(set(sessions)))
    hover(
        plot,
        points,
        [("sessions", "@sessions"), ("slowdown", "@slowdown{0.00}"), ("", "@verdict")],
    )
    return Chart(
        "slowdown",
        "Slowdown by sessions",
        "Of every run: real time of the median job over its real time alone on this system.",
        "Points: the median slowdown of each run by its number of sessions, with the bound and the knee.",
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
    plot = blank("scaling", tools=TOOLS, x_range=_beside(nodes), y_range=from_zero())
    plot.line("nodes", "ideal", color=light("quiet"), line_dash="dashed", source=source)
    plot.line("nodes", "rate", color=light("ink"), line_width=2, source=source)
    runs = [(row.nodes, rate) for row in rows for rate in row.run_bytes_per_second]
    plot.scatter(
        [nodes for nodes, _ in runs], [rate for _, rate in runs], size=8, alpha=0.7, color=light("accent")
    )
    points = plot.scatter("nodes", "rate", marker="diamond", size=14, color=light("ink"), source=source)
    plot.xaxis.axis_label, plot.yaxis.axis_label = "nodes", "throughput"
    plot.xaxis.ticker = FixedTicker(ticks=nodes)
    plot.yaxis.formatter = ticks_of("rate")
    hover(
        plot,
        points,
        [("nodes", "@nodes"), ("", "@rate_said"), ("in proportion to the fewest nodes", "@ideal_said")],
    )
    return Chart(
        "scaling",
        "Throughput by nodes",
        "Application bytes per second of all nodes together; medians over runs.",
        "Line: throughput of all nodes by their number, and throughput in proportion to the fewest nodes.",
        [
            Key("run", "accent"),
            Key("median of all nodes' throughput", "ink", "line"),
            Key("in proportion to the fewest nodes", "quiet", "dashed"),
        ],
        plot,
    )


def _beside(numbers: Sequence[int]) -> Range1d:
    return Range1d(start=min(numbers) - MARGIN, end=max(numbers) + MARGIN)
