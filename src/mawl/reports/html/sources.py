"""The data of a run's charts by the name of their source: what a live page replaces while a run grows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from mawl.advice.limit.imports import why_limit_unknown, windows_of_import
from mawl.advice.limit.verdict import classify
from mawl.base.units import format_latency, format_percent, format_rate, format_seconds
from mawl.figures.arrays import Values, arrays_over_time
from mawl.figures.over_time import OverTime, over_time
from mawl.figures.series import Floats, kept_rows
from mawl.figures.sessions import RUNNING, Bar, Sessions, Windows, fills, initial_edges, sessions
from mawl.figures.throughput import cores_of
from mawl.figures.view import RunView
from mawl.records.model.node import ArrayStatistics
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import WAIT_FIELDS, sum_by_role
from mawl.records.model.summary.io import Application, AtDevice
from mawl.records.model.summary.summary import Summary
from mawl.records.model.summary.time import WindowFigures
from mawl.records.spec.program_options import ROLES
from mawl.reports.html.charts.frame import CLASS_COLOURS, Columns
from mawl.reports.html.charts.lead import bound_columns, bounds_of, limit_columns
from mawl.reports.html.charts.over_time import (
    BADLY,
    CPU,
    JOBS,
    LATENCY,
    MEMORIES,
    NETWORK,
    NOT_KNOWN,
    STATES,
    WELL,
)
from mawl.reports.layout import ABSENT, figure


class ChartData(msgspec.Struct, frozen=True, kw_only=True):
    """``end_seconds`` is the last end of a job, or how far a run that goes on was when it was read.

    ``tail`` is begin and end of the tail, ``initial`` of the first full window, all in seconds since
    the first start.  ``limits`` has begin, end and limit of each window whose limit is known.
    ``why_not_drawn`` says why there is nothing to draw over time; of a run that ``goes_on``, why there is
    nothing yet.  ``arrays`` are figures at storage arrays, a value for each window of the active phase.
    ``cores`` are those that the jobs could use, as for figures per core.
    """

    jobs: list[JobRecord]
    counted: list[JobRecord]
    over_time: OverTime
    sessions: Sessions
    end_seconds: float
    windows_start_seconds: float
    windows: Windows | None
    tail: tuple[float, float] | None
    initial: tuple[float, float] | None
    limits: list[tuple[float, float, str]]
    why_not_drawn: str
    goes_on: bool
    arrays: dict[str, Values]
    cores: float | None


def chart_data(view: RunView) -> ChartData:
    """Read a run for its charts; what is missing or damaged beside the jobs leaves charts empty."""
    facts, jobs, samples, events = view.facts, view.jobs, view.samples, view.events
    line, windows = view.line, view.windows
    starts = [job.started_at for job in jobs if job.started_at is not None]
    starts += [event.happened_at for event in events if event.event == "job_started"]
    started_at = min(starts, default=facts.started_at)
    looks = [
        float(series.times[-1])
        for node in (samples.nodes if samples else ())
        if samples and (series := samples.series(node, "jobs_running")) is not None
    ]
    ended_at = line.ended_at if line else started_at
    drawn = jobs
    if line and line.period:  # of an import that is not one run the period that figures over time are of
        started_at, ended_at = line.period
        drawn = [
            job for job in jobs if job.started_at is not None and started_at <= job.started_at <= ended_at
        ]
    goes_on = facts.outcome == "running"
    if goes_on:
        ended_at = max([ended_at, *looks])
    found = over_time(facts, samples, (started_at, ended_at), jobs)
    edges = initial_edges(jobs, windows) if windows else ""
    return ChartData(
        jobs=jobs,
        counted=view.counted,
        over_time=found,
        sessions=sessions(facts, drawn, events, started_at, ended_at),
        end_seconds=ended_at - started_at,
        windows_start_seconds=windows.edges[0] - started_at if windows else 0.0,
        windows=windows,
        tail=(line.active_seconds, line.elapsed_seconds)
        if line and line.tail_seconds > 0 and not line.periods
        else None,
        initial=None if isinstance(edges, str) else (edges[0] - started_at, edges[1] - started_at),
        limits=_limit_spans(view, windows.edges[0] - started_at) if windows else [],
        why_not_drawn=_why_not_drawn(found, samples is None, goes_on),
        goes_on=goes_on,
        arrays=arrays_over_time(view.arrays, windows)
        if windows and isinstance(view.arrays, ArrayStatistics)
        else {},
        cores=cores_of(view.facts)[0],
    )


def _limit_spans(view: RunView, first: float) -> list[tuple[float, float, str]]:
    """Begin, end and limit of each active window whose limit is known; ``first`` is when the first begins."""
    names: list[str | None]
    if view.facts.kind == "imported":
        if why_limit_unknown(view):
            return []
        names = [window.name for window in windows_of_import(view)]
    else:
        names = [classify(moment, view) for moment in view.active]
    return [
        (first + moment.start_seconds, first + moment.start_seconds + moment.seconds, name)
        for moment, name in zip(view.active, names, strict=True)
        if name is not None
    ]


def _why_not_drawn(found: OverTime, no_samples: bool, goes_on: bool) -> str:
    if no_samples:
        return "the run holds no samples"
    known = [column for column in found.columns.values() if not np.isnan(column).all()]
    if len(found.seconds) < 2 or not known:
        if goes_on:
            return "the timeline begins with the second look at the jobs, a second after the first"
        return "the run was over within two looks a second apart: there is no timeline to draw"
    return ""


SIDES = ("application", "device")
STEPS_AN_OCTAVE = 4
RATIO_BINS = 20
MARK_COLUMNS = ("left", "right", "value", "label")

OVER_TIME = {
    "device": [f"device_{way}_bytes_per_second" for way in ("read", "write")],
    "application": [
        f"{part}_{way}_bytes_per_second" for part in ("application", *ROLES) for way in ("read", "write")
    ],
    "latency": list(LATENCY),
    "jobs": list(JOBS),
    "cpu": list(CPU),
    "memory": list(MEMORIES),
    "network": list(NETWORK),
}
"""Source to the columns over time that it holds."""


def sources(view: RunView, summary: Summary) -> dict[str, Columns]:
    """The columns of every chart of a run by the name of its ``ColumnDataSource``.

    Figures are in base units (bytes, seconds, ratios), missing ones NaN; ``seconds`` are since the
    first start of a job.  Series over time hold at most
    ``MOST_POINTS`` rows, every peak of each among them.
    """
    return sources_of(chart_data(view), summary)


def sources_of(found: ChartData, summary: Summary) -> dict[str, Columns]:
    """``sources`` of what was read before."""
    rates = {name: _over_time(name, columns, found.over_time) for name, columns in OVER_TIME.items()}
    return {
        **rates,
        "bounds": bound_columns(bounds_of(summary, found.cores), rates["device"]),
        **{f"{side}_marks": _throughput_marks(side, found, summary) for side in SIDES},
        "limits": limit_columns(found.limits if summary.limit is not None else []),
        "sessions": _session_bars(found.sessions.bars),
        "latency_distribution": _latency_shares(found.counted),
        "cpu_real": _cpu_real_bins(found.counted),
        **({"array": _array_columns(found)} if found.arrays else {}),
    }


def _array_columns(found: ChartData) -> Columns:
    assert found.windows is not None
    edges = np.array(found.windows.active_edges)
    middles = (edges[:-1] + edges[1:]) / 2 - edges[0] + found.windows_start_seconds
    return {
        "seconds": middles.astype(np.float32),
        **{
            name: np.array([math.nan if value is None else value for value in values], np.float32)
            for name, values in found.arrays.items()
        },
    }


def _over_time(name: str, names: Iterable[str], rates: OverTime) -> Columns:
    columns: dict[str, Floats] = {
        column: rates.columns.get(column, np.full(len(rates.seconds), np.nan)) for column in names
    }
    if name in SIDES:
        ways = [columns[f"{name}_{way}_bytes_per_second"] for way in ("read", "write")]
        columns[f"{name}_total_bytes_per_second"] = ways[0] + ways[1]
    kept = kept_rows(list(columns.values()))
    return {
        "seconds": rates.seconds[kept].astype(np.float32),
        **{column: values[kept].astype(np.float32) for column, values in columns.items()},
    }


def _throughput_marks(side: str, found: ChartData, summary: Summary) -> Columns:
    block = getattr(summary.io, side)
    windows, first = found.windows, found.windows_start_seconds
    active = windows.active_edges[-1] - windows.edges[0] if windows else None
    spans: dict[str, tuple[float, float] | None] = {
        "initial": found.initial,
        "peak": _peak_span(side, block, summary.windows, found.initial, first),
        "sustained": None if active is None else (first, first + active),
    }
    rows = [
        (*span, value, f"{name} {format_rate(value)}")
        for name, span in spans.items()
        if span is not None and (value := getattr(block, name).total_bytes_per_second) is not None
    ]
    return {name: [row[place] for row in rows] for place, name in enumerate(MARK_COLUMNS)}


def _peak_span(
    side: str,
    block: Application | AtDevice,
    windows: Iterable[WindowFigures],
    initially: tuple[float, float] | None,
    first: float,
) -> tuple[float, float] | None:
    """When the window of the peak was, by the rule of the summary: the initial one, which lies across the
    others, counts among them, and one shorter than half of one only where no other has a figure."""
    initial = block.initial.total_bytes_per_second
    full = [] if initial is None or initially is None else [(initial, *initially)]
    short: list[tuple[float, float, float]] = []
    for window in windows:
        ways = [getattr(window, f"{side}_{way}_bytes_per_second") for way in ("read", "write")]
        if None in ways:
            continue
        start, length = first + window.start_seconds, window.length_seconds
        (full if fills(length, block.window_seconds or 0.0) else short).append(
            (sum(ways), start, start + length)
        )
    best = max(full or short, key=lambda span: span[0], default=None)
    return best and best[1:]


def _session_bars(bars: Iterable[Bar]) -> Columns:
    every = list(bars)
    well = ("finished", RUNNING)
    return {
        "left": np.array([bar.start_seconds for bar in every], np.float32),
        "right": np.array([bar.end_seconds for bar in every], np.float32),
        "top": np.array([bar.row - 0.05 for bar in every], np.float32),
        "bottom": np.array([bar.row + 0.42 for bar in every], np.float32),
        "mostly": [_most_of_time(bar) for bar in every],
        "name": [""] * len(every),
        "ended": [WELL if bar.outcome in well else BADLY for bar in every],
        "edge_width": [0.5 if bar.outcome in well else 2.0 for bar in every],
        "job": [bar.job for bar in every],
        "program": [bar.program for bar in every],
        "program_class": [bar.program_class for bar in every],
        "session": [bar.session for bar in every],
        "node": [bar.node for bar in every],
        "real_time": [figure(bar.real_time_seconds, format_seconds) for bar in every],
        **{field: [_wait_words(bar, field) for bar in every] for field in WAIT_FIELDS},
        "outcome": [bar.outcome.replace("_", " ") for bar in every],
    }


def _most_of_time(bar: Bar) -> str:
    seconds = {field: getattr(bar.waits, field) for field in STATES}
    if None in seconds.values():
        return NOT_KNOWN
    most = max(seconds, key=lambda field: seconds[field])
    return STATES[most][0] if seconds[most] > 0 else NOT_KNOWN


def _wait_words(bar: Bar, field: str) -> str:
    seconds = getattr(bar.waits, field)
    whole = sum(getattr(bar.waits, name) or 0.0 for name in WAIT_FIELDS)
    if seconds is None or whole <= 0:
        return ABSENT
    return f"{format_seconds(seconds)} ({format_percent(seconds / whole)})"


def _latency_shares(jobs: Iterable[JobRecord]) -> Columns:
    """Share of calls per quarter of an octave of their latency, by role and direction."""
    by_role = sum_by_role(job.io for job in jobs if job.io is not None)
    shares: dict[str, dict[int, float]] = {}
    for role in ROLES:
        for way in ("read", "write"):
            histogram: Mapping[int, int] = getattr(by_role[role], f"{way}_nanoseconds_histogram")
            calls = sum(histogram.values())
            if calls:
                column = shares.setdefault(f"{role}_{way}_latency_seconds", {})
                for lower, count in histogram.items():
                    place = math.floor(math.log2(max(lower, 1)) * STEPS_AN_OCTAVE)
                    column[place] = column.get(place, 0.0) + count / calls
    places = [place for column in shares.values() for place in column]
    grid = range(min(places) - 1, max(places) + 2) if places else range(0)
    starts = [2 ** (place / STEPS_AN_OCTAVE) * 1e-9 for place in grid]
    return {
        "from_seconds": np.array(starts, np.float64),
        "took": [format_latency(start) for start in starts],
        **{
            name: np.array([column.get(place, 0.0) for place in grid], np.float32)
            for name, column in shares.items()
        },
    }


def _cpu_real_bins(jobs: Iterable[JobRecord]) -> Columns:
    """Jobs per bin of CPU over real time, by class, and where each class's bar begins and ends."""
    known = [
        (job.usage.cpu_seconds / job.usage.real_time_seconds, job.program_class)
        for job in jobs
        if job.usage.cpu_seconds is not None and job.usage.real_time_seconds
    ]
    most = max((ratio for ratio, _ in known), default=0.0)
    edges = np.linspace(0.0, max(math.ceil(most * 10) / 10, 0.1), RATIO_BINS + 1)
    columns: Columns = {"left": edges[:-1], "right": edges[1:]}
    floor = np.zeros(RATIO_BINS)
    for name in CLASS_COLOURS:
        counts, _ = np.histogram([ratio for ratio, kind in known if kind == name], bins=edges)
        columns |= {name: counts.astype(float), f"{name}_bottom": floor, f"{name}_top": floor + counts}
        floor = floor + counts
    return columns
