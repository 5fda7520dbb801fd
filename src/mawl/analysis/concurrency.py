"""How many jobs ran at a time, as a curve, and how far two such curves are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from mawl.analysis.downsampling import MOST_POINTS, kept_rows
from mawl.analysis.series import Floats

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
