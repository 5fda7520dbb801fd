"""Responses of known models: linear and logistic, in whole numbers."""

from __future__ import annotations

import decimal
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes, key
from mawl.datagen.repeated import spread
from mawl.plan.columns import LOGIT_UNIT, Column, Factor, Logistic, Product

Whole = NDArray[np.int64]

_STEPS = 256
"""Steps of the table of chances in one logit."""
_MOST_LOGIT = 12
_ROUNDING = LOGIT_UNIT // _STEPS
_CERTAIN = 2**32


def columns_of(terms: Iterable[Product]) -> list[Column]:
    """The columns that terms look at, once each, in their order."""
    found = {factor.column.name: factor.column for term in terms for factor in term.factors}
    return list(found.values())


def predictor(intercept: int, terms: Iterable[Product], columns: Mapping[str, NDArray[Any]]) -> Whole:
    """``intercept`` and all terms of each row: int64 of shape (rows,).

    ``columns`` hold, by name, at least the columns of :func:`columns_of`, (rows,) each.
    """
    rows = len(next(iter(columns.values())))
    total = np.full(rows, intercept, np.int64)
    for term in terms:
        product = np.full(rows, term.slope, np.int64)
        for factor in term.factors:
            product *= _values(factor, columns[factor.column.name])
        total += product
    return total


def logistic_chances(values: Logistic, columns: Mapping[str, NDArray[Any]]) -> Whole:
    """The chance of 1 of each row in 2**32nds: int64 of shape (rows,)."""
    logits = predictor(values.intercept, values.terms, columns)
    logits += _ROUNDING // 2
    logits //= _ROUNDING
    most = _MOST_LOGIT * _STEPS
    np.clip(logits, -most, most, out=logits)
    logits += most
    chances: Whole = _chance_table()[logits]
    return chances


def draws(values: Logistic, random_key: int, start: int, count: int) -> Whole:
    """What decides each row, uniform below 2**32: its own draw, or the one of its block."""
    random = hashes(random_key, start, count)
    own = (random >> np.uint64(32)).view(np.int64)
    if not values.shared:
        return own
    make = functools.partial(hashes, key(random_key, "block"))
    drawn = (spread(values.block_rows, start, count, make) >> np.uint64(32)).view(np.int64)
    shared = (random & np.uint64(0xFF)) < np.uint64(values.shared)
    return np.where(shared, drawn, own)


def _values(factor: Factor, column: NDArray[Any]) -> Whole:
    if factor.value:
        wanted = factor.value.ljust(factor.column.stored_bytes).encode("latin-1")
        indicator: Whole = np.equal(column, wanted).astype(np.int64)
        return indicator
    return column.astype(np.int64) - factor.less


@functools.cache
def _chance_table() -> Whole:
    """The logistic curve, from decimal arithmetic: its exponential is correctly rounded everywhere."""
    context = decimal.Context(prec=24)
    most = _MOST_LOGIT * _STEPS
    upper = []
    for step in range(most + 1):
        odds = context.exp(context.divide(decimal.Decimal(-step), decimal.Decimal(_STEPS)))
        upper.append(round(context.divide(decimal.Decimal(_CERTAIN), 1 + odds)))
    table = np.array([*(_CERTAIN - chance for chance in upper[:0:-1]), *upper], np.int64)
    table.flags.writeable = False
    return table
