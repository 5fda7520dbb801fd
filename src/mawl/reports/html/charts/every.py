"""All charts of a run: which it has something for, and why not where it has not; and its distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import BasicTicker, ColumnDataSource

from mawl.advice.validity.host import foreign_bytes
from mawl.records.model.summary.summary import Summary
from mawl.reports.html.charts import lead, over_time
from mawl.reports.html.charts.frame import (
    CLASS_COLOURS,
    Chart,
    Columns,
    Sources,
    blank,
    class_keys,
    from_zero,
    hover,
    latency_ticks,
    ticks_of,
    time_range,
)
from mawl.reports.html.charts.over_time import LATENCY, application, array_latency, device
from mawl.reports.html.charts.over_time import throughput as throughput_over_time
from mawl.reports.html.colours import light
from mawl.reports.html.sources import ChartData

NO_TRAFFIC = "no bytes on any network were seen"
NO_ROLES = "I/O by role was not measured"
NO_START = "no job of the run has a known start"


def charts_of(found: ChartData, columns: Mapping[str, Columns], summary: Summary) -> list[Chart]:
    """Every chart, in the order of the page; those over time share one axis."""
    sources = {name: ColumnDataSource(data, name=name) for name, data in columns.items()}
    time = time_range(found.end_seconds)
    rates = found.over_time
    having = set(rates.having(rates.columns))
    why = found.why_not_drawn

    def lacking(*names: str, otherwise: str) -> str:
        """Why a chart that needs one of some columns cannot be drawn; empty where it can."""
        return why or ("" if having & set(names) else otherwise)

    sides = {
        side: lacking(
            f"{side}_read_bytes_per_second",
            otherwise=f"the samples hold no bytes of the {side} side",
        )
        for side in ("device", "application")
    }
    by_role = any(f"{role}_read_bytes_per_second" in having for role in ("data", "work", "util"))
    host = summary.missing.get("host", "the samples hold no such figures of the host")
    moving = [name for name in over_time.NETWORK if name in having and np.nanmax(rates.columns[name]) > 0]
    tables = list(columns["latency_distribution"])
    others = None if sides["application"] else foreign_bytes(summary)
    side = next((one for one, lack in sides.items() if not lack and not (others and one == "device")), None)
    few = ""
    if side is not None and not found.goes_on:
        few = lead.too_few(rates.columns[f"{side}_read_bytes_per_second"], found.end_seconds)
    charts = [
        lead.lead(sources, columns, time, side, lead.bounds_of(summary, found.cores), others, few),
        device(sources, time, sides["device"], foreign_bytes(summary)),
        application(sources, time, sides["application"], by_role=by_role),
        over_time.device_latency(
            sources, time, lacking(*LATENCY, otherwise=_why_no_roles(summary)), [*having]
        ),
        over_time.jobs(
            sources,
            time,
            lacking("jobs_on_cpu", otherwise="what jobs waited for was not measured"),
            [*having],
        ),
        over_time.cpu(sources, time, lacking("cpu_user_ratio", otherwise=host), [*having]),
        over_time.memory(sources, time, lacking(*over_time.MEMORIES, otherwise=host), [*having]),
        over_time.network(sources, time, lacking(*moving, otherwise=NO_TRAFFIC), [*having]),
        over_time.sessions(
            sources,
            time,
            "" if found.sessions.bars else NO_START,
            found.sessions.rows,
            found.tail,
        ),
        latency_distribution(
            sources,
            "" if set(LATENCY) & set(tables) else _why_no_roles(summary),
            [name for name in LATENCY if name in tables],
        ),
        cpu_real(
            sources,
            "" if summary.cpu_real_ratio.mean is not None else _why(summary, "cpu_real_ratio.mean"),
        ),
    ]
    if found.arrays:
        charts[3:3] = [
            throughput_over_time(sources, time, found.arrays),
            array_latency(sources, time, found.arrays),
        ]
    return [chart._replace(not_yet=_not_yet(found, chart.reason)) for chart in charts]


def _not_yet(found: ChartData, reason: str) -> bool:
    """Whether what is not drawn for this reason is still to come: the run goes on, and nothing forbids it."""
    passing = {found.why_not_drawn, NO_TRAFFIC, NO_START} - {""}
    return found.goes_on and bool(reason) and (reason in passing or not found.counted)


def _why_no_roles(summary: Summary) -> str:
    return _why(summary, "io.by_role", "no call on files of the roles was counted")


def _why(summary: Summary, path: str, otherwise: str = NO_ROLES) -> str:
    return str(summary.missing.get(path, otherwise))


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
