"""How many jobs ran at once, and where the tail begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from mawl.model.records import JobRecord

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
        """First start to last end."""
        return self.ended_at - self.started_at

    @property
    def span(self) -> tuple[float, float]:
        """The time that figures over time are of."""
        return (self.observed.start, self.observed.end) if self.observed else (self.started_at, self.ended_at)

    @property
    def period(self) -> tuple[float, float] | None:
        """Of an import that is not one run the period that figures over time are of."""
        return next((one for one in self.periods if self.observed and one[1] >= self.observed.end), None)

    @property
    def tail_seconds(self) -> float:
        """The elapsed time after the active phase."""
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
