"""Statistics of runs: intervals and decisions for a difference, and the change points of a series.

The unit is the run: jobs of one run share its luck, so one number per run goes in, the mean over jobs of
the logarithm of real time, or the logarithm of a figure of the run.  The interval is the bootstrap over
runs in closed form with Student's quantiles; docs/design/comparison.md has the rates at which this and
the other bootstraps err with five runs a side.  All of it does without SciPy, which the base install lacks.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache
from statistics import fmean, variance

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.base.units import format_ratio
from mawl.records.model.thresholds import count_of, value_of

TINY = 1e-300
MOST_TERMS = 500
PRECISION = 1e-15
STEP_PRECISION = 1e-12


def upper_tail(t: float, degrees: float) -> float:
    """Probability that a t variable of ``degrees`` degrees of freedom (any positive real) passes ``t``.

    By the incomplete beta function (Abramowitz and Stegun 26.5.27, 26.7.1).
    """
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    half = 0.5 * _incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t))
    return half if t >= 0 else 1.0 - half


def two_sided(t: float, degrees: float) -> float:
    return 2.0 * upper_tail(abs(t), degrees)


def quantile(probability: float, degrees: float) -> float:
    """The t below which ``probability`` (between 0 and 1) lies.

    Newton's steps from 0: the upper tail is convex there, so they never pass the root.
    """
    if probability < 0.5:
        return -quantile(1.0 - probability, degrees)
    t, tail = 0.0, 1.0 - probability
    for _ in range(MOST_TERMS):
        step = (upper_tail(t, degrees) - tail) / _density(t, degrees)
        t += step
        if step <= STEP_PRECISION * max(t, 1.0):
            break
    return t


def _density(t: float, degrees: float) -> float:
    logarithm = (
        math.lgamma(0.5 * (degrees + 1.0))
        - math.lgamma(0.5 * degrees)
        - 0.5 * math.log(degrees * math.pi)
        - 0.5 * (degrees + 1.0) * math.log1p(t * t / degrees)
    )
    return math.exp(logarithm)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for term in range(1, MOST_TERMS):
        twice = 2 * term
        even = term * (b - term) * x / ((a + twice - 1.0) * (a + twice))
        odd = -(a + term) * (a + b + term) * x / ((a + twice) * (a + twice + 1.0))
        for part in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + part * d)
            c = _away_from_zero(1.0 + part / c)
            value *= c * d
        if abs(c * d - 1.0) < PRECISION:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


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


ASSUMED_RANGE_RATIO = value_of("answer.assumed_range_ratio")
FEWEST_OF_RANGE = count_of("qualification.fewest_runs")


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A ratio with its range."""

    middle: float
    low: float
    high: float
    assumed: bool = False

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def words(self) -> str:
        """``1.47 to 1.78``, with the reason where the range is assumed."""
        text = f"{format_ratio(self.low)} to {format_ratio(self.high)}"
        return f"{text}, assumed" if self.assumed else text


def interval_of(values: Sequence[float]) -> Interval | None:
    """The geometric mean of runs with its 95 % interval (Student on logarithms); None without runs.

    Fewer than three runs have an assumed range.
    """
    if not values:
        return None
    logs = [math.log(value) for value in values]
    middle = statistics.fmean(logs)
    assumed = len(values) < FEWEST_OF_RANGE
    if assumed:
        half = math.log(1.0 + ASSUMED_RANGE_RATIO)
    else:
        half = quantile(1.0 - LEVEL / 2.0, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = math.exp(middle - half), math.exp(middle + half)
    return Interval(middle=math.exp(middle), low=low, high=high, assumed=assumed)


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

        Two one-sided tests at ``LEVEL`` each, which is the 90 % interval inside the margin (Schuirmann
        1987): a difference of the margin or more is called none in at most one of twenty comparisons.
        """
        return -margin < self.narrow_low and self.narrow_high < margin

    @property
    def differs(self) -> bool:
        return self.p_value < LEVEL


def effect_of(reference: Sequence[float], candidate: Sequence[float], comparisons: int = 1) -> Effect:
    """The effect between two sides of at least two runs each.

    Drawing runs anew with replacement gives a mean the standard error sqrt(sum of squares)/n, which needs
    no drawing (Efron and Tibshirani 1993, section 5.3); with n - 1 for one n and Student's t for the
    normal quantiles, by Welch's degrees of freedom, it keeps its level at five runs.  ``smallest`` is for
    the strictest of ``comparisons`` decisions of ``holm``.
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

    None where it would take more than ``MOST_RUNS``.
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


FEWEST_BEFORE = count_of("history.fewest_before")
FEWEST_AFTER = count_of("history.fewest_after")
MOST_AFTER = count_of("history.most_after")
WHOLE_LEVEL = value_of("history.whole_level")
PART_LEVEL = value_of("history.part_level")
NOTICED_WITHIN = 3
"""Nights within which the smallest change that is printed would be noticed."""


class ChangeFound(msgspec.Struct, frozen=True, kw_only=True):
    """``place`` is the first value at the new level, ``noticed`` the one at which that was known."""

    place: int
    noticed: int


class _Spread(msgspec.Struct, frozen=True):
    """Squares about the means of levels that are over, and their degrees of freedom."""

    squares: float = 0.0
    freedom: int = 0

    def with_level(self, values: NDArray[np.float64]) -> _Spread:
        return _Spread(self.squares + _squares(values), self.freedom + len(values) - 1)


def change_points(values: Sequence[float], level: float) -> list[ChangeFound]:
    """The changes of a series, in order, each as it was found night by night.

    The last two to seven nights are compared with all nights since the last change by Student's t with a
    pooled spread, and the split with the strongest evidence is taken (Hawkins, Qiu and Kang 2003, "The
    changepoint model for statistical process control", Journal of Quality Technology 35(4): neither mean nor
    spread need be known beforehand).  Instead of their tables the level is divided by the number of splits
    (Bonferroni), which holds for any dependence between them.

    ``level`` bounds the rate of false alarms: without a change, at most about this share of the values
    raises one.
    """
    series = np.asarray(values, dtype=np.float64)
    found: list[ChangeFound] = []
    start, spread = 0, _Spread()
    for now in range(FEWEST_BEFORE + FEWEST_AFTER, len(series) + 1):
        # The spread is known from levels that are over, so that a new level needs fewer nights.
        fewest = FEWEST_AFTER if found else FEWEST_BEFORE
        place = _strongest(series[start:now], level, fewest, spread)
        if place is not None:
            found.append(ChangeFound(place=start + place, noticed=now - 1))
            spread = spread.with_level(series[start : start + place])
            start += place
    return found


def smallest_change(values: Sequence[float], level: float) -> float | None:
    """The change that three nights would show in 80 % of cases; None for too few nights.

    ``level`` is divided by the splits that ``change_points`` compares on the third of these nights.
    """
    if len(values) < FEWEST_BEFORE:
        return None
    degrees = float(len(values) + NOTICED_WITHIN - 2)
    splits = min(MOST_AFTER, len(values) + NOTICED_WITHIN - FEWEST_BEFORE) - FEWEST_AFTER + 1
    reach = quantile(1.0 - level / 2.0 / splits, degrees) + quantile(POWER, degrees)
    error = statistics.stdev(values) * (1.0 / len(values) + 1.0 / NOTICED_WITHIN) ** 0.5
    return math.expm1(reach * error)


def _strongest(values: NDArray[np.float64], level: float, fewest: int, known: _Spread) -> int | None:
    splits = range(FEWEST_AFTER, min(MOST_AFTER, len(values) - fewest) + 1)
    best, place = 1.0, None
    for after in splits:
        before, recent = values[:-after], values[-after:]
        shift = float(recent.mean() - before.mean())
        if not _is_shared(recent - before.mean(), shift):
            continue
        both = known.with_level(before).with_level(recent)
        spread = math.sqrt(both.squares / both.freedom)
        error = max(spread, ROUNDING_RATIO * float(np.abs(values).max())) * math.sqrt(
            1.0 / len(before) + 1.0 / after
        )
        if error == 0.0:
            continue
        strength = abs(shift) / error / _critical(both.freedom, level / len(splits))
        if strength > best:
            best, place = strength, len(values) - after
    return place


def _is_shared(deviations: NDArray[np.float64], shift: float) -> bool:
    """Whether the nights without their most extreme one have at least half of the shift: no single bad
    night makes a level."""
    extreme = int(np.argmax(deviations * np.sign(shift)))
    rest = np.delete(deviations, extreme)
    return bool(rest.mean() * np.sign(shift) >= abs(shift) / 2.0)


def _squares(values: NDArray[np.float64]) -> float:
    return float(((values - values.mean()) ** 2).sum())


@cache
def _critical(degrees: int, level: float) -> float:
    return quantile(1.0 - level / 2.0, float(degrees))
