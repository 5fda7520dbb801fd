"""Random printable text, as much of a column as the compressibility dial says."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes, key

_BLANKS = np.uint64(0x2020_2020_2020_2020)
_CHARACTERS = np.uint64(0xBFBF_BFBF_BFBF_BFBF)

Texts = NDArray[np.generic]


def random_text(column_key: int, width: int, start: int, count: int, filled: int) -> Texts:
    """Random printable Latin-1 in the first ``filled`` bytes of each row, blanks behind: ``S<width>``.

    Each byte is one of 128 characters (0x20 to 0x5f and 0xa0 to 0xdf): seven bits of the hash.
    """
    if filled <= 0:
        return _blanks(width, count)
    filled = min(filled, width)
    values = np.full((count, -(-width // 8)), _BLANKS)
    for word in range(-(-filled // 8)):
        random = hashes(key(column_key, word), start, count)
        random &= _CHARACTERS
        random += _BLANKS
        used = min(filled - 8 * word, 8)
        if used < 8:
            kept = np.uint64((1 << 8 * used) - 1)
            random &= kept
            random |= _BLANKS & ~kept
        values[:, word] = random
    if width % 8:
        values = np.ascontiguousarray(values.view(np.uint8)[:, :width])
    return values.view(f"S{width}").reshape(count)


@functools.lru_cache(maxsize=32)
def _blanks(width: int, count: int) -> Texts:
    values = np.full(count * width, 0x20, dtype=np.uint8).view(f"S{width}")
    values.flags.writeable = False
    return values
