"""Input and output without copies: requests past the page cache (O_DIRECT, open(2)), and gathered writes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import mmap
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from mawl.base.errors import UnsuitableMachineError
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, mount_of, read_mounts
from mawl.records.spec.program_options import DirectMode

ALIGNMENT_BYTES = 4096
"""What offset, length and memory of direct requests are multiples of: no common device asks for more."""

_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)
_Call = Callable[[int, list[memoryview], int], int]


class DirectIo:
    """Opens a job's files as the option ``direct`` says, and counts what passed by the page cache.

    ``auto``: direct where the file system allows it; ``yes``: an error where it does not; ``no``: never.
    ``read_bytes`` and ``written_bytes`` are those of requests that were direct ones.  Several threads may
    read and write.
    """

    def __init__(self, mode: DirectMode) -> None:
        self._mode = mode
        self._counting = threading.Lock()
        self.read_bytes = 0
        self.written_bytes = 0

    def open(self, path: Path, flags: int) -> tuple[int, bool]:
        """A descriptor, and whether its requests are direct.

        Raises OSError as open(2) does, and with ``yes`` ``UnsuitableMachineError``
        where the file system refuses.
        """
        if self._mode == "no":
            return os.open(path, flags, 0o600), False
        why = _why_not(str(path.parent))
        if why is None:
            try:
                return os.open(path, flags | os.O_DIRECT, 0o600), True
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                why = (error.strerror or str(error)).lower()
                # Some file systems make the file before they refuse.
                if flags & os.O_EXCL:
                    with contextlib.suppress(FileNotFoundError):
                        path.unlink()
        self._refused(path, why)
        return os.open(path, flags, 0o600), False

    def read(self, descriptor: int, view: memoryview, offset: int, *, is_direct: bool) -> tuple[int, bool]:
        """One request: the bytes that came, and whether the descriptor is still a direct one.

        A device with larger blocks than ALIGNMENT_BYTES refuses at the first request, not at the opening;
        the descriptor goes through the page cache from then on.
        """
        got, is_direct = self._move(os.preadv, descriptor, view, offset, is_direct)
        with self._counting:
            self.read_bytes += got if is_direct else 0
        return got, is_direct

    def write(self, descriptor: int, view: memoryview, offset: int, *, is_direct: bool) -> tuple[int, bool]:
        """The same of one write: the bytes that were taken."""
        done, is_direct = self._move(os.pwritev, descriptor, view, offset, is_direct)
        with self._counting:
            self.written_bytes += done if is_direct else 0
        return done, is_direct

    def _move(
        self, call: _Call, descriptor: int, view: memoryview, offset: int, is_direct: bool
    ) -> tuple[int, bool]:
        try:
            return call(descriptor, [view], offset), is_direct
        except OSError as error:
            if not is_direct or error.errno not in _REFUSED:
                raise
            self._through_cache(descriptor, (error.strerror or str(error)).lower())
            return call(descriptor, [view], offset), False

    def _through_cache(self, descriptor: int, why: str) -> None:
        """Take O_DIRECT off a descriptor whose requests are refused; an error with ``yes``."""
        self._refused(Path(f"/proc/self/fd/{descriptor}").readlink(), why)
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_DIRECT)

    def _refused(self, path: Path, why: str) -> None:
        if self._mode == "yes":
            raise UnsuitableMachineError(
                "direct I/O is refused here, and the option direct is yes",
                where=str(path),
                why=why,
                cure="name a directory on a file system with direct I/O, or say --option direct=auto",
            )


@functools.cache
def _why_not(directory: str) -> str | None:
    """Why there can be nothing direct below a directory; None where it has to be tried.

    A file system in memory takes O_DIRECT (tmpfs since Linux 6.6) and copies from the page cache all the
    same.
    """
    mount = mount_of(directory, read_mounts())
    if mount is not None and mount.file_system in MEMORY_FILE_SYSTEMS:
        return f"{mount.file_system} lies in memory and has no device"
    return None


class AlignedMemory:
    """Buffers for direct requests, from mmap and so aligned, each used again when nothing refers to it."""

    def __init__(self) -> None:
        self._pieces: list[mmap.mmap] = []

    def lend(self, size: int) -> tuple[pa.Buffer, memoryview]:
        """An Arrow buffer of at least ``size`` bytes and a view of the same, uninitialised."""
        for place in range(len(self._pieces)):
            # The list's own and the call's: whoever holds the buffer or a view would be a third.
            if sys.getrefcount(self._pieces[place]) == 2:
                if len(self._pieces[place]) < size:
                    self._pieces[place] = mmap.mmap(-1, _rounded(size))
                break
        else:
            place = len(self._pieces)
            self._pieces.append(mmap.mmap(-1, _rounded(size)))
        piece = self._pieces[place]
        return pa.py_buffer(piece), memoryview(piece)


def _rounded(size: int) -> int:
    """Room for sizes a little larger, too: batches of one table differ by their metadata."""
    return max(-(-size // 2**18), 1) * 2**18


_SEGMENTS = 512
"""Pieces of one gathered write; Linux takes up to 1024 (IOV_MAX)."""


class _Frame(msgspec.Struct, frozen=True):
    """What stands around the bodies: before the first batch, before each, and after the last."""

    head: bytes
    full: bytes
    last: bytes
    tail: bytes


class GatheredWriter:
    """Writes an Arrow file of ``rows`` rows, byte for byte as Arrow does, with gathered writes.

    All of an uncompressed file but its bodies is known from the schema and the numbers of rows.  Arrow
    makes that frame once; the columns then go to the kernel without a copy.  At a generator's speed the
    copies and calls per column of Arrow's own writer are a third of all CPU time.
    Batches have ``rows_per_batch`` rows, the last one what is left.

    Columns are contiguous float64 or ``S<width>`` arrays, widths multiples of eight, in the order of
    ``schema``.  A request has at most ``bufsize_bytes`` and ends at a multiple of it in the file, unless it
    is the last of a ``write`` or has 512 pieces before.  After ``close``, ``bytes`` is the size of
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
        self._add(memoryview(self._frame.tail))
        self._flush()
        self.abandon()

    def abandon(self) -> None:
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
