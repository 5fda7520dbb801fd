"""A file as Arrow reads it: in requests of ``bufsize`` bytes, through the page cache or past it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from mawl.tables.direct import ALIGNMENT_BYTES, AlignedMemory, DirectIo

_PIECE_BYTES = 6 * 2**18
"""Memory that a direct pass fills before it takes another one: a batch of a MiB, and a request at each end.

Larger pieces copy less and still cost more, since they leave the processor's cache (0.28 CPU s a GB with
nine quarters of a MiB, 0.24 with these).
"""


class RequestReader:
    """A file object for Arrow that splits reads into requests of ``bufsize`` bytes.

    ``summing``: after a read, ``sum`` is that of its eight-byte words, or None where they are not
    whole.  Each request is added up while the processor's cache still holds it (half the cost).
    """

    def __init__(self, path: Path, bufsize_bytes: int, *, summing: bool = False) -> None:
        self._descriptor = self._open(path)
        self._bufsize = bufsize_bytes
        self._position = 0
        self._size = os.fstat(self._descriptor).st_size
        self._summing = summing
        self.sum: int | None = None
        self.closed = False

    def _open(self, path: Path) -> int:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, count: int = -1) -> pa.Buffer:
        if count < 0:
            count = self._size - self._position
        return self._read(max(min(count, self._size - self._position), 0))

    def _read(self, count: int) -> pa.Buffer:
        buffer = pa.allocate_buffer(count)
        view = memoryview(buffer)
        done = 0
        self.sum = 0 if self._summing and count % 8 == 0 else None
        while done < count:
            got = os.preadv(self._descriptor, [view[done : done + self._bufsize]], self._position + done)
            if got == 0:
                break
            if self.sum is not None:
                # A short read may end inside a word; then the sum is left to who has the whole.
                self.sum = None if got % 8 else self.sum + sum_of_words(buffer, got, done)
            done += got
        self._position += done
        return buffer if done == count else buffer.slice(0, done)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = offset + (0, self._position, self._size)[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def size(self) -> int:
        return self._size

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            os.close(self._descriptor)


class DirectSource(RequestReader):
    """The same past the page cache, where ``direct`` gets that.

    A pass reads each byte once, in requests that begin at multiples of ``bufsize``, one behind the other
    into a piece of ``memory``: what a request brings beyond the end of a read is there for the next one,
    and is copied only where the next piece begins.
    """

    def __init__(
        self,
        path: Path,
        bufsize_bytes: int,
        direct: DirectIo,
        memory: AlignedMemory,
        *,
        summing: bool = False,
    ) -> None:
        self._direct = direct
        self._memory = memory
        self._buffer, self._view = memory.lend(_PIECE_BYTES)
        self._begin = self._filled = 0
        """Where in the file the piece begins, and up to where it is filled."""
        request = max(bufsize_bytes // ALIGNMENT_BYTES, 1) * ALIGNMENT_BYTES
        super().__init__(path, request, summing=summing)
        self._last = -(-self._size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    def _open(self, path: Path) -> int:
        descriptor, self._is_direct = self._direct.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return descriptor

    def _read(self, count: int) -> pa.Buffer:
        start, end = self._position, self._position + count
        until = -(-end // self._bufsize) * self._bufsize
        if not self._begin <= start <= self._filled or until - self._begin > len(self._view):
            self._turn(start, until)
        at = self._filled
        while at < end:
            to = min((at // self._bufsize + 1) * self._bufsize, self._last)
            got = self._request(self._view[at - self._begin : to - self._begin], at)
            at += got
            if got == 0 or at % ALIGNMENT_BYTES:
                break  # the end of the file
        self._filled = at
        self._position = max(min(end, at), start)
        found = self._buffer.slice(start - self._begin, self._position - start)
        whole = self._summing and count % 8 == 0 and found.size == count
        self.sum = sum_of_words(found, count, 0) if whole else None
        return found

    def _turn(self, start: int, until: int) -> None:
        """Begin another piece at ``start``, with what the last one holds from there on."""
        begin = start // ALIGNMENT_BYTES * ALIGNMENT_BYTES
        kept = self._view[:0]
        if self._begin <= begin < self._filled:
            kept = self._view[begin - self._begin : self._filled - self._begin]
        self._buffer, self._view = self._memory.lend(max(until - begin, _PIECE_BYTES))
        self._view[: len(kept)] = kept
        self._begin, self._filled = begin, begin + len(kept)

    def _request(self, view: memoryview, offset: int) -> int:
        got, self._is_direct = self._direct.read(self._descriptor, view, offset, is_direct=self._is_direct)
        return got


def sum_of_words(buffer: pa.Buffer, size: int, offset: int) -> int:
    """Sum of the eight-byte words of a part of a buffer; not yet modulo 2**64."""
    return int(np.add.reduce(np.frombuffer(buffer, np.uint64, count=size // 8, offset=offset)))
