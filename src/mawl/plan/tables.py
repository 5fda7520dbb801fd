"""Input tables as data: columns, size at full scale, how they lie on disk."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import msgspec

from mawl.plan.columns import Column
from mawl.plan.records import RecordLayout

GB = 10**9


class InputTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that ``mawl generate`` makes and programs read.

    ``full_bytes`` is its size at scale 1.0; the size is linear in the scale, never below
    ``minimum_rows``.  ``layout``: ``arrow`` is a directory of Arrow IPC files; ``text`` is
    fixed-width records of ``record_bytes``, of the kinds in ``records``, interleaved in groups of
    ``group_rows``, in as many files as ``file_weights`` has numbers, sized in their proportion.
    A text table has no ``columns`` of its own: they are in the fields of ``records``.
    Rows come in whole groups of ``group_rows``.  ``unfilled_bytes`` is what a row takes with the
    compressibility dial at its lowest, by zstd level 1 in blocks of 128 KiB; it is measured, and
    tests/datagen/test_dial.py holds it.  ``fill_overhead_bytes`` is what filling any of it adds besides.
    """

    name: str
    full_bytes: int
    columns: tuple[Column, ...] = ()
    layout: Literal["arrow", "text"] = "arrow"
    minimum_rows: int = 2000
    group_rows: int = 1
    record_bytes: int | None = None
    records: tuple[RecordLayout, ...] = ()
    file_weights: tuple[int, ...] = (1,)
    unfilled_bytes: float = 0.0
    fill_overhead_bytes: float = 0.0

    @property
    def row_bytes(self) -> int:
        """Bytes of one row as stored."""
        return self.record_bytes or sum(column.stored_bytes for column in self.columns)

    def rows(self, scale: float) -> int:
        """Rows at a scale: linear, at least ``minimum_rows``, in whole groups."""
        # Exactly, so that tables of one population have rows for the same groups at any scale.
        rows = max(int(self.full_bytes * Fraction(scale) / self.row_bytes), self.minimum_rows)
        return max(rows // self.group_rows, 1) * self.group_rows

    def bytes(self, scale: float) -> int:
        """Bytes of values at a scale (what lies on disk is up to 1 % more, for metadata)."""
        return self.rows(scale) * self.row_bytes
