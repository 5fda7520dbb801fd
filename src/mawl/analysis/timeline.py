"""How many jobs ran at once, and where the tail begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The run as its jobs saw it: from the first start to the last end.

    Jobs without a known start or end (never started, lost) are not in it.
    """

    started_at: float
    ended_at: float
    active_seconds: float
    peak_concurrent: int
    mean_concurrent: float | None
    seconds_near_peak: float

    @property
    def elapsed_seconds(self) -> float:
        """First start to last end."""
        return self.ended_at - self.started_at

    @property
    def tail_seconds(self) -> float:
        """The elapsed time after the active phase."""
        return self.elapsed_seconds - self.active_seconds


def timeline(jobs: Sequence[JobRecord], sessions: int) -> Timeline | None:
    """The timeline of a run of ``sessions`` sessions; None where no job has both start and end."""
    spans = [
        (job.started_at, max(job.started_at, job.ended_at), job.trail_out)
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ]
    if not spans:
        return None
    started_at = min(start for start, _, _ in spans)
    ended_at = max(end for _, end, _ in spans)
    stretches = _stretches([(start, end) for start, end, _ in spans])
    peak = max((stretch.running for stretch in stretches), default=0)
    elapsed = ended_at - started_at
    near = sum(
        stretch.end - stretch.start for stretch in stretches if stretch.running >= NEAR_PEAK_RATIO * peak
    )
    return Timeline(
        started_at=started_at,
        ended_at=ended_at,
        active_seconds=_tail_at(spans, stretches, sessions, ended_at) - started_at,
        peak_concurrent=peak,
        mean_concurrent=sum(end - start for start, end, _ in spans) / elapsed if elapsed > 0 else None,
        seconds_near_peak=near,
    )


def _stretches(spans: Sequence[tuple[float, float]]) -> list[Stretch]:
    changes: dict[float, int] = {}
    for start, end in spans:
        changes[start] = changes.get(start, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    stretches, running = [], 0
    for start, end in pairwise(sorted(changes)):
        running += changes[start]
        stretches.append(Stretch(start, end, running))
    return stretches


def _tail_at(
    spans: Sequence[tuple[float, float, bool]], stretches: Sequence[Stretch], sessions: int, ended_at: float
) -> float:
    """When the tail begins (docs/design/figures.md); the end of the run where it has none.

    Running jobs fall for good below max(3, 10 % of the sessions), or only jobs marked
    ``trail_out`` are left.  Fewer than four sessions have no tail, and a run that never had that
    many jobs at once has none by their number.
    """
    if sessions < FEWEST_SESSIONS_WITH_TAIL:
        return ended_at
    threshold = max(SMALLEST_TAIL_THRESHOLD, TAIL_SESSIONS_RATIO * sessions)
    by_number = max((stretch.end for stretch in stretches if stretch.running >= threshold), default=ended_at)
    by_mark = max((end for _, end, trail_out in spans if not trail_out), default=ended_at)
    return min(by_number, by_mark)
