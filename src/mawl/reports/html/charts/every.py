"""All charts of a run: which it has something for, and why not where it has not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bokeh.models import ColumnDataSource

from mawl.advice.validity.host import foreign_bytes
from mawl.records.model.summary.summary import Summary
from mawl.reports.html.charts import distributions, lead, over_time, sessions
from mawl.reports.html.charts.frame import Chart, Columns, time_range
from mawl.reports.html.charts.over_time import LATENCY, application, array_latency, device
from mawl.reports.html.charts.over_time import throughput as throughput_over_time
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
        device(sources, time, sides["device"]),
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
        sessions.sessions(
            sources,
            time,
            "" if found.sessions.bars else NO_START,
            found.sessions.rows,
            found.tail,
        ),
        distributions.latency_distribution(
            sources,
            "" if set(LATENCY) & set(tables) else _why_no_roles(summary),
            [name for name in LATENCY if name in tables],
        ),
        distributions.cpu_real(
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
