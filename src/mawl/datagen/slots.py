"""How a table is cut into parts: which rows, into which file, at what offset.

A part is what one process makes at a time and what a continued generation keeps: about 64 MB, large
beside the cost of handing it out, small beside what a kill may lose.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from mawl.plan.tables import InputTable
from mawl.tables.arrow import batch_rows

PART_BYTES = 64 * 10**6
CHUNK_ROWS = 16_384
"""Rows made at a time: their columns fit a second-level cache, and NumPy's cost per call is small."""


class RowSlot(msgspec.Struct, frozen=True, kw_only=True):
    """Rows ``start`` to ``start + rows`` belong to ``file``, from byte ``offset`` on.

    ``bytes`` are those of the values: exact in a text table, without metadata in an Arrow table.
    """

    file: str
    start: int
    rows: int
    offset: int
    bytes: int


def slots(table: InputTable, rows: int) -> list[RowSlot]:
    """The parts of a table of so many rows, in the order of rows."""
    return list(_text_slots(table, rows) if table.layout == "text" else _arrow_slots(table, rows))


def part_rows(table: InputTable) -> int:
    """Rows of every part but the last of a file: whole batches, or an even number of groups."""
    unit = batch_rows(table.row_bytes) if table.layout == "arrow" else 2 * table.group_rows
    return max(PART_BYTES // (unit * table.row_bytes), 1) * unit


def chunk_rows(table: InputTable) -> int:
    """Rows made at a time, likewise whole batches or an even number of groups."""
    unit = batch_rows(table.row_bytes) if table.layout == "arrow" else 2 * table.group_rows
    return max(CHUNK_ROWS // unit, 1) * unit


def _arrow_slots(table: InputTable, rows: int) -> Iterator[RowSlot]:
    step = part_rows(table)
    for number, start in enumerate(range(0, rows, step)):
        count = min(step, rows - start)
        yield RowSlot(
            file=f"part-{number:05d}.arrow", start=start, rows=count, offset=0, bytes=count * table.row_bytes
        )


def _text_slots(table: InputTable, rows: int) -> Iterator[RowSlot]:
    step = part_rows(table)
    start = 0
    for number, groups in enumerate(_groups_by_file(table, rows // table.group_rows), 1):
        stop = start + groups * table.group_rows
        for first in range(start, stop, step):
            count = min(step, stop - first)
            yield RowSlot(
                file=f"state-{number:02d}.txt",
                start=first,
                rows=count,
                offset=(first - start) * table.row_bytes,
                bytes=count * table.row_bytes,
            )
        start = stop


def _groups_by_file(table: InputTable, groups: int) -> list[int]:
    """Groups of each file: one, and of the rest a share by its weight."""
    weights = table.file_weights
    spare, total = groups - len(weights), sum(weights)
    if spare < 0:
        raise ValueError(f"{table.name} has fewer groups than files: {groups} and {len(weights)}")
    bounds = [spare * weight // total for weight in itertools.accumulate(weights, initial=0)]
    return [1 + upper - lower for lower, upper in itertools.pairwise(bounds)]
