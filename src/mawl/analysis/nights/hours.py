"""Nights laid over each other: mean jobs at once in each quarter of an hour of the day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from mawl.analysis.nights.logged import DAY_MINUTES, LoggedNights
from mawl.model.records import JobRecord

STEP_MINUTES = 15
STEP_SECONDS = 60.0 * STEP_MINUTES
STEPS = DAY_MINUTES // STEP_MINUTES
FEWEST_OF_BAND = 5
"""Nights from which on the band is drawn."""
BAND = (10.0, 90.0)
"""Percentiles of the nights between which the band lies."""

Floats = NDArray[np.float64]


def hours_of(nights: LoggedNights, jobs: Iterable[JobRecord]) -> Floats:
    """Mean jobs at once by night and quarter of an hour from where the day is divided, (nights, 96).

    All of ``jobs`` count whenever they ran, in whichever night they started.  Quarters are those of the local
    clock: one that it showed twice has the mean of both, one that it skipped is NaN.
    """
    spans = np.array(
        [
            (job.started_at, max(job.started_at, job.ended_at))
            for job in jobs
            if job.started_at is not None and job.ended_at is not None
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    origin = nights.nights[0].night.starts_at
    starts, ends = (_Times(np.sort(spans[:, side]) - origin) for side in (0, 1))
    found = np.full((len(nights.nights), STEPS), np.nan)
    for place, one in enumerate(nights.nights):
        edges = np.arange(one.night.starts_at, one.night.ends_at + 1.0, STEP_SECONDS)
        ran = np.diff(starts.since(edges - origin) - ends.since(edges - origin)) / STEP_SECONDS
        steps = _steps(nights, edges[:-1])
        counts = np.bincount(steps, minlength=STEPS)
        sums = np.bincount(steps, weights=ran, minlength=STEPS)
        known = counts > 0
        found[place, known] = np.maximum(sums[known] / counts[known], 0.0)
    return found


class _Times:
    """Moments, in order, of which the seconds since each are summed."""

    def __init__(self, times: Floats) -> None:
        self._times, self._sums = times, np.append(0.0, np.cumsum(times))

    def since(self, moments: Floats) -> Floats:
        """At each moment the sum of the seconds since those times that lie before it."""
        before = np.searchsorted(self._times, moments)
        return np.asarray(before * moments - self._sums[before], dtype=np.float64)


def _steps(nights: LoggedNights, begins: Floats) -> NDArray[np.int64]:
    """The quarter of the local day in which each of these quarters of an hour begins."""
    zone, first = nights.window.zone, nights.window.starts_minute
    local = [datetime.fromtimestamp(at, zone) for at in begins[[0, -1]]]
    begins_in_time = local[0].hour * 60 + local[0].minute == first  # not where the clock skipped that hour
    if begins_in_time and local[0].utcoffset() == local[1].utcoffset():
        return np.arange(len(begins)) % STEPS
    every = [datetime.fromtimestamp(at, zone) for at in begins]
    return np.array(
        [(one.hour * 60 + one.minute - first) % DAY_MINUTES // STEP_MINUTES for one in every], dtype=np.int64
    )


def middle_and_band(hours: Floats) -> tuple[Floats, Floats, Floats]:
    """Median and both percentiles of the band over the nights that have a quarter; NaN where none has it.

    The band is NaN everywhere with fewer than five nights.
    """
    known = ~np.isnan(hours).all(axis=0)
    found = np.full((3, hours.shape[1]), np.nan)
    found[:, known] = np.nanpercentile(hours[:, known], [50.0, *BAND], axis=0)
    if len(hours) < FEWEST_OF_BAND:
        found[1:] = np.nan
    return found[0], found[1], found[2]
