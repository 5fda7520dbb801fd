"""What runs say about a difference: intervals, decisions, and the effect that would have been seen.

The unit is the run: jobs of one run share its luck, so one number per run goes in, the mean over jobs of
the logarithm of real time, or the logarithm of a figure of the run.  The interval is the bootstrap over
runs in closed form with Student's quantiles; docs/design/comparison.md has the rates at which this and
the other bootstraps err with five runs a side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, variance

import msgspec

from mawl.analysis.comparison.student import quantile, two_sided
from mawl.model.thresholds import count_of, value_of

FEWEST_RUNS = count_of("comparison.fewest_runs")
"""Runs a side below which differences are shown and not judged (DESIGN: five repeats)."""

LEVEL = value_of("comparison.level")
"""How often a difference may be named where there is none."""

POWER = value_of("comparison.power")
"""How often the smallest effect that is printed would be found."""

MOST_RUNS = 200
"""More runs than anybody makes to settle a question."""

ROUNDING_RATIO = 1e-12
"""A spread below this share of the values is rounding: the runs are alike."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate less reference, in the unit of the values (logarithms: the log of their ratio).

    ``low`` to ``high`` is the 95 % interval, ``p_value`` that of no difference, both of this comparison
    by itself; ``smallest`` is the effect that would be found in 80 % of such comparisons.
    ``narrow_low`` to ``narrow_high`` is the 90 % interval.  Where neither side has a spread, the ends of both
    are the difference and ``smallest`` is 0.
    """

    difference: float
    low: float
    high: float
    p_value: float
    smallest: float
    narrow_low: float
    narrow_high: float

    def within(self, margin: float) -> bool:
        """Whether no difference larger than ``margin`` (above 0, in the unit of the values) is established.

        Two one-sided tests at :data:`LEVEL` each, which is the 90 % interval inside the margin (Schuirmann
        1987): a difference of the margin or more is called none in at most one of twenty comparisons.
        """
        return -margin < self.narrow_low and self.narrow_high < margin

    @property
    def differs(self) -> bool:
        """Whether it is more than chance, taken by itself."""
        return self.p_value < LEVEL


def effect_of(reference: Sequence[float], candidate: Sequence[float], comparisons: int = 1) -> Effect:
    """The effect between two sides of at least two runs each.

    Drawing runs anew with replacement gives a mean the standard error sqrt(sum of squares)/n, which needs
    no drawing (Efron and Tibshirani 1993, section 5.3); with n - 1 for one n and Student's t for the
    normal quantiles, by Welch's degrees of freedom, it keeps its level at five runs.  ``smallest`` is for
    the strictest of ``comparisons`` decisions of :func:`holm`.
    """
    difference = fmean(candidate) - fmean(reference)
    parts = [variance(side) / len(side) for side in (reference, candidate)]
    size = max(map(abs, (*reference, *candidate)))
    error = math.sqrt(sum(parts))
    if error <= ROUNDING_RATIO * max(size, 1.0):
        return _without_spread(difference)
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(side) - 1) for part, side in zip(parts, (reference, candidate), strict=True)
    )
    reach = quantile(1 - LEVEL / 2, degrees) * error
    narrow = quantile(1 - LEVEL, degrees) * error
    strictest = quantile(1 - LEVEL / 2 / comparisons, degrees)
    return Effect(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p_value=two_sided(difference / error, degrees),
        smallest=(strictest + quantile(POWER, degrees)) * error,
        narrow_low=difference - narrow,
        narrow_high=difference + narrow,
    )


def holm(p_values: Sequence[float]) -> list[bool]:
    """Which of several differences are more than chance, all together: Holm's step-down procedure.

    In at most one of twenty families is any named that is none, however they depend on each other.
    """
    found = [False] * len(p_values)
    for passed, place in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        if p_values[place] >= LEVEL / (len(p_values) - passed):
            break
        found[place] = True
    return found


def smallest_effect(spread: float, runs: int) -> float:
    """The effect that ``runs`` runs a side would find in 80 % of comparisons.

    ``spread`` is the standard deviation of one run's value, in its unit.
    """
    degrees = 2.0 * runs - 2.0
    reach = quantile(1 - LEVEL / 2, degrees) + quantile(POWER, degrees)
    return reach * spread * math.sqrt(2.0 / runs)


def runs_needed(reference: Sequence[float], candidate: Sequence[float], sought: float) -> int | None:
    """Runs a side that would find the effect ``sought`` in 80 % of comparisons, by these runs' spread.

    None where it would take more than :data:`MOST_RUNS`.
    """
    spread = math.sqrt(fmean(variance(side) for side in (reference, candidate)))
    enough = (runs for runs in range(FEWEST_RUNS, MOST_RUNS + 1) if smallest_effect(spread, runs) <= sought)
    return next(enough, None)


def _without_spread(difference: float) -> Effect:
    alike = abs(difference) <= ROUNDING_RATIO
    return Effect(
        difference=difference,
        low=difference,
        high=difference,
        p_value=1.0 if alike else 0.0,
        smallest=0.0,
        narrow_low=difference,
        narrow_high=difference,
    )
