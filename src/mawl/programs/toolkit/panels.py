"""Tables whose rows come in groups, one behind the other: whole blocks, and what lies within a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.tables import arrow

Numbers = NDArray[np.float64]
Block = dict[str, Numbers]


def blocks(batches: Iterable[pa.RecordBatch], names: Sequence[str], sizes: Iterable[int]) -> Iterator[Block]:
    """Numeric columns of so many rows at a time, as :func:`reblocked` has them."""
    pieces = ([arrow.numbers(batch.column(name)) for name in names] for batch in batches)
    for block in reblocked(pieces, sizes):
        yield dict(zip(names, block, strict=True))


def even_blocks(columns: Iterable[Numbers], rows: int, block_rows: int) -> Iterator[Numbers]:
    """The same ``rows`` rows, that come as (columns, rows), in blocks of even size near ``block_rows``."""
    count = max(rows // block_rows, 1)
    return reblocked(columns, (rows * (place + 1) // count - rows * place // count for place in range(count)))


def reblocked(pieces: Iterable[Sequence[Numbers] | Numbers], sizes: Iterable[int]) -> Iterator[Numbers]:
    """Rows that come as columns (rows,), so many at a time as ``sizes`` say: (columns, size).

    The last block may be shorter; ``sizes`` must have enough for all rows, and may go on for ever.
    """
    wanted = iter(sizes)
    block, filled = np.empty((0, 0)), 0
    for columns in pieces:
        done, rows = 0, len(columns[0])
        while done < rows:
            if filled == block.shape[1]:
                block, filled = np.empty((len(columns), next(wanted, 1))), 0
            some = min(block.shape[1] - filled, rows - done)
            for place, column in enumerate(columns):
                block[place, filled : filled + some] = column[done : done + some]
            filled, done = filled + some, done + some
            if filled == block.shape[1]:
                yield block
    if filled < block.shape[1]:
        yield block[:, :filled]


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
