"""When the jobs of a run ran: bars by session, how many at once, the tail, and the windows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np

from mawl.figures.series import MOST_POINTS, Floats, RunSamples, kept_rows
from mawl.importers.jobs import FOLLOW_SECONDS
from mawl.records.model.records import EventRecord, JobRecord, ProgramClass
from mawl.records.model.role_io import Waits
from mawl.records.model.run import PlannedJob, RunFacts

RUNNING = "running"


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A job in its row; times are seconds since the first start of a job.

    ``outcome`` is ``running`` for a job that had not ended when the folder was read.
    """

    job: str
    program: str
    program_class: ProgramClass
    session: str
    node: str
    row: int
    start_seconds: float
    end_seconds: float
    outcome: str
    real_time_seconds: float | None
    waits: Waits


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """``rows`` are the names of the sessions; one with jobs side by side has several rows of its name."""

    bars: list[Bar]
    rows: list[str]


def sessions(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    events: Iterable[EventRecord],
    started_at: float,
    read_at: float,
) -> Sessions:
    """Bars of all jobs that started: from their records, and from the events of those still running.

    ``started_at`` is the first start of a job, ``read_at`` how far the run was when it was read, both
    in seconds since the epoch.  A session is named ``NODE session`` where there are several nodes.
    """
    several = len({job.node for job in jobs} | {planned.node for planned in facts.planned_jobs}) > 1
    begun: list[tuple[float, float, JobRecord | PlannedJob]] = [
        (job.started_at, job.ended_at or read_at, job) for job in jobs if job.started_at is not None
    ]
    begun += _running(facts, jobs, events, read_at)
    found: list[tuple[str, float, float, JobRecord | PlannedJob]] = [
        (f"{job.node} {job.session}" if several else job.session, start, max(start, end), job)
        for start, end, job in begun
    ]
    found.sort(key=lambda one: (natural_sort_key(one[0]), one[1]))
    bars: list[Bar] = []
    rows: list[str] = []
    lanes: list[float] = []
    for number, (name, start, end, job) in enumerate(found):
        if number == 0 or name != found[number - 1][0]:
            lanes = []
        lane = next((place for place, until in enumerate(lanes) if until <= start), len(lanes))
        if lane == len(lanes):
            lanes.append(end)
            rows.append(name)
        lanes[lane] = end
        row = len(rows) - len(lanes) + lane
        bars.append(_bar(job, name, row, start - started_at, end - started_at))
    return Sessions(bars=bars, rows=rows)


def _running(
    facts: RunFacts, jobs: Sequence[JobRecord], events: Iterable[EventRecord], read_at: float
) -> list[tuple[float, float, PlannedJob]]:
    ended = {job.job for job in jobs}
    planned = {job.job: job for job in facts.planned_jobs}
    return [
        (event.happened_at, read_at, planned[event.job])
        for event in events
        if event.event == "job_started" and event.job in planned and event.job not in ended
    ]


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """A key that sorts ``s2`` before ``s10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]


def _bar(job: JobRecord | PlannedJob, session: str, row: int, start: float, end: float) -> Bar:
    record = job if isinstance(job, JobRecord) else None
    return Bar(
        job=job.job,
        program=job.program,
        program_class=job.program_class,
        session=session,
        node=job.node,
        row=row,
        start_seconds=start,
        end_seconds=end,
        outcome=record.outcome if record else RUNNING,
        real_time_seconds=record.usage.real_time_seconds if record else None,
        waits=record.waits if record else Waits(),
    )


Span = tuple[float, float]
"""Start and end of a job, in seconds of one clock."""


class JobsOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """A step curve: from ``seconds[i]`` to the next one ``jobs[i]`` jobs ran, and none after the last."""

    seconds: list[float]
    jobs: list[int]


def jobs_over_time(spans: Iterable[Span], most: int = MOST_POINTS) -> JobsOverTime:
    """The curve of these jobs, of at most ``most`` points: every peak and every trough stays."""
    seconds, jobs = _steps(list(spans))
    if len(seconds):
        kept = kept_rows([jobs], most)
        seconds, jobs = seconds[kept], jobs[kept]
    return JobsOverTime(seconds=seconds.tolist(), jobs=[int(count) for count in jobs])


def area(spans: Iterable[Span]) -> float:
    """The area under the curve: job seconds, the sum of the lengths of the jobs."""
    return math.fsum(end - start for start, end in spans)


def area_between(one: Sequence[Span], other: Sequence[Span]) -> float:
    """The area between two curves: the integral of the absolute difference of their jobs, in job seconds."""
    first, second = _steps(one), _steps(other)
    edges = np.union1d(first[0], second[0])
    if len(edges) < 2:
        return 0.0
    apart = np.abs(_at(first, edges) - _at(second, edges))
    return float(np.sum(apart[:-1] * np.diff(edges)))


def peak(spans: Sequence[Span]) -> int:
    """The most jobs at a time; a job that ends when another starts did not run at the same time."""
    _, jobs = _steps(spans)
    return int(jobs.max(initial=0.0))


def _steps(spans: Sequence[Span]) -> tuple[Floats, Floats]:
    """The times at which the curve changes, ascending, and how many jobs run from each of them on."""
    starts = np.array([start for start, _ in spans], np.float64)
    ends = np.array([end for _, end in spans], np.float64)
    seconds, places = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    changes = np.zeros(len(seconds))
    np.add.at(changes, places, np.repeat([1.0, -1.0], len(spans)))
    return seconds, np.cumsum(changes)


def _at(curve: tuple[Floats, Floats], moments: Floats) -> Floats:
    """The jobs of a curve at these moments: those from its last change on; 0 before the first."""
    seconds, jobs = curve
    places = np.searchsorted(seconds, moments, side="right")
    return np.concatenate([[0.0], jobs])[places]


NEAR_PEAK_RATIO = 0.9
FEWEST_SESSIONS_WITH_TAIL = 4
SMALLEST_TAIL_THRESHOLD = 3.0
TAIL_SESSIONS_RATIO = 0.1


class Stretch(msgspec.Struct, frozen=True):
    """A time during which the same number of jobs ran."""

    start: float
    end: float
    running: int


class JobSpan(NamedTuple):
    """When a job ran, in seconds since the epoch; ``stopped`` where it was ended from outside."""

    start: float
    end: float
    trail_out: bool
    stopped: bool = False


class Unended(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs of a run that started and left no end, as running until the last thing it recorded.

    ``waiting`` jobs of the plan have neither start nor end; ``unknown`` says why that is not to be
    believed, None where it is.
    """

    spans: list[JobSpan] = []
    waiting: int = 0
    unknown: str | None = None


class ObservedSpan(NamedTuple):
    """The part of an import that figures over time are of, and when the active phase in it ends.

    ``recorded`` is whether recordings of the host cover it."""

    start: float
    turn: float
    end: float
    recorded: bool


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The run as its jobs saw it: from the first start to the last end.

    A job that left no end (lost, or still running) runs until the last thing the run recorded.
    ``at_once_unknown`` says why the figures of jobs at once are None, ``tail_unknown`` why the active
    phase is not known to be over; it is then all of the elapsed time.
    """

    started_at: float
    ended_at: float
    active_seconds: float
    peak_concurrent: int | None
    mean_concurrent: float | None
    seconds_near_peak: float | None
    at_once_unknown: str | None = None
    tail_unknown: str | None = None
    sampled_every_seconds: float = 0.0
    """Of imported recordings: no window is shorter.  Measured runs are sampled every second."""
    observed: ObservedSpan | None = None
    """None where figures over time are of the whole run."""
    periods: tuple[tuple[float, float], ...] = ()
    """First start and last end of each period of an import that is not one run."""

    @property
    def elapsed_seconds(self) -> float:
        return self.ended_at - self.started_at

    @property
    def span(self) -> tuple[float, float]:
        """The time that figures over time are of."""
        return (self.observed.start, self.observed.end) if self.observed else (self.started_at, self.ended_at)

    @property
    def period(self) -> tuple[float, float] | None:
        """Of an import that is not one run the period that figures over time are of."""
        return next(
            (period for period in self.periods if self.observed and period[1] >= self.observed.end), None
        )

    @property
    def tail_seconds(self) -> float:
        return self.elapsed_seconds - self.active_seconds


def timeline(jobs: Sequence[JobRecord], sessions: int, unended: Unended | None = None) -> Timeline | None:
    """The timeline of a run of ``sessions`` sessions; None where no job has a start and is known to
    have run on from there."""
    unended = unended or Unended()
    spans = [
        JobSpan(job.started_at, max(job.started_at, job.ended_at), job.trail_out, job.outcome == "stopped")
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ] + unended.spans
    if not spans:
        return None
    started_at = min(span.start for span in spans)
    ended_at = max(span.end for span in spans)
    tail = tail_at(spans, sessions, ended_at)
    why = unended.unknown
    if why is None and unended.waiting and tail < ended_at:
        why = f"the run did not go through: {unended.waiting} of its planned jobs had yet to start"
    line = Timeline(
        started_at=started_at,
        ended_at=ended_at,
        active_seconds=(tail if why is None else ended_at) - started_at,
        peak_concurrent=None,
        mean_concurrent=None,
        seconds_near_peak=None,
        at_once_unknown=unended.unknown,
        tail_unknown=why,
    )
    return line if unended.unknown else _with_jobs_at_once(line, spans)


def _with_jobs_at_once(line: Timeline, spans: Sequence[JobSpan]) -> Timeline:
    stretches = _stretches(spans)
    peak = max((stretch.running for stretch in stretches), default=0)
    elapsed = line.elapsed_seconds
    return msgspec.structs.replace(
        line,
        peak_concurrent=peak,
        mean_concurrent=sum(span.end - span.start for span in spans) / elapsed if elapsed > 0 else None,
        seconds_near_peak=sum(
            stretch.end - stretch.start for stretch in stretches if stretch.running >= NEAR_PEAK_RATIO * peak
        ),
    )


def _stretches(spans: Sequence[JobSpan]) -> list[Stretch]:
    changes: dict[float, int] = {}
    for span in spans:
        changes[span.start] = changes.get(span.start, 0) + 1
        changes[span.end] = changes.get(span.end, 0) - 1
    stretches, running = [], 0
    for start, end in pairwise(sorted(changes)):
        running += changes[start]
        stretches.append(Stretch(start, end, running))
    return stretches


def tail_at(spans: Sequence[JobSpan], sessions: int, ended_at: float) -> float:
    """When the tail begins (docs/design/figures.md); the end of the run where it has none.

    Running jobs fall for good below max(3, 10 % of the sessions), or only jobs marked
    ``trail_out`` are left.  Fewer than four sessions have no tail, and a run that never had that
    many jobs at once has none by their number.  That jobs are stopped with the run is no tail.
    """
    if sessions < FEWEST_SESSIONS_WITH_TAIL:
        return ended_at
    threshold = max(SMALLEST_TAIL_THRESHOLD, TAIL_SESSIONS_RATIO * sessions)
    whole = [span._replace(end=ended_at) if span.stopped else span for span in spans]
    by_number = max(
        (stretch.end for stretch in _stretches(whole) if stretch.running >= threshold), default=ended_at
    )
    by_mark = max((span.end for span in whole if not span.trail_out), default=ended_at)
    return min(by_number, by_mark)


STAMP_SECONDS = 1.0
MOST_AFTER = 50


def predecessors(job: JobRecord, before: Sequence[JobRecord], waited_seconds: float = 0.0) -> list[JobRecord]:
    """The jobs of ``before`` (of the same session) that had just ended: several if they ran at the same time.

    With ``waited_seconds``, the queue time of the job, also those that ended while it was in the queue.
    """
    start = job.started_at
    if start is None:
        return []
    return [
        one
        for one in before
        if one.ended_at is not None
        and -STAMP_SECONDS <= start - one.ended_at <= FOLLOW_SECONDS + waited_seconds
        and (one.started_at or 0.0) < start
    ]


SHORTEST_WINDOW_SECONDS = 5.0
WINDOW_RATIO = 0.01
"""A window is this share of the active phase, and never shorter than the shortest."""

MOST_TAIL_WINDOWS = 5000
"""Windows of a tail, 7 hours of the shortest: a damaged time would make millions, so they are longer then."""

INSTANT_SECONDS = 1e-6
"""Stored points in time are whole microseconds: a tail shorter than that is rounding."""

Rates = list[float | None]
"""A figure per window, None where samples do not cover it."""


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """``edges`` (seconds since the epoch, ascending) bound the windows; the first ``active`` are of
    the active phase, the others of the tail.  ``seconds`` is the length a window is meant to have."""

    seconds: float
    edges: tuple[float, ...]
    active: int

    @property
    def active_edges(self) -> tuple[float, ...]:
        return self.edges[: self.active + 1]


def fills(length_seconds: float, windows_seconds: float) -> bool:
    """Whether a window is at least half as long as ``windows_seconds``, what windows are meant to have.

    Only a phase shorter than that is a window that does not: its rate is of a moment."""
    return length_seconds >= windows_seconds / 2 - INSTANT_SECONDS


def window_seconds(active_seconds: float, sampled_every_seconds: float = 0.0) -> float:
    """Length of a window: max(5 s, 1 % of the active phase), and no shorter than samples lie apart."""
    return max(SHORTEST_WINDOW_SECONDS, WINDOW_RATIO * active_seconds, sampled_every_seconds)


def windows_of(line: Timeline) -> Windows:
    """The windows that tile a run from its first start to its last end, or the observed part of an import.

    The last window of a phase is shorter where at least half of one is left over, and else longer;
    a phase shorter than a window is one by itself.
    """
    start, end = line.span
    turn = line.observed.turn if line.observed else start + line.active_seconds
    seconds = window_seconds(turn - start, line.sampled_every_seconds)
    length = end - turn
    tail = _tiles(turn, end, max(seconds, length / MOST_TAIL_WINDOWS)) if length > INSTANT_SECONDS else []
    active = _tiles(start, turn, seconds) if turn > start or not tail else []
    return Windows(seconds=seconds, edges=(start, *active, *tail), active=len(active))


def initial_edges(jobs: Sequence[JobRecord], windows: Windows) -> tuple[float, float] | str:
    """Bounds of the first window after all first-stage jobs started, or why there is none."""
    first = [job for job in jobs if job.stage == 1]
    starts = [job.started_at for job in first if job.started_at is not None]
    if not starts or len(starts) < len(first):
        return "not every job of the first stages started"
    start = max(starts)
    end = start + windows.seconds
    if end > windows.active_edges[-1] + windows.seconds / 2:
        return "the active phase ended before a window after the last start of a first-stage job"
    return start, end


def rates(
    samples: RunSamples, names: Sequence[str], edges: Sequence[float], nodes: Sequence[str] | None = None
) -> Rates:
    """What the counters ``names`` gained together per second, over all ``nodes`` (None: all that left
    samples), in each window.

    None where one of them has no figure, and in all windows where no node has any of them.
    """
    columns = [
        samples.changes(node, name, edges)
        for node in (samples.nodes if nodes is None else nodes)
        for name in names
        if samples.times(node, name) is not None
    ]
    if not columns:
        return [None] * (len(edges) - 1)
    return [
        None if any(change is None for change in row) else sum(change.per_second for change in row if change)
        for row in zip(*columns, strict=True)
    ]


def gauges(samples: RunSamples, name: str, edges: Sequence[float], nodes: Sequence[str] = ()) -> Rates:
    """The sum over nodes (else all) of a gauge's mean in each window; None where a node has no figure."""
    columns = [samples.means(node, name, edges) for node in nodes or samples.nodes]
    return [added(row) for row in zip(*columns, strict=True)] if columns else [None] * (len(edges) - 1)


def added(values: Sequence[float | None]) -> float | None:
    """The sum of what is known in full."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def highest(values: Sequence[float | None]) -> float | None:
    """The largest of what is known; None where nothing is."""
    return max((value for value in values if value is not None), default=None)


def _tiles(start: float, end: float, seconds: float) -> list[float]:
    count = max(int((end - start) / seconds + 0.5), 1)
    return [*(start + number * seconds for number in range(1, count)), end]
