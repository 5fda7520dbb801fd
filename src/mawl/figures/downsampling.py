"""Fewer rows of several columns over time, with every peak and every trough of each still there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mawl.figures.series import Floats

MOST_POINTS = 800
"""Points of a series in a chart: two for each three columns of pixels of the widest chart."""


def kept_rows(
    columns: Sequence[Floats], most: int = MOST_POINTS
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rows to keep, ascending: at most ``most``, and all where there are no more.

    Rows fall into buckets of equal numbers of rows; of each bucket every column keeps its least, its
    greatest and its first missing value (NaN), as true rows: no value is made up, none moves in time.
    The first and the last row stay.  ``columns`` have one length; there is at least one.
    Raises ValueError where ``most`` cannot hold one bucket of all columns.
    """
    length = len(columns[0])
    if length <= most:
        return np.arange(length)
    buckets = (most - 2) // (3 * len(columns))
    if buckets < 1:
        raise ValueError(f"{most} rows cannot keep the peaks of {len(columns)} columns")
    starts = np.linspace(0, length, buckets + 1).astype(np.int64)
    kept = {0, length - 1}
    for column in columns:
        missing = np.isnan(column)
        low, high = np.where(missing, np.inf, column), np.where(missing, -np.inf, column)
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            kept.add(start + int(low[start:end].argmin()))
            kept.add(start + int(high[start:end].argmax()))
            kept.add(start + int(missing[start:end].argmax()))
    return np.array(sorted(kept), dtype=np.int64)
