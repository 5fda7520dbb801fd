"""Tables whose rows come in groups, one behind the other: whole blocks, and what lies within a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.tables import arrow

Numbers = NDArray[np.float64]
Block = dict[str, Numbers]


def blocks(batches: Iterable[pa.RecordBatch], names: list[str], sizes: Iterable[int]) -> Iterator[Block]:
    """Numeric columns of so many rows at a time as ``sizes`` say, however long the batches are.

    The last block may be shorter; ``sizes`` must have enough for all rows, and may go on for ever.
    """
    wanted = iter(sizes)
    size = next(wanted)
    block, filled = np.empty((len(names), size)), 0
    for batch in batches:
        columns = [arrow.numbers(batch.column(name)) for name in names]
        done = 0
        while done < batch.num_rows:
            some = min(size - filled, batch.num_rows - done)
            for place, column in enumerate(columns):
                block[place, filled : filled + some] = column[done : done + some]
            filled, done = filled + some, done + some
            if filled == size:
                yield dict(zip(names, block, strict=True))
                size = next(wanted, 1)
                block, filled = np.empty((len(names), size)), 0
    if filled:
        yield dict(zip(names, block[:, :filled], strict=True))


def sizes_of(groups: int, per_block: int) -> list[int]:
    """Groups of each block: ``per_block``, and of the last one what is left, up to twice as many."""
    whole = max(groups // per_block, 1)
    return [per_block] * (whole - 1) + [groups - per_block * (whole - 1)]


def between(values: Numbers, group_rows: int) -> Numbers:
    """The mean of each row's group: (rows,)."""
    return np.repeat(values.reshape(-1, group_rows).mean(axis=1), group_rows)


def before(values: Numbers, group_rows: int, first: float | None = None) -> Numbers:
    """The value of the row before in its group; of a group's first row ``first``, or its own: (rows,)."""
    by_group = values.reshape(-1, group_rows)
    found = np.empty_like(by_group)
    found[:, 1:] = by_group[:, :-1]
    found[:, 0] = by_group[:, 0] if first is None else first
    return found.reshape(-1)


def so_far(values: Numbers, group_rows: int) -> Numbers:
    """The sum over the rows before in its group, and the row itself: (rows,)."""
    return np.cumsum(values.reshape(-1, group_rows), axis=1).reshape(-1)
