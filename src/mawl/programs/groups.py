"""By-group processing of tables that come in order of a key, as matrices of (rows, columns)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.tables import arrow

Numbers = NDArray[np.float64]


def group_means(rows: Numbers) -> Numbers:
    """Means of all columns by the first one, in whose order the rows are."""
    if not len(rows):
        return rows
    starts = np.concatenate(([0], np.flatnonzero(np.diff(rows[:, 0])) + 1))
    counts = np.diff([*starts, len(rows)])
    # Sums of whole numbers are exact; the one division is exactly rounded.
    means: Numbers = np.add.reduceat(rows, starts, axis=0) / counts[:, None]
    return means


def rows_of(batch: pa.RecordBatch) -> Numbers:
    """A batch of numerics as (rows, columns)."""
    return np.stack([arrow.numbers(column) for column in batch.columns], axis=1)


def as_batch(rows: Numbers, schema: pa.Schema) -> pa.RecordBatch:
    """The batch of (rows, columns)."""
    return pa.RecordBatch.from_arrays([arrow.array(column) for column in rows.T], schema=schema)


def whole_groups(
    batches: Iterator[pa.RecordBatch], names: Sequence[str], rows: int
) -> Iterator[dict[str, Numbers]]:
    """Columns of ``rows`` rows at a time (at the end fewer), which is a multiple of a group's."""
    block = np.empty((len(names), rows))
    filled = 0
    for batch in batches:
        columns = [arrow.numbers(batch.column(name)) for name in names]
        done = 0
        while done < batch.num_rows:
            some = min(rows - filled, batch.num_rows - done)
            for place, column in enumerate(columns):
                block[place, filled : filled + some] = column[done : done + some]
            filled, done = filled + some, done + some
            if filled == rows:
                yield dict(zip(names, block, strict=True))
                block = np.empty((len(names), rows))
                filled = 0
    if filled:
        yield dict(zip(names, block[:, :filled], strict=True))
