"""Values that depend on the row's group: the household of a person, the patient of a visit.

What all rows of a group share is drawn by the number of the group, so any rows can be made alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mawl.plan.columns import MixedResponse
from mawl.programs.datagen.hashing import deviations, hashes, key

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]


def rotations(key: int, households: int, first_group: int, groups: int) -> Places:
    """Each group's rotation, from 0 to ``households`` - 1 (a power of two): intp of shape (groups,).

    With a pattern of sizes (1, 4, ...) and rotation r, household i of a group has
    ``pattern[(i + r) % len(pattern)]`` persons.  So every group has the same number of persons.
    """
    bits = households.bit_length() - 1
    return (hashes(key, first_group, groups) >> np.uint64(64 - bits)).view(np.intp)


def household_sizes(key: int, pattern: tuple[int, ...], start: int, count: int) -> Numbers:
    """Persons of households ``start`` to ``start + count``: float64 of shape (count,)."""
    return _by_group(key, len(pattern), _size_table(pattern), start, count)


def household_serials(key: int, pattern: tuple[int, ...], start: int, count: int) -> Numbers:
    """The household of persons ``start`` to ``start + count``: float64 of shape (count,)."""
    found = _by_group(key, len(pattern), _owners(pattern).astype(np.float64), start, count)
    first = start // sum(pattern)
    groups = np.arange(first, (start + count - 1) // sum(pattern) + 1, dtype=np.float64) * len(pattern)
    skipped = start - first * sum(pattern)
    found += np.repeat(groups, sum(pattern))[skipped : skipped + count]
    return found


def person_numbers(key: int, pattern: tuple[int, ...], start: int, count: int) -> Numbers:
    """Place in its household, from 1, of persons ``start`` to ``start + count``: float64 (count,)."""
    return _by_group(key, len(pattern), _number_table(pattern), start, count)


@functools.lru_cache(maxsize=4)
def record_places(pattern: tuple[int, ...]) -> tuple[Places, Places]:
    """Where the records of a group stand, by rotation.

    (households of shape (rotations, households), persons of shape (rotations, persons)): places from
    0 in a group in which each household is followed by its persons.
    """
    owners = _owners(pattern)
    persons = owners + 1 + np.arange(sum(pattern))
    taken = [sorted(set(range(len(pattern) + sum(pattern))) - set(row)) for row in persons.tolist()]
    return np.array(taken, dtype=np.intp), persons


@functools.lru_cache(maxsize=4)
def _owners(pattern: tuple[int, ...]) -> Places:
    """The household in its group of each person, by rotation: intp of shape (rotations, persons)."""
    count = len(pattern)
    return np.array(
        [np.repeat(np.arange(count), np.roll(pattern, -rotation)) for rotation in range(count)], dtype=np.intp
    )


@functools.lru_cache(maxsize=4)
def _size_table(pattern: tuple[int, ...]) -> Numbers:
    """Sizes of a group's households, by rotation: float64 of shape (rotations, households)."""
    return np.array([np.roll(pattern, -rotation) for rotation in range(len(pattern))], dtype=np.float64)


@functools.lru_cache(maxsize=4)
def _number_table(pattern: tuple[int, ...]) -> Numbers:
    """Each person's place in its household, from 1: float64 of shape (rotations, persons)."""
    sizes = _size_table(pattern).astype(np.intp)
    return np.array(
        [np.concatenate([np.arange(1, size + 1) for size in row]) for row in sizes], dtype=np.float64
    )


def _by_group(key: int, rotation_count: int, table: Numbers, start: int, count: int) -> Numbers:
    """Rows of ``table`` (one per rotation) group after group, cut to rows ``start`` on."""
    width = table.shape[1]
    first = start // width
    groups = (start + count - 1) // width - first + 1
    rows = table[rotations(key, rotation_count, first, groups)]
    return rows.reshape(-1)[start - first * width :][:count]


Whole = NDArray[np.int64]

_STEPS = 16
"""Deviations are worked out in 1/16 before a response is rounded to whole numbers."""


def group_numbers(group_rows: int, start: int, count: int) -> Numbers:
    """The group of each row, from 0: float64 of shape (count,)."""
    return (np.arange(start, start + count, dtype=np.int64) // group_rows).astype(np.float64)


def group_places(group_rows: int, start: int, count: int) -> Numbers:
    """The place of each row in its group, from 0: float64 of shape (count,)."""
    return (np.arange(start, start + count, dtype=np.int64) % group_rows).astype(np.float64)


def per_group(
    group_rows: int, start: int, count: int, make: Callable[[int, int], NDArray[Any]]
) -> NDArray[Any]:
    """What ``make(first group, groups)`` gives each group, for each row: shape (count, ...)."""
    first = start // group_rows
    groups = (start + count - 1) // group_rows + 1 - first
    skipped = start - first * group_rows
    return np.repeat(make(first, groups), group_rows, axis=0)[skipped : skipped + count]


def group_draws(column_key: int, group_rows: int, kept: int, start: int, count: int) -> Whole:
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


def _group_effects(values: MixedResponse, column_key: int, first: int, groups: int) -> Whole:
    """Level and trend of each group beside the means, in 1/16: int64 of shape (groups, 2)."""
    level = deviations(hashes(key(column_key, "level"), first, groups), values.level * _STEPS)
    trend = deviations(hashes(key(column_key, "trend"), first, groups), values.trend * _STEPS)
    trend += level * values.shared // _STEPS
    return np.stack([level, trend], axis=1)


def true_effects(values: MixedResponse, column_key: int, first: int, groups: int) -> Numbers:
    """The hidden effects of groups, level and trend: float64 of shape (groups, 2)."""
    return _group_effects(values, column_key, first, groups) / np.float64(_STEPS)


def mixed_responses(
    values: MixedResponse, column_key: int, fixed: Numbers, start: int, count: int
) -> Numbers:
    """Rows of a mixed response, whole numbers; ``fixed`` is what the terms give, whole too: (count,)."""
    rows = values.group_rows

    def make(first: int, groups: int) -> Whole:
        return _group_effects(values, column_key, first, groups)

    own = per_group(rows, start, count, make)
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


_LOW_HALF = np.uint64(0xFFFF_FFFF)
_SCATTER = (
    (np.uint64(0x85EB_CA6B), np.uint64(16)),
    (np.uint64(0xC2B2_AE35), np.uint64(13)),
    (np.uint64(0x9E37_79B1), np.uint64(16)),
)


def scattered_numbers(random_key: int, group: int, start: int, count: int) -> NDArray[np.float64]:
    """Numbers of rows ``start`` to ``start + count``: the last of each ``group`` rows repeats another's."""
    others = np.uint64(group - 1)
    rows = np.arange(start, start + count, dtype=np.uint64)
    groups, places = np.divmod(rows, np.uint64(group))
    first = start // group
    drawn = hashes(random_key, first, (start + count - 1) // group + 1 - first) % others
    last = places == others
    places[last] = drawn[(groups[last] - np.uint64(first)).astype(np.intp)]
    groups *= others
    groups += places
    return _scattered(groups, random_key).astype(np.float64)


def _scattered(values: NDArray[np.uint64], random_key: int) -> NDArray[np.uint64]:
    """A permutation of the lower 32 bits: odd factors and shifts, each of which can be undone."""
    low = (values ^ np.uint64(random_key & 0xFFFF_FFFF)) & _LOW_HALF
    for factor, shift in _SCATTER:
        low *= factor
        low &= _LOW_HALF
        low ^= low >> shift
    return (values & ~_LOW_HALF) | low
