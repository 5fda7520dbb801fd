"""Columns of samples in memory, in as few bytes as their differences need; every value stays equal.

Counters of the kernel are whole numbers of a unit (sectors, bytes, ticks, milliseconds, nanoseconds), and
within a second they grow by little: the difference to the value before fits into one, two or four bytes where
the value itself takes eight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]

CHUNK_VALUES = 2048
"""At least so many values are packed at a time; those that are not packed yet take eight bytes each."""

_TRIED_VALUES = 16
"""So many values tell most units that do not fit."""

_EXACT = 2.0**53
"""Whole numbers below this are exact as floats."""


class _Unit(NamedTuple):
    """A unit of the kernel, ``per_value`` of which are a value of 1.

    Some readers of the kernel's files divide by that number, others multiply by its inverse.  The results
    differ in the last bit.
    """

    per_value: float
    divided: bool

    def values(self, wholes: Wholes) -> Floats:
        floats = wholes.astype(np.float64)
        return floats / self.per_value if self.divided else floats * (1.0 / self.per_value)

    def wholes(self, values: Floats) -> Wholes | None:
        """Values as whole numbers of the unit; None if the unit does not fit every value."""
        with np.errstate(over="ignore"):
            rounded = np.rint(values * self.per_value)
        if not np.abs(rounded).max() < _EXACT:
            return None
        found = rounded.astype(np.int64)
        return found if np.array_equal(self.values(found), values) else None


_UNITS = (
    _Unit(1 / 512, divided=True),
    _Unit(1.0, divided=True),
    *(_Unit(per_value, divided) for per_value in (1e3, 1e2, 1e6, 1e9) for divided in (True, False)),
)
"""Sectors of 512 bytes, whole numbers, milliseconds, ticks, microseconds, nanoseconds."""


class _Packed(NamedTuple):
    """Values of a chunk: the first as a whole number, and each difference to the one before."""

    first: int
    differences: NDArray[np.signedinteger]
    unit: _Unit

    def values(self) -> Floats:
        wholes = np.empty(len(self.differences) + 1, dtype=np.int64)
        wholes[0] = self.first
        np.cumsum(self.differences, dtype=np.int64, out=wholes[1:])
        wholes[1:] += self.first
        return self.unit.values(wholes)


class PackedColumn:
    """Numbers in order, any floats; ``values`` gives back what was added (a negative zero as 0)."""

    def __init__(self) -> None:
        self._chunks: list[_Packed | Floats] = []
        self._waiting = bytearray()
        self._units: tuple[_Unit, ...] = _UNITS
        """Units to try; the one that fitted last is the first."""
        self.is_finite = True
        """Whether all packed values are numbers."""

    def __len__(self) -> int:
        return sum(map(_values_in, self._chunks)) + len(self._waiting) // 8

    @property
    def nbytes(self) -> int:
        packed = (chunk.differences if isinstance(chunk, _Packed) else chunk for chunk in self._chunks)
        return sum(one.nbytes for one in packed) + len(self._waiting)

    def extend(self, values: Floats) -> None:
        self._waiting.extend(values.data)
        if len(self._waiting) >= 8 * CHUNK_VALUES:
            self.pack()

    def pack(self) -> None:
        if not self._waiting:
            return
        values = np.frombuffer(self._waiting)
        self._waiting = bytearray()
        chunk = self._chunk(values)
        if isinstance(chunk, np.ndarray):
            self.is_finite = self.is_finite and bool(np.isfinite(chunk).all())
        self._chunks.append(chunk)

    def values(self) -> Floats:
        parts = [chunk.values() if isinstance(chunk, _Packed) else chunk for chunk in self._chunks]
        if self._waiting:
            parts.append(np.frombuffer(bytes(self._waiting)))
        return np.concatenate(parts) if parts else np.empty(0)

    def _chunk(self, values: Floats) -> _Packed | Floats:
        """The values packed; a copy of them if no unit fits, or if packing saves nothing."""
        for unit in self._units:
            if unit.wholes(values[:_TRIED_VALUES]) is None or (wholes := unit.wholes(values)) is None:
                continue
            differences = np.diff(wholes)
            largest = int(np.abs(differences).max(initial=0))
            for kind in (np.int8, np.int16, np.int32):
                if largest <= np.iinfo(kind).max:
                    self._units = (unit, *_UNITS)
                    return _Packed(int(wholes[0]), differences.astype(kind), unit)
        return values.copy()  # a buffer that grows has room to spare


def _values_in(chunk: _Packed | Floats) -> int:
    return len(chunk.differences) + 1 if isinstance(chunk, _Packed) else len(chunk)
