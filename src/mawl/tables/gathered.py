"""Arrow IPC files written from NumPy columns with gathered writes, byte for byte as Arrow writes them.

All of an uncompressed file but its bodies is known from the schema and the numbers of rows.  Arrow makes
that frame once; the columns then go from where they were computed to the kernel without a copy.  At a
generator's speed the copies and calls per column of Arrow's own writer are a third of all CPU time.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

_SEGMENTS = 512
"""Pieces of one gathered write; Linux takes up to 1024 (IOV_MAX)."""


class _Frame(msgspec.Struct, frozen=True):
    """What stands around the bodies: before the first batch, before each, and after the last."""

    head: bytes
    full: bytes
    last: bytes
    tail: bytes


class GatheredWriter:
    """Writes ``rows`` rows to one file in batches of ``rows_per_batch``, the last one what is left.

    Columns are contiguous float64 or ``S<width>`` arrays, widths multiples of eight, in the order of
    ``schema``.  A request has at most ``bufsize_bytes`` and ends at a multiple of it in the file, unless it
    is the last of a :meth:`write` or has 512 pieces before.  After :meth:`close`, ``bytes`` is the size of
    the file.  Raises OSError if a write fails.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, *, rows: int, rows_per_batch: int, bufsize_bytes: int
    ) -> None:
        self.bytes = 0
        self._rows_left, self._rows_per_batch, self._bufsize = rows, rows_per_batch, bufsize_bytes
        self._request = bufsize_bytes
        self._frame = _frame(schema, rows, rows_per_batch)
        self._pieces: list[memoryview] = []
        self._pending = 0
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._add(memoryview(self._frame.head))

    def write(self, columns: Sequence[NDArray[np.generic]]) -> None:
        """Append rows, whole batches unless they are the last; the arrays may change afterwards."""
        count = len(columns[0])
        views = [(column.view(np.uint8).data, column.dtype.itemsize) for column in columns]
        for start in range(0, count, self._rows_per_batch):
            rows = min(self._rows_per_batch, count - start)
            self._rows_left -= rows
            full = rows == self._rows_per_batch
            if self._rows_left < 0 or not (full or self._rows_left == 0):
                raise ValueError(f"{rows} rows do not fit the batches, {self._rows_left} are left")
            self._add(memoryview(self._frame.full if full else self._frame.last))
            for view, width in views:
                self._add(view[start * width : (start + rows) * width])
        self._flush()

    def close(self) -> None:
        """Write the footer."""
        self._add(memoryview(self._frame.tail))
        self._flush()
        self.abandon()

    def abandon(self) -> None:
        """Let the file go as it is."""
        os.close(self._descriptor)

    def _add(self, piece: memoryview) -> None:
        if self._pending + len(piece) < self._request and len(self._pieces) < _SEGMENTS - 1:
            self._pieces.append(piece)
            self._pending += len(piece)
            return
        while len(piece) > 0:
            room = self._request - self._pending
            self._pieces.append(piece[:room])
            self._pending += len(self._pieces[-1])
            piece = piece[room:]
            if self._pending == self._request or len(self._pieces) == _SEGMENTS:
                self._flush()

    def _flush(self) -> None:
        if not self._pieces:
            return
        written = os.writev(self._descriptor, self._pieces)
        if written < self._pending:
            # A short write, most often just before the disk is full: the rest says so or succeeds.
            rest = memoryview(b"".join(self._pieces))[written:]
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        self.bytes += self._pending
        self._pieces, self._pending = [], 0
        # Up to a multiple of the size: the kernel takes large pieces of memory (folios) only where they
        # are aligned in the file.
        self._request = self._bufsize - self.bytes % self._bufsize


class _Recorder:
    """A file object that keeps what was written since it was last asked, while it is to keep it."""

    def __init__(self) -> None:
        self.closed = False
        self.keeping = True
        self._position = 0
        self._written: list[bytes] = []

    def write(self, piece: pa.Buffer | bytes) -> int:
        if self.keeping:
            self._written.append(bytes(piece))
        self._position += len(piece)
        return len(piece)

    def take(self) -> bytes:
        """What was written since the last call."""
        written, self._written = b"".join(self._written), []
        return written

    def tell(self) -> int:
        return self._position

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


@functools.lru_cache(maxsize=8)
def _frame(schema: pa.Schema, rows: int, rows_per_batch: int) -> _Frame:
    """The frame of a file, from Arrow itself writing one of zeros."""
    recorder = _Recorder()
    full, last = _zeros(schema, rows_per_batch), _zeros(schema, rows % rows_per_batch)
    first = full if rows >= rows_per_batch else last
    with ipc.new_file(pa.PythonFile(recorder, "w"), schema) as writer:
        writer.write_batch(first)
        head = recorder.take()
        recorder.keeping = False
        for _ in range(1, rows // rows_per_batch):
            writer.write_batch(full)
        if last.num_rows and first is full:
            writer.write_batch(last)
        recorder.keeping = True
    return _Frame(
        head=head[: -first.serialize().size],
        full=_before_body(full),
        last=_before_body(last),
        tail=recorder.take(),
    )


def _before_body(batch: pa.RecordBatch) -> bytes:
    message: bytes = batch.serialize().to_pybytes()
    return message[: len(message) - batch.nbytes]


def _zeros(schema: pa.Schema, rows: int) -> pa.RecordBatch:
    # From buffers: with its first NumPy array PyArrow imports pandas, 0.2 CPU seconds in each process.
    columns = [
        pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(bytes(rows * kind.bit_width // 8))])
        for kind in schema.types
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
