"""Columns that follow a known model: linear, logistic, hidden rules, factorial studies, monthly series.

Whole numbers only, so that every machine makes the same bytes.
"""

from __future__ import annotations

import decimal
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import LOGIT_UNIT, Column, Factor, Logistic, MonthlySeries, Outcome, Product, Response
from mawl.programs.datagen.groups import per_group
from mawl.programs.datagen.hashing import deviations, hashes, key

Whole = NDArray[np.int64]

FACTOR_LEVELS = 3


def study_responses(
    values: Response, column_key: int, levels: Sequence[NDArray[np.generic]], start: int, count: int
) -> NDArray[np.float64]:
    """Rows ``start`` to ``start + count``, whose factors have ``levels`` (rows,): float64 of (count,).

    Cells are all combinations of levels, the last factor's running fastest; terms are the factors, then
    their pairs in order.
    """
    first = start // values.group
    studies = (start + count - 1) // values.group + 1 - first
    means = true_means(values, true_active(values, column_key, first, studies))
    cells = np.zeros(count, np.int64)
    for level in levels:
        cells *= FACTOR_LEVELS
        cells += level.astype(np.int64) - 1
    study = np.arange(start, start + count, dtype=np.int64) // values.group - first
    found = deviations(hashes(column_key, start, count), values.noise)
    found += means[study, cells]
    return found.astype(np.float64)


def true_active(values: Response, column_key: int, first: int, studies: int) -> NDArray[np.bool_]:
    """Which terms each study from ``first`` on has: (studies, terms)."""
    drawn = hashes(key(column_key, "active"), first, studies)
    factors = len(values.factors)
    pairs = factors * (factors - 1) // 2
    found = np.empty((studies, factors + pairs), np.bool_)
    for term in range(factors + pairs):
        # Two bits a term: one decides on a factor, both on a pair.
        bits = (drawn >> np.uint64(2 * term)) & np.uint64(3)
        found[:, term] = bits >= 2 if term < factors else bits == 3
    return found


def true_means(values: Response, active: NDArray[np.bool_]) -> Whole:
    """The mean of each cell of studies with these terms: (studies, cells)."""
    factors = len(values.factors)
    levels = np.array(list(itertools.product(range(FACTOR_LEVELS), repeat=factors)), np.int64)
    patterns = [np.array(values.effects[factor], np.int64)[levels[:, factor]] for factor in range(factors)]
    patterns += [
        values.interaction * (levels[:, one] - 1) * (levels[:, other] - 1)
        for one, other in itertools.combinations(range(factors), 2)
    ]
    found: Whole = values.mean + active.astype(np.int64) @ np.stack(patterns)
    return found


def outcome_columns(outcome: Outcome) -> list[Column]:
    """The columns that the rules look at, once each, in the order of rules."""
    found = {
        condition.column.name: condition.column for rule in outcome.rules for condition in rule.conditions
    }
    return list(found.values())


def true_chances(outcome: Outcome, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """The chance of 1 of each row in 65,536ths: int64 of shape (rows,).

    ``columns`` hold, by name, at least the columns of ``outcome_columns``, (rows,) each.
    """
    rows = len(next(iter(columns.values())))
    points = np.full(rows, outcome.base, np.int64)
    for rule in outcome.rules:
        holds = np.ones(rows, np.bool_)
        for condition in rule.conditions:
            holds &= columns[condition.column.name] >= condition.at_least
        points += rule.points * holds
    np.clip(points, 0, len(outcome.chances) - 1, out=points)
    return np.array(outcome.chances, np.int64)[points]


_LOGIT_STEPS = 256
"""Steps of the table of chances in one logit."""
_MOST_LOGIT = 12
_ROUNDING = LOGIT_UNIT // _LOGIT_STEPS
_CERTAIN = 2**32


def term_columns(terms: Iterable[Product]) -> list[Column]:
    """The columns that terms look at, once each, in their order."""
    found = {factor.column.name: factor.column for term in terms for factor in term.factors}
    return list(found.values())


def linear_predictor(intercept: int, terms: Iterable[Product], columns: Mapping[str, NDArray[Any]]) -> Whole:
    """``intercept`` and all terms of each row: int64 of shape (rows,).

    ``columns`` hold, by name, at least the columns of ``term_columns``, (rows,) each.
    """
    rows = len(next(iter(columns.values())))
    total = np.full(rows, intercept, np.int64)
    for term in terms:
        product = np.full(rows, term.slope, np.int64)
        for factor in term.factors:
            product *= _factor_values(factor, columns[factor.column.name])
        total += product
    return total


def logistic_chances(values: Logistic, columns: Mapping[str, NDArray[Any]]) -> Whole:
    """The chance of 1 of each row in 2**32nds: int64 of shape (rows,)."""
    logits = linear_predictor(values.intercept, values.terms, columns)
    logits += _ROUNDING // 2
    logits //= _ROUNDING
    most = _MOST_LOGIT * _LOGIT_STEPS
    np.clip(logits, -most, most, out=logits)
    logits += most
    chances: Whole = _chance_table()[logits]
    return chances


def logistic_draws(values: Logistic, random_key: int, start: int, count: int) -> Whole:
    """What decides each row, uniform below 2**32: its own draw, or the one of its block."""
    random = hashes(random_key, start, count)
    own = (random >> np.uint64(32)).view(np.int64)
    if not values.shared:
        return own
    make = functools.partial(hashes, key(random_key, "block"))
    drawn = (per_group(values.block_rows, start, count, make) >> np.uint64(32)).view(np.int64)
    shared = (random & np.uint64(0xFF)) < np.uint64(values.shared)
    return np.where(shared, drawn, own)


def _factor_values(factor: Factor, column: NDArray[Any]) -> Whole:
    if factor.value:
        wanted = factor.value.ljust(factor.column.stored_bytes).encode("latin-1")
        indicator: Whole = np.equal(column, wanted).astype(np.int64)
        return indicator
    return column.astype(np.int64) - factor.less


@functools.cache
def _chance_table() -> Whole:
    """The logistic curve, from decimal arithmetic: its exponential is correctly rounded everywhere."""
    context = decimal.Context(prec=24)
    most = _MOST_LOGIT * _LOGIT_STEPS
    upper = []
    for step in range(most + 1):
        odds = context.exp(context.divide(decimal.Decimal(-step), decimal.Decimal(_LOGIT_STEPS)))
        upper.append(round(context.divide(decimal.Decimal(_CERTAIN), 1 + odds)))
    table = np.array([*(_CERTAIN - chance for chance in upper[:0:-1]), *upper], np.int64)
    table.flags.writeable = False
    return table


SEASON_MONTHS = 12
_FRACTION_BITS = 8
_LOWEST_LEVEL = 1_000
_LEVEL_STEP = 250
_LEVEL_CHOICES = 12


def monthly_observations(
    values: MonthlySeries, column_key: int, start: int, count: int
) -> NDArray[np.float64]:
    """Rows ``start`` to ``start + count`` of a column of series: float64 of shape (count,).

    As exponential smoothing supposes, a month is what level, slope and season give plus an innovation, and
    the innovation moves all three.  Products of 256ths are cut by shifts.
    """
    first = start // values.months
    series = (start + count - 1) // values.months + 1 - first
    innovations = _innovations(values, column_key, first, series)
    found = _series_months(values, column_key, first, innovations).reshape(-1)
    found += 1 << (_FRACTION_BITS - 1)
    found >>= _FRACTION_BITS
    return found[start - first * values.months :][:count].astype(np.float64)


def true_forecasts(
    values: MonthlySeries, column_key: int, first: int, series: int, *, known: int
) -> NDArray[np.float64]:
    """What the months behind the first ``known`` are, were there no more innovations.

    Nobody who knows only the first months can do better on average: float64 of (series, months - known).
    """
    innovations = _innovations(values, column_key, first, series)
    innovations[:, known:] = 0
    return _series_months(values, column_key, first, innovations)[:, known:] / np.float64(1 << _FRACTION_BITS)


def true_kinds(values: MonthlySeries, column_key: int, first: int, series: int) -> NDArray[np.intp]:
    """The hidden kind of each series from ``first`` on, its place in ``kinds``: intp of shape (series,)."""
    shares = [kind.share for kind in values.kinds]
    if sum(shares) != 256:
        raise ValueError(f"shares of kinds must add up to 256, found {sum(shares)}")
    drawn = hashes(key(column_key, "kind"), first, series) >> np.uint64(56)
    return np.repeat(np.arange(len(shares)), shares)[drawn.view(np.intp)]


def _innovations(values: MonthlySeries, column_key: int, first: int, series: int) -> Whole:
    """Innovations of whole series in 256ths: (series, months)."""
    random = hashes(column_key, first * values.months, series * values.months)
    return deviations(random, values.noise << _FRACTION_BITS).reshape(series, values.months)


def _series_months(values: MonthlySeries, column_key: int, first: int, innovations: Whole) -> Whole:
    """The months of series in 256ths, from their innovations: (series, months)."""
    series = len(innovations)
    kinds = true_kinds(values, column_key, first, series)

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
        slope = slope * damping >> _FRACTION_BITS
        level = level + slope
        found[:, month] = level + season[:, place] + innovation
        level += level_weight * innovation >> _FRACTION_BITS
        slope += slope_weight * innovation >> _FRACTION_BITS
        season[:, place] += season_weight * innovation >> _FRACTION_BITS
    return found


def _first_levels(column_key: int, first: int, series: int) -> Whole:
    drawn = (hashes(key(column_key, "level"), first, series) >> np.uint64(48)).view(np.int64)
    # The square of a uniform number: small ones are common.
    steps = drawn * drawn * _LEVEL_CHOICES >> 32
    found: Whole = (_LOWEST_LEVEL + steps * _LEVEL_STEP) << _FRACTION_BITS
    return found


def _first_slopes(values: MonthlySeries, column_key: int, first: int, kinds: NDArray[np.intp]) -> Whole:
    drawn = hashes(key(column_key, "slope"), first, len(kinds))
    lowest = np.array([kind.slopes[0] for kind in values.kinds], np.int64)[kinds] << _FRACTION_BITS
    highest = np.array([kind.slopes[1] for kind in values.kinds], np.int64)[kinds] << _FRACTION_BITS
    size = lowest + ((drawn >> np.uint64(48)).view(np.int64) * (highest - lowest) >> 16)
    return np.where(drawn & np.uint64(1), size, -size)


def _first_seasons(column_key: int, first: int, series: int) -> Whole:
    """The season of each month in 256ths, at a standard deviation of one: (series, 12)."""
    random = hashes(key(column_key, "season"), first * SEASON_MONTHS, series * SEASON_MONTHS)
    return deviations(random, 1 << _FRACTION_BITS).reshape(series, SEASON_MONTHS)
