"""The generator's hash (splitmix64), and nearly normal deviations from it, in whole numbers.

Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.  The hash of row n
under a key is the (n+1)-th number of the splitmix64 stream that starts at the key.
"""

from __future__ import annotations

import functools
import hashlib
import math

import numpy as np
from numpy.typing import NDArray

_GAMMA = 0x9E37_79B9_7F4A_7C15
_FIRST = np.uint64(0xBF58_476D_1CE4_E5B9)
_SECOND = np.uint64(0x94D0_49BB_1331_11EB)
_MASK = 0xFFFF_FFFF_FFFF_FFFF


@functools.lru_cache(maxsize=1024)
def key(*words: object) -> int:
    """A 64-bit key from words and numbers: BLAKE2b of their texts."""
    text = "\x1f".join(str(word) for word in words)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def hashes(key: int, start: int, count: int) -> NDArray[np.uint64]:
    """The hashes of rows ``start`` to ``start + count`` under a key: uint64 of shape (count,)."""
    mixed = _counters(start, count) + np.uint64(key)
    scratch = mixed >> np.uint64(30)
    mixed ^= scratch
    mixed *= _FIRST
    np.right_shift(mixed, np.uint64(27), out=scratch)
    mixed ^= scratch
    mixed *= _SECOND
    np.right_shift(mixed, np.uint64(31), out=scratch)
    mixed ^= scratch
    return mixed


@functools.lru_cache(maxsize=4)
def _counters(start: int, count: int) -> NDArray[np.uint64]:
    """(row + 1) * gamma modulo 2**64, kept because every column of a chunk starts from it (or its groups)."""
    first = np.uint64((start + 1) * _GAMMA & _MASK)
    counters = np.arange(count, dtype=np.uint64) * np.uint64(_GAMMA) + first
    counters.flags.writeable = False
    return counters


_LOW_LANES = np.uint64(0x0000_FFFF_0000_FFFF)
_LANES_TO_TOP = np.uint64(0x0000_0001_0000_0001)
_MEAN = 2 * 0xFFFF
_DEVIATION = math.sqrt(4 * (2**32 - 1) / 12)
_SHIFT = 24


def deviations(random: NDArray[np.uint64], steps: float) -> NDArray[np.int64]:
    """Centred sums of each hash's four 16-bit parts (Irwin-Hall), with ``steps`` as standard deviation.

    Overwrites its argument.
    """
    lanes = random & _LOW_LANES
    random >>= np.uint64(16)
    random &= _LOW_LANES
    lanes += random
    lanes *= _LANES_TO_TOP
    lanes >>= np.uint64(32)
    centred = lanes.view(np.int64)
    centred -= _MEAN
    centred *= round(steps / _DEVIATION * 2**_SHIFT)
    centred += 1 << (_SHIFT - 1)
    centred >>= _SHIFT
    return centred
