"""When the level of a series changed: the change-point model of statistical process control.

Night by night, the last two to seven nights are compared with all nights since the last change by Student's
t with a pooled spread, and the split with the strongest evidence is taken (Hawkins, Qiu and Kang 2003, "The
changepoint model for statistical process control", Journal of Quality Technology 35(4): neither mean nor
spread need be known beforehand).  Instead of their tables the level is divided by the number of splits
(Bonferroni), which holds for any dependence between them.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.analysis.comparison.statistics import POWER
from mawl.analysis.comparison.student import quantile
from mawl.model.thresholds import count_of, value_of

FEWEST_BEFORE = count_of("history.fewest_before")
FEWEST_AFTER = count_of("history.fewest_after")
MOST_AFTER = count_of("history.most_after")
WHOLE_LEVEL = value_of("history.whole_level")
PART_LEVEL = value_of("history.part_level")
NOTICED_WITHIN = 3
"""Nights within which the smallest change that is printed would be noticed."""
ROUNDING = 1e-12
"""A spread below this share of the values is rounding."""


class ChangeFound(msgspec.Struct, frozen=True, kw_only=True):
    """``place`` is the first value at the new level, ``noticed`` the one at which that was known."""

    place: int
    noticed: int


class _Spread(msgspec.Struct, frozen=True):
    """Squares about the means of levels that are over, and their degrees of freedom."""

    squares: float = 0.0
    freedom: int = 0

    def with_level(self, values: NDArray[np.float64]) -> _Spread:
        """The same with another level."""
        return _Spread(self.squares + _squares(values), self.freedom + len(values) - 1)


def change_points(values: Sequence[float], level: float) -> list[ChangeFound]:
    """The changes of a series, in order, each as it was found night by night.

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

    ``level`` is divided by the splits that :func:`change_points` compares on the third of these nights.
    """
    if len(values) < FEWEST_BEFORE:
        return None
    degrees = float(len(values) + NOTICED_WITHIN - 2)
    splits = min(MOST_AFTER, len(values) + NOTICED_WITHIN - FEWEST_BEFORE) - FEWEST_AFTER + 1
    reach = quantile(1.0 - level / 2.0 / splits, degrees) + quantile(POWER, degrees)
    error = statistics.stdev(values) * (1.0 / len(values) + 1.0 / NOTICED_WITHIN) ** 0.5
    return math.expm1(reach * error)


def _strongest(values: NDArray[np.float64], level: float, fewest: int, known: _Spread) -> int | None:
    """The split with the strongest evidence of two levels, where it is more than chance."""
    splits = range(FEWEST_AFTER, min(MOST_AFTER, len(values) - fewest) + 1)
    best, place = 1.0, None
    for after in splits:
        before, recent = values[:-after], values[-after:]
        shift = float(recent.mean() - before.mean())
        if not _is_shared(recent - before.mean(), shift):
            continue
        both = known.with_level(before).with_level(recent)
        spread = math.sqrt(both.squares / both.freedom)
        error = max(spread, ROUNDING * float(np.abs(values).max())) * math.sqrt(
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
