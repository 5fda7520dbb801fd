"""A table as one file of rows without framing: appended to, passed over, updated in place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from mawl.programs.toolkit.partitions import read_chunks, write_all
from mawl.programs.toolkit.rows import Words, memory

CHUNK_ROWS = 4096


class RowFile:
    """A file of (rows, words) records, opened for writing; ``rows`` counts what was appended.

    Requests are of at most ``bufsize`` bytes, in whole rows.
    """

    def __init__(self, path: Path, words: int, *, bufsize_bytes: int) -> None:
        self.path = path
        self.rows = 0
        self._row_bytes = words * 8
        self._request_rows = max(bufsize_bytes // self._row_bytes, 1)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def append(self, rows: Words) -> None:
        """Write rows at the end."""
        for start in range(0, len(rows), self._request_rows):
            some = np.ascontiguousarray(rows[start : start + self._request_rows])
            write_all(self._descriptor, some, self.path)
        self.rows += len(rows)

    def replace(self, first: int, rows: Words) -> None:
        """Write rows over those from number ``first`` on."""
        os.lseek(self._descriptor, first * self._row_bytes, os.SEEK_SET)
        write_all(self._descriptor, rows, self.path)

    def sync(self) -> None:
        """Wait until all that was written is on the device."""
        os.fsync(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def pass_over(path: Path, words: int, *, bufsize_bytes: int) -> Iterator[tuple[int, Words]]:
    """A pass over a file of rows opened afresh, as (number of the first row, rows), 4096 at a time.

    The rows are valid until the next ones are asked for.
    """
    start = 0
    for rows in read_chunks(path, memory(CHUNK_ROWS, words), bufsize_bytes=bufsize_bytes):
        yield start, rows
        start += len(rows)
