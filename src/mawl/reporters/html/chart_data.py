"""What the charts of a run are drawn from, read once: rates over time, sessions, where its tail begins."""

from __future__ import annotations

import msgspec
import numpy as np

from mawl.advice.limit.imported import why_untold, windows_of_import
from mawl.advice.limit.verdict import classify
from mawl.analysis.arrays import Values, arrays_over_time
from mawl.analysis.over_time import OverTime, over_time
from mawl.analysis.sessions import Sessions, sessions
from mawl.analysis.throughput import cores_of
from mawl.analysis.view import RunView
from mawl.analysis.windows import Windows, initial_edges
from mawl.model.arrays import ArrayStatistics
from mawl.model.records import JobRecord


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
    found = over_time(facts, samples, (started_at, ended_at))
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
        limits=_limits(view, windows.edges[0] - started_at) if windows else [],
        why_not_drawn=_why(found, samples is None, goes_on),
        goes_on=goes_on,
        arrays=arrays_over_time(view.arrays, windows)
        if windows and isinstance(view.arrays, ArrayStatistics)
        else {},
        cores=cores_of(view.facts)[0],
    )


def _limits(view: RunView, first: float) -> list[tuple[float, float, str]]:
    """Begin, end and limit of each active window whose limit is known; ``first`` is when the first begins."""
    names: list[str | None]
    if view.facts.kind == "imported":
        if why_untold(view):
            return []
        names = [window.name for window in windows_of_import(view)]
    else:
        names = [classify(moment, view) for moment in view.active]
    return [
        (first + moment.start_seconds, first + moment.start_seconds + moment.seconds, name)
        for moment, name in zip(view.active, names, strict=True)
        if name is not None
    ]


def _why(found: OverTime, no_samples: bool, goes_on: bool) -> str:
    if no_samples:
        return "the run holds no samples"
    known = [column for column in found.columns.values() if not np.isnan(column).all()]
    if len(found.seconds) < 2 or not known:
        if goes_on:
            return "the timeline begins with the second look at the jobs, a second after the first"
        return "the run was over within two looks a second apart: there is no timeline to draw"
    return ""
