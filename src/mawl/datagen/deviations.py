"""Deviations that are nearly normal, in whole numbers: Irwin-Hall sums of four uniforms."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_LOW_LANES = np.uint64(0x0000_FFFF_0000_FFFF)
_LANES_TO_TOP = np.uint64(0x0000_0001_0000_0001)
_MEAN = 2 * 0xFFFF
_DEVIATION = math.sqrt(4 * (2**32 - 1) / 12)
_SHIFT = 24


def deviations(random: NDArray[np.uint64], steps: float) -> NDArray[np.int64]:
    """Centred sums of each hash's four 16-bit parts, with ``steps`` as their standard deviation.

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
