"""By-group processing of tables that come in order of a key, as matrices of (rows, columns)."""

from __future__ import annotations

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
