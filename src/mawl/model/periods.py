"""Which jobs of imported files are of one run: nights far apart are not (docs/design/importers.md)."""

from __future__ import annotations

from collections.abc import Iterable

from mawl.model.thresholds import value_of

LEAST_GAP_SECONDS = value_of("imported.least_gap_seconds")

Span = tuple[float, float]


def periods_of(spans: Iterable[Span]) -> list[Span]:
    """The times from a first start to a last end with less than the least gap between any two jobs.

    ``spans`` are start and end in seconds since the epoch, in any order; periods are in order of time.
    """
    periods: list[Span] = []
    for start, end in sorted(spans):
        if periods and start - periods[-1][1] < LEAST_GAP_SECONDS:
            periods[-1] = (periods[-1][0], max(periods[-1][1], end))
        else:
            periods.append((start, end))
    return periods
