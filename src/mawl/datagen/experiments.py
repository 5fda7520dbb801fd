"""Responses of factorial experiments: which effects a study has, and what its cells mean, in whole numbers.

Cells are all combinations of levels, the last factor's running fastest; terms are the factors, then
their pairs in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.deviations import deviations
from mawl.datagen.hashing import hashes, key
from mawl.plan.columns import Response

Whole = NDArray[np.int64]

LEVELS = 3


def responses(
    values: Response, column_key: int, levels: Sequence[NDArray[np.generic]], start: int, count: int
) -> NDArray[np.float64]:
    """Rows ``start`` to ``start + count``, whose factors have ``levels`` (rows,): float64 of (count,)."""
    first = start // values.group
    studies = (start + count - 1) // values.group + 1 - first
    means = _means(values, _active(values, column_key, first, studies))
    cells = np.zeros(count, np.int64)
    for level in levels:
        cells *= LEVELS
        cells += level.astype(np.int64) - 1
    study = np.arange(start, start + count, dtype=np.int64) // values.group - first
    found = deviations(hashes(column_key, start, count), values.noise)
    found += means[study, cells]
    return found.astype(np.float64)


def true_active(
    values: Response, *, table: str, column: str, seed: int, replica: int, first: int, studies: int
) -> NDArray[np.bool_]:
    """Which terms each study from ``first`` on has: (studies, terms)."""
    return _active(values, key(seed, replica, table, column), first, studies)


def true_means(values: Response, active: NDArray[np.bool_]) -> Whole:
    """The mean of each cell of studies with these terms: (studies, cells)."""
    return _means(values, active)


def _active(values: Response, column_key: int, first: int, studies: int) -> NDArray[np.bool_]:
    drawn = hashes(key(column_key, "active"), first, studies)
    factors = len(values.factors)
    pairs = factors * (factors - 1) // 2
    found = np.empty((studies, factors + pairs), np.bool_)
    for term in range(factors + pairs):
        # Two bits a term: one decides on a factor, both on a pair.
        bits = (drawn >> np.uint64(2 * term)) & np.uint64(3)
        found[:, term] = bits >= 2 if term < factors else bits == 3
    return found


def _means(values: Response, active: NDArray[np.bool_]) -> Whole:
    factors = len(values.factors)
    levels = np.array(list(itertools.product(range(LEVELS), repeat=factors)), np.int64)
    patterns = [np.array(values.effects[factor], np.int64)[levels[:, factor]] for factor in range(factors)]
    patterns += [
        values.interaction * (levels[:, one] - 1) * (levels[:, other] - 1)
        for one, other in itertools.combinations(range(factors), 2)
    ]
    found: Whole = values.mean + active.astype(np.int64) @ np.stack(patterns)
    return found
