"""Partition files under util: rows distributed once, so that each file fits in sort memory.

Engines have floors below which they cannot sort, and ceilings above which they cannot spill
(docs/design/programs.md).  Distributing needs neither: memory is filled with rows, these are
ordered by partition, and each partition's share is appended to its file.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError
from mawl.programs.context import JobContext
from mawl.programs.toolkit.rows import Records, Words, memory

_FILLED = 0.8
"""Share of sort memory that holds rows; the rest is for their order and the request buffer."""

PARTITION_SHARE = 0.5
"""Mean size of a partition as a share of sort memory: what sampling misses must still fit."""

_MOST_OPEN_FILES = 256
"""So many partition files stay open between appends; each other file is opened for each append."""

Number = Callable[[Words], NDArray[np.integer]]
"""Gives each of (rows, words) records the number of its partition."""


def room_rows(record_bytes: int, sortsize_bytes: int) -> int:
    """Rows that fit in sort memory together with what ordering them takes (48 bytes a row)."""
    return max(int(sortsize_bytes * _FILLED) // (record_bytes + 48), 64)


def partition_count(table_bytes: int, sortsize_bytes: int) -> int:
    """Partitions that a table is distributed to."""
    return max(-(-table_bytes // int(sortsize_bytes * PARTITION_SHARE)), 1)


class Distributor:
    """Appends rows to the partition files they belong to.

    ``paths`` gives each partition its file.  Rows keep their order within a partition, with any number of
    threads: one thread appends all rows of a partition.  The caller fills ``space`` and calls
    ``commit``; ``close`` writes what is left.
    """

    def __init__(
        self,
        paths: list[Path],
        number: Number,
        record_words: int,
        *,
        sortsize_bytes: int,
        bufsize_bytes: int,
        threads: int = 1,
    ) -> None:
        self.paths = paths
        self.rows = np.zeros(len(paths), np.int64)
        self._number = number
        self._memory = memory(room_rows(record_words * 8, sortsize_bytes), record_words)
        self._filled = 0
        # At most an eighth of sort memory, so that a small one still holds rows.
        request = max(min(bufsize_bytes, sortsize_bytes // 8 // threads) // (record_words * 8), 1)
        self._requests = [np.empty((request, record_words), np.uint64) for _ in range(threads)]
        self._open: dict[Path, FileIO] = {}
        self._stay_open = frozenset(paths[: _open_files()])

    def space(self, rows: int) -> Words:
        """Memory for up to ``rows`` more rows, at least one."""
        if self._filled == len(self._memory):
            self._flush()
        return self._memory[self._filled : self._filled + rows]

    def commit(self, rows: int) -> None:
        """The first ``rows`` rows of the last ``space`` are filled."""
        self._filled += rows

    def add_batches(self, batches: Iterable[pa.RecordBatch], records: Records) -> None:
        """Distribute all rows of a table (the columns in ``records``), and close."""
        with self._released_on_error():
            for batch in batches:
                done = 0
                while done < batch.num_rows:
                    space = self.space(batch.num_rows - done)
                    records.fill(batch.slice(done, len(space)), space)
                    self.commit(len(space))
                    done += len(space)
            self.close()

    def add_rows(self, chunks: Iterable[Words]) -> None:
        with self._released_on_error():
            for chunk in chunks:
                done = 0
                while done < len(chunk):
                    space = self.space(len(chunk) - done)
                    space[...] = chunk[done : done + len(space)]
                    self.commit(len(space))
                    done += len(space)
            self.close()

    def close(self) -> None:
        """Append what is still in memory, let the memory go, and close the files."""
        with self._released_on_error():
            self._flush()
            self._release()

    @contextmanager
    def _released_on_error(self) -> Iterator[None]:
        """Files that stayed open would keep the space of a full disk after they are removed."""
        try:
            yield
        except BaseException:
            with suppress(OSError):
                self._release()
            raise

    def _release(self) -> None:
        """Let the memory go and close all files; raises the error of the first that does not close."""
        self._memory = self._memory[:0]
        with ExitStack() as stack:
            while self._open:
                stack.callback(_close, *self._open.popitem())

    def _flush(self) -> None:
        rows, threads = self._memory[: self._filled], len(self._requests)
        with ThreadPoolExecutor(threads) as pool:
            each = pool.map if threads > 1 else map
            numbers = np.concatenate(list(each(self._numbers, np.array_split(rows, threads))))
            order = np.argsort(numbers, kind="stable")
            counts = np.bincount(numbers, minlength=len(self.paths))
            ends = np.cumsum(counts)
            filled = np.flatnonzero(counts)

            def append(thread: int) -> None:
                for partition in filled[thread::threads]:
                    end = int(ends[partition])
                    chosen = order[end - int(counts[partition]) : end]
                    self._append(self.paths[partition], rows, chosen, self._requests[thread])

            list(each(append, range(threads)))
        self.rows += counts
        self._filled = 0

    def _numbers(self, rows: Words) -> NDArray[np.unsignedinteger]:
        return self._number(rows).astype(np.uint32 if len(self.paths) > 65_535 else np.uint16)

    def _append(self, path: Path, rows: Words, order: NDArray[np.int64], space: Words) -> None:
        file = self._open.get(path) or _appended(path)
        try:
            for start in range(0, len(order), len(space)):
                some = order[start : start + len(space)]
                request = space[: len(some)]
                np.take(rows, some, axis=0, out=request, mode="clip")
                write_all(file.fileno(), request, path)
        finally:
            if path in self._stay_open:
                self._open[path] = file
            else:
                _close(path, file)


def _open_files() -> int:
    """How many partition files stay open: at most a quarter of the descriptors that the process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else min(_MOST_OPEN_FILES, soft // 4)


def _appended(path: Path) -> FileIO:
    return open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))


def _close(path: Path, file: FileIO) -> None:
    """Close a file; an OSError names it (a failed writeback may be told only here)."""
    try:
        file.close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_all(descriptor: int, rows: Words, path: Path) -> None:
    """Write rows; an OSError names the file, so that a full disk can be told by its role."""
    view = rows.reshape(-1).view(np.uint8).data
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def read_rows(path: Path, into: Words, *, bufsize_bytes: int) -> Words:
    """All rows of a partition file, in the first rows of ``into``; a missing file has none.

    Raises ``DamagedTableError`` where the file does not hold whole rows.
    """
    if not path.exists():
        return into[:0]
    rows = into[: rows_in(path, into.shape[1])]
    with open(path, "rb", buffering=0) as file:
        _read_into(file, rows, path, bufsize_bytes)
    return rows


def rows_in(path: Path, record_words: int) -> int:
    """Rows of a partition file; raises ``DamagedTableError`` for a part of one."""
    size = path.stat().st_size
    rows, rest = divmod(size, record_words * 8)
    if rest:
        raise DamagedTableError(
            "is no whole number of rows", where=str(path), why=f"{size} bytes of {record_words * 8} each"
        )
    return rows


def read_chunks(path: Path, into: Words, *, bufsize_bytes: int) -> Iterator[Words]:
    """The rows of a partition file, as many as ``into`` holds at a time, in requests of ``bufsize``."""
    rows = rows_in(path, into.shape[1])
    with open(path, "rb", buffering=0) as file:
        for start in range(0, rows, len(into)):
            chunk = into[: min(len(into), rows - start)]
            _read_into(file, chunk, path, bufsize_bytes)
            yield chunk


def _read_into(file: FileIO, rows: Words, path: Path, bufsize_bytes: int) -> None:
    view = rows.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        got = file.readinto(view[done : done + bufsize_bytes])
        if not got:
            raise DamagedTableError("ends early", where=str(path), why=f"{done} of {len(view)} bytes")
        done += got


Item = TypeVar("Item")

_END: Any = object()


def read_ahead(context: JobContext, items: Iterator[Item]) -> Iterator[Item]:
    """The same items; with two threads or more the next is made while this one is worked on.

    Not for steps that work side by side: a thread must not be in the middle of something at a fork.
    """
    if context.threads == 1:
        yield from items
        return
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(next, items, _END)
        while (item := waiting.result()) is not _END:
            waiting = thread.submit(next, items, _END)
            yield item
