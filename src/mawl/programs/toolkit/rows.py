"""Row-major records: how sorts and joins keep rows in memory and in files under util.

A record is all columns of a row one behind the other, in eight-byte words.  Such files need no
metadata, so that thousands of small appends cost no more bytes than the rows themselves.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError
from mawl.plan.columns import Field, RecordLayout
from mawl.programs.tables import arrow
from mawl.programs.tables.arrow import BATCH_BYTES

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


Text = NDArray[np.uint8]
_NEWLINE = 10
_ZERO = 48


def read_records(path: Path, record_bytes: int, *, bufsize_bytes: int) -> Iterator[Text]:
    """A file's records, about a MiB at a time, as (records, record_bytes), in requests of bufsize.

    Raises ``DamagedTableError`` where the file does not hold whole records, each
    ended by a newline.
    """
    step = max(BATCH_BYTES // record_bytes, 1) * record_bytes
    with open(path, "rb", buffering=0) as file:
        while True:
            chunk = np.empty(step, np.uint8)
            view = chunk.data
            done = 0
            while done < step:
                got = file.readinto(view[done : min(done + bufsize_bytes, step)])
                if not got:
                    break
                done += got
            if not done:
                return
            if done % record_bytes:
                raise DamagedTableError("ends inside a record", where=str(path), cure="run mawl generate")
            text = chunk[:done].reshape(-1, record_bytes)
            if not (text[:, -1] == _NEWLINE).all():
                raise DamagedTableError("holds a record without its newline", where=str(path))
            yield text


def read_texts(paths: Iterable[Path], record_bytes: int, *, bufsize_bytes: int) -> Iterator[Text]:
    """The records of several files, one after another, as ``read_records`` has them."""
    for path in paths:
        yield from read_records(path, record_bytes, bufsize_bytes=bufsize_bytes)


class RecordParser:
    """Makes record batches of one kind of record: whole numbers as int64, characters as they are."""

    def __init__(self, layout: RecordLayout) -> None:
        self._layout = layout
        self.records = Records(
            pa.schema(
                [
                    (field.column.name, pa.int64() if field.column.width is None else pa.binary(field.width))
                    for field in layout.fields
                ]
            )
        )

    def owns(self, text: Text) -> NDArray[np.bool_]:
        return np.equal(text[:, 0], ord(self._layout.kind))

    def parse(self, text: Text) -> pa.RecordBatch:
        """The record batch of records that are all of this kind.

        Raises ``DamagedTableError`` for another kind, or where a digit should be.
        """
        rows = len(text)
        if not self.owns(text).all():
            raise DamagedTableError(f"expected a record of kind {self._layout.kind}, found another letter")
        body = np.empty(rows * self.records.words, np.uint64)
        # By column: each digit of all records then lies side by side, and parsing is plain arithmetic.
        by_place = np.ascontiguousarray(text.T)
        for field in self._layout.fields:
            start = self.records.starts[field.column.name] * rows
            if field.column.width is None:
                self._number(field, by_place, body[start : start + rows].view(np.int64))
            else:
                target = body[start : start + rows * field.width // 8].view(np.uint8)
                target.reshape(rows, field.width)[...] = text[:, field.start : field.start + field.width]
        return self.records.from_body(body, rows)

    def _number(self, field: Field, by_place: Text, into: NDArray[np.int64]) -> None:
        digits = by_place[field.start : field.start + field.width] - np.uint8(_ZERO)
        # Other bytes wrap around to more than nine.
        if digits.max(initial=0) > 9:
            raise DamagedTableError(f"expected digits in field {field.column.name}, found another character")
        # 32 bits hold nine digits and are twice as fast to add up.
        number = digits[0].astype(np.int64 if field.width > 9 else np.int32)
        for digit in digits[1:]:
            number *= 10
            number += digit
        into[...] = number
