"""Numbers in no order, of which some repeat: the kind :class:`mawl.plan.columns.Repeated`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes

_LOW_HALF = np.uint64(0xFFFF_FFFF)
_SCATTER = (
    (np.uint64(0x85EB_CA6B), np.uint64(16)),
    (np.uint64(0xC2B2_AE35), np.uint64(13)),
    (np.uint64(0x9E37_79B1), np.uint64(16)),
)


def numbers(random_key: int, group: int, start: int, count: int) -> NDArray[np.float64]:
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
