"""What runs say about a difference: intervals, decisions, and the effect that would have been seen.

The unit is the run: jobs of one run share its luck, so one number per run goes in, the mean over jobs of
the logarithm of real time, or the logarithm of a figure of the run.  Which method, and how often it errs
with five runs a side, stands in docs/design/comparison.md with measured rates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.analysis.comparison.student import quantile, two_sided

Values = NDArray[np.float64]

FEWEST_RUNS = 5
"""Runs a side below which differences are shown and not judged (DESIGN: five repeats)."""

LEVEL = 0.05
"""How often a difference may be named where there is none."""

POWER = 0.8
"""How often the smallest effect that is printed would be found."""

MOST_RUNS = 200
"""More runs than anybody makes to settle a question."""

RESAMPLES = 9999
SEED = 20260101
"""Fixed, so that the same runs always give the same interval."""

ROUNDING_RATIO = 1e-12
"""A spread below this share of the values is rounding: the runs are alike."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate less reference, in the unit of the values (log ratios here).

    ``low`` to ``high`` is the 95 % interval, ``p_value`` of no difference, ``smallest`` the effect
    that would be found in 80 % of such comparisons.  Without a spread in either side they are 0 or
    the difference itself.
    """

    difference: float
    low: float
    high: float
    p_value: float
    smallest: float

    @property
    def differs(self) -> bool:
        """Whether it is more than chance, taken by itself."""
        return self.p_value < LEVEL


def studentised(reference: Sequence[float], candidate: Sequence[float]) -> Effect:
    """The effect by the studentised bootstrap over runs (Efron and Tibshirani 1993, section 12.5).

    Each side of at least two runs.  Both sides use the same resamples in opposite order, so that
    exchanging them gives exactly the opposite effect.
    """
    before, after = (np.sort(np.asarray(side, dtype=np.float64)) for side in (reference, candidate))
    difference, error, degrees = _spread(before, after)
    if error == 0.0:
        return _without_spread(difference)
    drawn = _drawn_t(before, after)
    outer = np.quantile(drawn, (LEVEL / 2, 1 - LEVEL / 2), method="inverted_cdf")
    t = difference / error
    tail = min(int(np.sum(drawn >= t)), int(np.sum(drawn <= t)))
    critical = float(np.abs(outer).mean())
    return Effect(
        difference=difference,
        low=difference - float(outer[1]) * error,
        high=difference - float(outer[0]) * error,
        p_value=min(2.0 * (tail + 1) / (RESAMPLES + 1), 1.0),
        smallest=(critical + quantile(POWER, degrees)) * error,
    )


def welch(reference: Sequence[float], candidate: Sequence[float], comparisons: int = 1) -> Effect:
    """The effect by Welch's t, for families of comparisons.

    ``smallest`` is for the strictest of ``comparisons`` decisions of :func:`holm`; interval and
    p-value are of this comparison by itself.
    """
    before, after = (np.asarray(side, dtype=np.float64) for side in (reference, candidate))
    difference, error, degrees = _spread(before, after)
    if error == 0.0:
        return _without_spread(difference)
    reach = quantile(1 - LEVEL / 2, degrees) * error
    strictest = quantile(1 - LEVEL / 2 / comparisons, degrees)
    return Effect(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p_value=two_sided(difference / error, degrees),
        smallest=(strictest + quantile(POWER, degrees)) * error,
    )


def holm(p_values: Sequence[float]) -> list[bool]:
    """Which of several differences are more than chance, all together: Holm's step-down procedure.

    In at most one of twenty families is any named that is none, however they depend on each other.
    """
    found = [False] * len(p_values)
    for passed, place in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        if p_values[place] > LEVEL / (len(p_values) - passed):
            break
        found[place] = True
    return found


def smallest_effect(spread: float, runs: int) -> float:
    """The effect that ``runs`` runs a side would find in 80 % of comparisons.

    ``spread`` is the standard deviation of one run's value.
    """
    degrees = 2.0 * runs - 2.0
    reach = quantile(1 - LEVEL / 2, degrees) + quantile(POWER, degrees)
    return reach * spread * math.sqrt(2.0 / runs)


def runs_needed(reference: Sequence[float], candidate: Sequence[float], effect: float) -> int | None:
    """Runs a side that would find ``effect`` in 80 % of comparisons, as far as these runs tell their spread.

    None where it would take more than :data:`MOST_RUNS`.
    """
    spread = float(np.mean([np.var(side, ddof=1) for side in (reference, candidate)])) ** 0.5
    enough = (runs for runs in range(FEWEST_RUNS, MOST_RUNS + 1) if smallest_effect(spread, runs) <= effect)
    return next(enough, None)


def _spread(before: Values, after: Values) -> tuple[float, float, float]:
    """The difference of the means, its standard error, and Welch's degrees of freedom."""
    difference = float(after.mean() - before.mean())
    parts = np.array([side.var(ddof=1) / len(side) for side in (before, after)])
    whole = float(parts.sum())
    size = float(np.abs(np.concatenate((before, after))).max())
    if whole <= (ROUNDING_RATIO * max(size, 1.0)) ** 2:
        return difference, 0.0, 1.0
    degrees = whole**2 / float(np.sum(parts**2 / (np.array([len(before), len(after)]) - 1)))
    return difference, whole**0.5, degrees


def _without_spread(difference: float) -> Effect:
    alike = abs(difference) <= ROUNDING_RATIO
    return Effect(
        difference=difference, low=difference, high=difference, p_value=1.0 if alike else 0.0, smallest=0.0
    )


def _drawn_t(before: Values, after: Values) -> Values:
    """The t of each resample about the observed difference.

    A resample that drew one run only, on both sides, has no spread: its t is infinite, or 0.
    """
    first, second = (_resampled(side) for side in (before, after))
    mean, variance = second[0][::-1] - first[0], second[1][::-1] + first[1]
    centred = mean - (after.mean() - before.mean())
    with np.errstate(divide="ignore", invalid="ignore"):
        t = centred / np.sqrt(variance)
    drawn: Values = np.where(np.isnan(t), 0.0, t)
    return drawn


@lru_cache(maxsize=4)
def _weights(runs: int) -> Values:
    """How often each run is drawn in each resample."""
    generator = np.random.default_rng((SEED, runs))
    return generator.multinomial(runs, [1 / runs] * runs, size=RESAMPLES).astype(np.float64)


def _resampled(side: Values) -> tuple[Values, Values]:
    """Mean and its squared standard error of each resample."""
    runs = len(side)
    weights = _weights(runs)
    centred = side - side.mean()
    means = weights @ centred / runs
    squares = weights @ centred**2 / runs
    single = weights.max(axis=1) == runs
    variance = np.where(single, 0.0, np.maximum(squares - means**2, 0.0) / (runs - 1))
    return means + side.mean(), variance
