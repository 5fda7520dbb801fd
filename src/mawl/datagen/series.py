"""Monthly series with additive innovations, as exponential smoothing supposes them, in 256ths.

A month is what level, slope and season foretell plus an innovation, and the innovation moves all three.
Whole numbers only: products of 256ths are cut by shifts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.deviations import deviations
from mawl.datagen.hashing import hashes, key
from mawl.plan.series import MonthlySeries

Whole = NDArray[np.int64]

SEASON_MONTHS = 12
_BITS = 8
_LOWEST_LEVEL = 1_000
_LEVEL_STEP = 250
_LEVELS = 12


def observations(values: MonthlySeries, column_key: int, start: int, count: int) -> NDArray[np.float64]:
    """Rows ``start`` to ``start + count`` of a column of series: float64 of shape (count,)."""
    first = start // values.months
    series = (start + count - 1) // values.months + 1 - first
    innovations = _innovations(values, column_key, first, series)
    found = _move(values, column_key, first, innovations).reshape(-1)
    found += 1 << (_BITS - 1)
    found >>= _BITS
    return found[start - first * values.months :][:count].astype(np.float64)


def true_kinds(
    values: MonthlySeries, *, table: str, column: str, seed: int, replica: int, first: int, series: int
) -> NDArray[np.intp]:
    """The hidden kind of each series from ``first`` on, its place in ``kinds``: intp of shape (series,)."""
    return _kinds(values, key(seed, replica, table, column), first, series)


def true_forecasts(
    values: MonthlySeries,
    *,
    table: str,
    column: str,
    seed: int,
    replica: int,
    first: int,
    series: int,
    known: int,
) -> NDArray[np.float64]:
    """What the months behind the first ``known`` are, were there no more innovations.

    Nobody who knows only the first months can do better on average: float64 of (series, months - known).
    """
    column_key = key(seed, replica, table, column)
    innovations = _innovations(values, column_key, first, series)
    innovations[:, known:] = 0
    return _move(values, column_key, first, innovations)[:, known:] / np.float64(1 << _BITS)


def _kinds(values: MonthlySeries, column_key: int, first: int, series: int) -> NDArray[np.intp]:
    shares = [kind.share for kind in values.kinds]
    if sum(shares) != 256:
        raise ValueError(f"shares of kinds must add up to 256, found {sum(shares)}")
    drawn = hashes(key(column_key, "kind"), first, series) >> np.uint64(56)
    return np.repeat(np.arange(len(shares)), shares)[drawn.view(np.intp)]


def _innovations(values: MonthlySeries, column_key: int, first: int, series: int) -> Whole:
    """Innovations of whole series in 256ths: (series, months)."""
    random = hashes(column_key, first * values.months, series * values.months)
    return deviations(random, values.noise << _BITS).reshape(series, values.months)


def _move(values: MonthlySeries, column_key: int, first: int, innovations: Whole) -> Whole:
    """The months of series in 256ths, from their innovations: (series, months)."""
    series = len(innovations)
    kinds = _kinds(values, column_key, first, series)

    def of_kind(name: str) -> Whole:
        return np.array([getattr(kind, name) for kind in values.kinds], np.int64)[kinds]

    level_weight, slope_weight = of_kind("level_weight"), of_kind("slope_weight")
    season_weight, damping = of_kind("season_weight"), of_kind("damping")
    level = _first_levels(column_key, first, series)
    slope = _first_slopes(values, column_key, first, kinds)
    season = _first_seasons(column_key, first, series) * of_kind("swing")[:, None]
    found = np.empty_like(innovations)
    for month in range(values.months):
        place = month % SEASON_MONTHS
        innovation = innovations[:, month]
        slope = slope * damping >> _BITS
        level = level + slope
        found[:, month] = level + season[:, place] + innovation
        level += level_weight * innovation >> _BITS
        slope += slope_weight * innovation >> _BITS
        season[:, place] += season_weight * innovation >> _BITS
    return found


def _first_levels(column_key: int, first: int, series: int) -> Whole:
    drawn = (hashes(key(column_key, "level"), first, series) >> np.uint64(48)).view(np.int64)
    # The square of a uniform number: small ones are common.
    steps = drawn * drawn * _LEVELS >> 32
    found: Whole = (_LOWEST_LEVEL + steps * _LEVEL_STEP) << _BITS
    return found


def _first_slopes(values: MonthlySeries, column_key: int, first: int, kinds: NDArray[np.intp]) -> Whole:
    drawn = hashes(key(column_key, "slope"), first, len(kinds))
    lowest = np.array([kind.slopes[0] for kind in values.kinds], np.int64)[kinds] << _BITS
    highest = np.array([kind.slopes[1] for kind in values.kinds], np.int64)[kinds] << _BITS
    size = lowest + ((drawn >> np.uint64(48)).view(np.int64) * (highest - lowest) >> 16)
    return np.where(drawn & np.uint64(1), size, -size)


def _first_seasons(column_key: int, first: int, series: int) -> Whole:
    """The season of each month in 256ths, at a standard deviation of one: (series, 12)."""
    random = hashes(key(column_key, "season"), first * SEASON_MONTHS, series * SEASON_MONTHS)
    return deviations(random, 1 << _BITS).reshape(series, SEASON_MONTHS)
