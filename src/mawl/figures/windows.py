"""The windows of a run: equal parts of its active phase and of its tail, over which rates are taken."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.figures.series import RunSamples
from mawl.figures.sessions import Timeline
from mawl.records.model.records import JobRecord

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
