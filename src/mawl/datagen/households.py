"""Who lives where: households in groups of a fixed pattern of sizes, rotated by a hash of the group.

With sizes (1, 4, ...) and rotation r, household i of a group has ``sizes[(i + r) % len(sizes)]``
persons.  So every group has the same number of persons, and persons are numbered through.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]


def rotations(key: int, households: int, first_group: int, groups: int) -> Places:
    """Each group's rotation, from 0 to ``households`` - 1 (a power of two): intp of shape (groups,)."""
    bits = households.bit_length() - 1
    return (hashes(key, first_group, groups) >> np.uint64(64 - bits)).view(np.intp)


def sizes(key: int, pattern: tuple[int, ...], start: int, count: int) -> Numbers:
    """Persons of households ``start`` to ``start + count``: float64 of shape (count,)."""
    return _by_group(key, len(pattern), _size_table(pattern), start, count)


def serials(key: int, pattern: tuple[int, ...], start: int, count: int) -> Numbers:
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
