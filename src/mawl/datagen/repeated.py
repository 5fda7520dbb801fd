"""Rows that come in groups, one behind the other: visits of a patient, weeks of a store.

What all rows of a group share is drawn by the number of the group, so any rows can be made alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.deviations import deviations
from mawl.datagen.hashing import hashes, key
from mawl.plan.columns import MixedResponse

Numbers = NDArray[np.float64]
Whole = NDArray[np.int64]

_STEPS = 16
"""Deviations are worked out in 1/16 before a response is rounded to whole numbers."""


def numbers(group_rows: int, start: int, count: int) -> Numbers:
    """The group of each row, from 0: float64 of shape (count,)."""
    return (np.arange(start, start + count, dtype=np.int64) // group_rows).astype(np.float64)


def places(group_rows: int, start: int, count: int) -> Numbers:
    """The place of each row in its group, from 0: float64 of shape (count,)."""
    return (np.arange(start, start + count, dtype=np.int64) % group_rows).astype(np.float64)


def spread(group_rows: int, start: int, count: int, make: Callable[[int, int], NDArray[Any]]) -> NDArray[Any]:
    """What ``make(first group, groups)`` gives each group, for each row: shape (count, ...)."""
    first = start // group_rows
    groups = (start + count - 1) // group_rows + 1 - first
    skipped = start - first * group_rows
    return np.repeat(make(first, groups), group_rows, axis=0)[skipped : skipped + count]


def draws(column_key: int, group_rows: int, kept: int, start: int, count: int) -> Whole:
    """A uniform 16-bit draw for each row: with a chance of ``kept`` (in 256ths) that of the row before.

    The first row of a group has one of its own.  Draws k rows apart are the same with a chance of
    (kept / 256)**k, else independent.
    """
    first = start - start % group_rows
    rows = start + count - first
    random = hashes(column_key, first, rows)
    own = (random & np.uint64(0xFF)).view(np.int64) >= kept
    own[::group_rows] = True
    source = np.maximum.accumulate(np.where(own, np.arange(rows), 0))
    drawn: Whole = (random >> np.uint64(48)).view(np.int64)[source]
    return drawn[start - first :]


def effects(values: MixedResponse, column_key: int, first: int, groups: int) -> Whole:
    """Level and trend of each group beside the means, in 1/16: int64 of shape (groups, 2)."""
    level = deviations(hashes(key(column_key, "level"), first, groups), values.level * _STEPS)
    trend = deviations(hashes(key(column_key, "trend"), first, groups), values.trend * _STEPS)
    trend += level * values.shared // _STEPS
    return np.stack([level, trend], axis=1)


def true_effects(
    values: MixedResponse, *, table: str, column: str, seed: int, replica: int, first: int, groups: int
) -> Numbers:
    """The hidden effects of groups, level and trend: float64 of shape (groups, 2)."""
    return effects(values, key(seed, replica, table, column), first, groups) / np.float64(_STEPS)


def responses(values: MixedResponse, column_key: int, fixed: Numbers, start: int, count: int) -> Numbers:
    """Rows of a mixed response, whole numbers; ``fixed`` is what the terms give, whole too: (count,)."""
    rows = values.group_rows

    def make(first: int, groups: int) -> Whole:
        return effects(values, column_key, first, groups)

    own = spread(rows, start, count, make)
    place = np.arange(start, start + count, dtype=np.int64) % rows
    time = 2 * place - (rows - 1)
    total = ((own[:, 1] + _STEPS * values.slope) * time + rows // 2) // rows
    total += own[:, 0]
    total += _STEPS * (fixed.astype(np.int64) + values.intercept)
    total += deviations(hashes(column_key, start, count), values.noise * _STEPS)
    return ((total + _STEPS // 2) // _STEPS).astype(np.float64)


def time_of(place: Numbers, group_rows: int) -> Numbers:
    """The time that trends are by: from just above -1 to just below 1 over a group's rows."""
    return (2.0 * place - (group_rows - 1)) / group_rows
