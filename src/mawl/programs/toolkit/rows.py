"""Row-major records: how sorts and joins keep rows in memory and in files under util.

A record is all columns of a row one behind the other, in eight-byte words.  Such files need no
metadata, so that thousands of small appends cost no more bytes than the rows themselves.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.tables import arrow

Words = NDArray[np.uint64]


def memory(rows: int, words: int) -> Words:
    """Uninitialised records, as (rows, words), in memory that goes back to the system when dropped.

    What the C library hands out may stay with the process after it is freed; at sizes near sort
    memory that would count twice in a job's peak.
    """
    if rows == 0:
        return np.empty((0, words), np.uint64)
    return np.frombuffer(mmap.mmap(-1, rows * words * 8), np.uint64).reshape(rows, words)


class Records:
    """The record of a table's rows, or of some of its columns.

    ``words`` is the length of a record in eight-byte words.  Raises ValueError for a
    column that is no multiple of eight bytes wide.
    """

    def __init__(self, schema: pa.Schema) -> None:
        odd = [name for name, kind in zip(schema.names, schema.types, strict=True) if kind.bit_width % 64]
        if odd:
            raise ValueError(f"columns {odd} are no multiple of eight bytes wide")
        self.schema = schema
        self.widths = [kind.bit_width // 64 for kind in schema.types]
        starts = np.cumsum([0, *self.widths])
        self.starts = dict(zip(schema.names, map(int, starts), strict=False))
        self.words = int(starts[-1])
        self.bytes = self.words * 8
        self._runs = _runs(self.widths)
        # Where word w of row r stands in a batch's body: bases[w] * rows + places[w] + r * strides[w].
        self._strides = np.repeat(self.widths, self.widths)
        self._bases = np.repeat(starts[:-1], self.widths)
        self._places = np.arange(self.words) - self._bases

    def project(self, names: Sequence[str]) -> Records:
        return Records(pa.schema([self.schema.field(name) for name in names]))

    def fill(self, batch: pa.RecordBatch, into: Words) -> None:
        """Write a batch's rows into ``into`` (rows, words); the batch may have more columns."""
        if batch.num_columns == len(self.widths):
            body = arrow.body_words(batch, self.bytes)
            if body is not None:
                self._transpose(body, into)
                return
        for name, width in zip(self.schema.names, self.widths, strict=True):
            start = self.starts[name]
            into[:, start : start + width] = arrow.words(batch.column(name)).reshape(-1, width)

    def batch(self, records: Words) -> pa.RecordBatch:
        """The record batch of (rows, words) records, its columns in one piece of memory."""
        rows = len(records)
        body = np.empty(rows * self.words, np.uint64)
        for start, count, width in self._runs:
            columns = body[start * rows : (start + count * width) * rows].reshape(count, rows, width)
            source = records[:, start : start + count * width].reshape(rows, count, width)
            columns[...] = source.transpose(1, 0, 2)
        return self.from_body(body, rows)

    def from_body(self, body: Words, rows: int) -> pa.RecordBatch:
        """A record batch over words that lie column after column, without a copy."""
        whole = pa.py_buffer(body)
        arrays, offset = [], 0
        for kind, width in zip(self.schema.types, self.widths, strict=True):
            size = rows * width * 8
            arrays.append(pa.Array.from_buffers(kind, rows, [None, whole.slice(offset, size)]))
            offset += size
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def numbers(self, records: Words, name: str) -> NDArray[np.float64]:
        """A numeric column of records as floats; without a copy unless it is of integers."""
        column = records[:, self.starts[name]]
        if pa.types.is_integer(self.schema.field(name).type):
            return column.view(np.int64).astype(np.float64)
        return column.view(np.float64)

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        widths = dict(zip(self.schema.names, self.widths, strict=True))
        return np.concatenate([self.starts[name] + np.arange(widths[name]) for name in names])

    def pick(self, batch: pa.RecordBatch, rows: NDArray[np.integer]) -> Words:
        """Some rows of a batch that ``read_batches`` read, as (rows, words)."""
        body = arrow.body_words(batch, self.bytes)
        if body is None:
            taken = np.empty((batch.num_rows, self.words), np.uint64)
            self.fill(batch, taken)
            chosen: Words = taken[rows]
            return chosen
        places = self._bases * batch.num_rows + self._places + rows[:, None] * self._strides
        picked: Words = np.take(body, places)
        return picked

    def name_at(self, word: int) -> str:
        return str(
            self.schema.names[int(np.searchsorted(list(self.starts.values()), word, side="right")) - 1]
        )

    def words_of(self, records: Words, name: str) -> Words:
        """A numeric column of records as words, without a copy."""
        return records[:, self.starts[name]]

    def _transpose(self, body: Words, into: Words) -> None:
        rows = len(into)
        for start, count, width in self._runs:
            columns = body[start * rows : (start + count * width) * rows].reshape(count, rows, width)
            target = into[:, start : start + count * width].reshape(rows, count, width)
            target[...] = columns.transpose(1, 0, 2)


def _runs(widths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Runs of neighbouring columns of one width, as (first word, columns, words each)."""
    runs: list[tuple[int, int, int]] = []
    start = 0
    for width in widths:
        if runs and runs[-1][2] == width:
            first, count, _ = runs[-1]
            runs[-1] = (first, count + 1, width)
        else:
            runs.append((start, 1, width))
        start += width
    return runs
