"""How single calls and single jobs spread: latency by role, and CPU over real time."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import BasicTicker

from mawl.reports.html.charts.frame import (
    CLASS_COLOURS,
    Chart,
    Sources,
    blank,
    class_keys,
    from_zero,
    hover,
    latency_ticks,
    ticks_of,
)
from mawl.reports.html.charts.over_time import LATENCY
from mawl.reports.html.colours import light

TOOLS = "pan,box_zoom,reset,save"


def latency_distribution(sources: Sources, reason: str, having: Sequence[str]) -> Chart:
    """Share of the calls of a role and direction by how long they took."""
    plot = None
    if not reason:
        plot = blank("latency_distribution", tools=TOOLS, x_axis_type="log", y_range=from_zero(), height=260)
        latency_ticks(plot.xaxis)
        plot.xaxis.axis_label = "time of a call"
        plot.yaxis.axis_label = "share of the calls"
        plot.yaxis.formatter = ticks_of("share")
        for column in having:
            key = LATENCY[column]
            line = plot.step(
                "from_seconds",
                column,
                source=sources["latency_distribution"],
                name=column,
                color=key.paint,
                line_width=1.8,
                line_dash="solid" if key.swatch == "line" else "dashed",
                mode="after",
            )
            hover(
                plot,
                line,
                [("calls", key.name), ("took about", "@took"), ("share", f"@{column}{{0.0 %}}")],
            )
    return Chart(
        "latency_distribution",
        "Latency distribution by role",
        "Share of the calls by the time they took, four steps to a doubling; the axis is logarithmic.",
        "Step chart of the share of calls by latency for reads and writes of each role.",
        [LATENCY[column] for column in having],
        plot,
        reason,
    )


def cpu_real(sources: Sources, reason: str) -> Chart:
    """Number of jobs by their CPU time over real time."""
    plot = None
    data = sources["cpu_real"].data
    classes = [name for name in CLASS_COLOURS if any(data[name])]
    if not reason:
        plot = blank("cpu_real", tools=TOOLS, height=220, x_range=from_zero(), y_range=from_zero())
        plot.xaxis.axis_label = "CPU time over real time of a job (ratio)"
        plot.yaxis.axis_label = "jobs"
        plot.yaxis.ticker = BasicTicker(min_interval=1)
        bars = [
            plot.quad(
                left="left",
                right="right",
                bottom=f"{name}_bottom",
                top=f"{name}_top",
                source=sources["cpu_real"],
                color=light(meaning),
                line_color=None,
            )
            for name, meaning in CLASS_COLOURS.items()
            if name in classes
        ]
        for bar, name in zip(bars, classes, strict=True):
            rows = [("ratio", "@left{0.00} to @right{0.00}"), (f"{name} jobs", f"@{name}")]
            hover(plot, bar, rows)
    return Chart(
        "cpu_real",
        "CPU over real time, job by job",
        "Number of jobs that count by the share of their real time they spent on a processor.",
        "Histogram of the ratio of CPU time to real time of the jobs, by class of program.",
        class_keys(classes),
        plot,
        reason,
    )
