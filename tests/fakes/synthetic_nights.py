"""Nights with the noise that was measured here, and steps of known size in known places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.archive.history.changes import FollowedSeries
from mawl.figures.comparison.waits import PLACES

RUN_NOISE = 0.029
"""Standard deviation of the mean over jobs of log real time, from run to run: nine runs of twenty programs
in 26 jobs, of 48 s each, measured 2026-11-25 on two vCPUs (elapsed 0.031; CPU time 0.025)."""
PROGRAM_NOISE = (
    *(0.017, 0.033, 0.036, 0.046, 0.046, 0.049, 0.052, 0.058, 0.064, 0.066),
    *(0.069, 0.079, 0.079, 0.094, 0.095, 0.118, 0.119, 0.142, 0.236, 0.272),
)
"""The same of each of the twenty programs, in those runs."""
NEIGHBOURS = 0.30
"""How far runs that follow each other are alike (docs/design/comparison.md)."""
TAILS = 5
"""Degrees of freedom of Student's t: tails heavier than the normal's, for a night that goes wrong."""
RUNS = 5
PLACE_NOISE = 0.05
"""What each place deviates by from the whole load, over a run."""
SHARES = {"on processors": 0.55, "waiting for processors": 0.15, "data": 0.12, "work": 0.1}
"""Where the time of a night goes; the rest is shared by the other places."""
NIGHT_SECONDS = 3000.0


def noise(draw: np.random.Generator, nights: int, runs: int = RUNS) -> NDArray[np.float64]:
    """Deviations of runs by night, of spread 1: runs of a night are alike, nights are not."""
    fresh = draw.standard_t(TAILS, (nights, runs)) / np.sqrt(TAILS / (TAILS - 2))
    values = np.empty((nights, runs))
    values[:, 0] = fresh[:, 0]
    for run in range(1, runs):
        values[:, run] = NEIGHBOURS * values[:, run - 1] + np.sqrt(1 - NEIGHBOURS**2) * fresh[:, run]
    return values


def whole(draw: np.random.Generator, nights: int, *, step: float = 0.0, at: int = 0) -> list[float]:
    """The logarithm of a job's real time by night; ``step`` is added from night ``at`` on."""
    values = 4.0 + RUN_NOISE * noise(draw, nights).mean(axis=1)
    values[at:] += step
    return [float(value) for value in values]


def series(
    draw: np.random.Generator, nights: int, *, step: float = 0.0, at: int = 0, place: str = "work"
) -> list[FollowedSeries]:
    """All series of a history; a step of the whole load goes into one place and all programs."""
    common = RUN_NOISE * noise(draw, nights).mean(axis=1)
    shift = np.zeros(nights)
    shift[at:] = step
    found = [FollowedSeries(kind="whole", name="whole", logarithm=True, values=_listed(4.0 + common + shift))]
    for number, spread in enumerate(PROGRAM_NOISE):
        own = np.sqrt(max(spread**2 - RUN_NOISE**2, 0.0)) * noise(draw, nights).mean(axis=1)
        values = _listed(3.0 + common + own + shift)
        found.append(FollowedSeries(kind="program", name=f"program-{number}", logarithm=True, values=values))
    rest = (1.0 - sum(SHARES.values())) / (len(PLACES) - len(SHARES))
    for name in PLACES:
        share = SHARES.get(name, rest)
        spread = PLACE_NOISE * noise(draw, nights).mean(axis=1)
        seconds = NIGHT_SECONDS * share * np.exp(common + spread)
        if name == place:
            seconds = seconds + NIGHT_SECONDS * np.expm1(shift)
        found.append(FollowedSeries(kind="place", name=name, logarithm=False, values=_listed(seconds)))
    return found


def _listed(values: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in values]
