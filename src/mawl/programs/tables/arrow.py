"""Arrow IPC tables, written and read sequentially in requests of at most ``bufsize`` bytes.

Numerics are eight-byte floats or integers, character columns blank-padded fixed-size binaries
whose width is a multiple of eight, so that ``column_sums`` can add them word by word.
A table is a directory of ``part-NNNNN.arrow`` files, or one such file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from mawl.base.errors import DamagedTableError
from mawl.programs.tables.direct import ALIGNMENT_BYTES, AlignedMemory, DirectIo

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


BATCH_BYTES = 2**20
"""Target size of a record batch: small beside any memory limit, large beside its metadata."""

Sums = dict[str, int]

_ONE_THREAD = ipc.IpcReadOptions(use_threads=False)


def batch_rows(row_bytes: int) -> int:
    """Rows of a record batch for a row width: about BATCH_BYTES, a multiple of 8, at least 8."""
    return max(BATCH_BYTES // row_bytes // 8 * 8, 8)


def word_sum(numbers: NDArray[np.generic]) -> int:
    """Sum of the eight-byte words of contiguous values, modulo 2**64."""
    return int(np.add.reduce(numbers.reshape(-1).view(np.uint64), dtype=np.uint64))


def column_sums(batch: pa.RecordBatch) -> Sums:
    """Sum of each column's eight-byte words, modulo 2**64: the same in whatever order rows come."""
    return {
        name: int(np.add.reduce(words(column), dtype=np.uint64))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def row_bytes(schema: pa.Schema) -> int:
    """Bytes of values in one row."""
    return sum(kind.bit_width // 8 for kind in schema.types)


def body_words(batch: pa.RecordBatch, width: int) -> NDArray[np.uint64] | None:
    """All words of a batch, column after column, when they lie in one piece; else None.

    ``width`` is the ``row_bytes`` of the schema.  A batch that ``read_batches`` yields
    does: it is the end of the one buffer that was read, without padding between columns whose
    values are whole words.
    """
    first = batch.column(0)
    start = first.buffers()[1]
    whole = start.parent
    size = len(first) * width
    if (
        whole is None
        or first.offset
        or start.size != len(first) * first.type.bit_width // 8
        or start.address + size != whole.address + whole.size
    ):
        return None
    return np.frombuffer(whole, dtype=np.uint64, count=size // 8, offset=whole.size - size)


def body_sum(batch: pa.RecordBatch, width: int) -> int:
    """Sum of all eight-byte words of a batch, modulo 2**64: the sum of its ``column_sums``.

    ``width`` is the ``row_bytes`` of the schema.  A batch in one piece (``body_words``) is
    added at once, in 20 to 80 us a MB.
    """
    body = body_words(batch, width)
    if body is None:
        return sum(column_sums(batch).values()) & 0xFFFF_FFFF_FFFF_FFFF
    return int(np.add.reduce(body, dtype=np.uint64))


def add_sums(into: Sums, more: Mapping[str, int]) -> None:
    """Add checksums in place, modulo 2**64."""
    for name, value in more.items():
        into[name] = (into.get(name, 0) + value) & 0xFFFF_FFFF_FFFF_FFFF


def words(column: pa.Array) -> NDArray[np.uint64]:
    """A column's values as eight-byte words, without a copy."""
    width = column.type.bit_width // 8
    return np.frombuffer(
        column.buffers()[1], dtype=np.uint64, count=len(column) * width // 8, offset=column.offset * width
    )


def values(column: pa.Array) -> NDArray[np.generic]:
    """A column's values without a copy: float64/int64, or ``S<width>`` for character columns."""
    if pa.types.is_fixed_size_binary(column.type):
        width = column.type.byte_width
        return np.frombuffer(
            column.buffers()[1], dtype=f"S{width}", count=len(column), offset=column.offset * width
        )
    return column.to_numpy(zero_copy_only=True)  # type: ignore[no-any-return]


def numbers(column: pa.Array) -> NDArray[np.float64]:
    """The values of an eight-byte float column, without a copy."""
    return column.to_numpy(zero_copy_only=True)  # type: ignore[no-any-return]


def array(numbers: NDArray[np.generic]) -> pa.Array:
    """An Arrow array over a NumPy array without a copy; ``S<width>`` becomes fixed-size binary."""
    if numbers.dtype.kind == "S":
        kind = pa.binary(numbers.dtype.itemsize)
        return pa.FixedSizeBinaryArray.from_buffers(
            kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers).view(np.uint8))]
        )
    return pa.array(np.ascontiguousarray(numbers))


class TableWriter:
    """Writes record batches to one Arrow IPC file in requests of about ``bufsize`` bytes.

    After ``close``: ``rows``, ``bytes`` (size of the file) and ``sums``
    (``column_sums`` of all that was written; empty unless ``checksum``).
    """

    def __init__(self, path: Path, schema: pa.Schema, *, bufsize_bytes: int, checksum: bool = False) -> None:
        self.path = path
        self.rows = 0
        self.bytes = 0
        self.sums: Sums = {}
        self._checksum = checksum
        self._sink = pa.BufferedOutputStream(pa.OSFile(str(path), "wb"), bufsize_bytes)
        self._writer = ipc.new_file(self._sink, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append one batch; its schema must be the file's."""
        self._writer.write_batch(batch)
        self.rows += batch.num_rows
        if self._checksum:
            add_sums(self.sums, column_sums(batch))

    def close(self) -> None:
        self._writer.close()
        self.bytes = self._sink.tell()
        self._sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            # The disk may be full: a second error on closing must not hide the first.
            with contextlib.suppress(OSError, pa.ArrowException):
                self._sink.close()


def parts(table: Path) -> list[Path]:
    """The files of a table: itself, or the parts of its directory in order."""
    if table.is_file():
        return [table]
    # Past the hundred thousandth part names get longer.
    found = sorted(table.glob("part-*.arrow"), key=lambda path: (len(path.name), path.name))
    if not found:
        raise DamagedTableError("table has no parts", where=str(table), cure="run mawl generate")
    return found


def read_batches(
    table: Path,
    *,
    bufsize_bytes: int,
    total: Callable[[int, int], None] | None = None,
    direct: DirectIo | None = None,
    every: int = 1,
) -> Iterator[pa.RecordBatch]:
    """Every record batch of a table in order (of each file the first and each ``every``-th after it).

    The files are opened afresh.
    ``total`` is called with the rows and the ``body_sum`` of each batch before it is yielded.
    ``direct``: past the page cache, as far as that gets it; the memory of a batch is used again when
    nobody refers to the batch any more.

    Raises ``DamagedTableError`` where a file is truncated or is no Arrow file.
    """
    memory = AlignedMemory()
    for path in parts(table):
        summing = total is not None
        source = (
            RequestReader(path, bufsize_bytes, summing=summing)
            if direct is None
            else DirectSource(path, bufsize_bytes, direct, memory, summing=summing)
        )
        try:
            with ipc.open_file(pa.PythonFile(source, mode="r"), options=_ONE_THREAD) as reader:
                width = row_bytes(reader.schema)
                for number in range(0, reader.num_record_batches, every):
                    batch = reader.get_batch(number)
                    if total is not None:
                        total(batch.num_rows, _sum_as_read(batch, width, source.sum))
                    yield batch
        except (pa.ArrowInvalid, pa.ArrowSerializationError, pa.ArrowKeyError) as error:
            raise DamagedTableError(
                "cannot be read as an Arrow file", where=str(path), why=str(error).splitlines()[0]
            ) from None
        finally:
            source.close()


def sample_batches(
    table: Path, columns: Sequence[str], batches: int, *, bufsize_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Some columns of about ``batches`` record batches, spread evenly over a table.

    Only the bytes of these columns are read (and each visited part's footer).
    """
    found = parts(table)
    chosen: dict[int, list[float]] = {}
    for number in range(batches):
        position = (number + 0.5) / batches * len(found)
        chosen.setdefault(int(position), []).append(position % 1.0)
    for part, places in chosen.items():
        source = RequestReader(found[part], bufsize_bytes)
        try:
            schema = ipc.open_file(pa.PythonFile(source, mode="r")).schema
            options = ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in columns])
            with ipc.open_file(pa.PythonFile(source, mode="r"), options=options) as reader:
                count = reader.num_record_batches
                for number in sorted({int(place * count) for place in places}):
                    yield reader.get_batch(number)
        except (pa.ArrowInvalid, pa.ArrowSerializationError, pa.ArrowKeyError) as error:
            raise DamagedTableError(
                "cannot be read as an Arrow file", where=str(found[part]), why=str(error).splitlines()[0]
            ) from None
        finally:
            source.close()


def _sum_as_read(batch: pa.RecordBatch, width: int, sum_read: int | None) -> int:
    """A batch's body sum from the sum of the one read that fetched its metadata and its body."""
    body = batch.column(0).buffers()[1].parent
    read = None if body is None else body.parent
    size = batch.num_rows * width
    if (
        sum_read is None
        or read is None
        or body.size != size
        or body.address + size != read.address + read.size
    ):
        return body_sum(batch, width)
    return (sum_read - sum_of_words(read, read.size - size, 0)) & 0xFFFF_FFFF_FFFF_FFFF


def read_schema(table: Path) -> pa.Schema:
    """The schema of a table, from its first part."""
    with ipc.open_file(pa.OSFile(str(parts(table)[0]), "rb")) as reader:
        return reader.schema
