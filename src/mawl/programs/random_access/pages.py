"""Files of 8 KiB pages, read and written past the page cache where the file system allows it."""

from __future__ import annotations

import itertools
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from mawl.errors import DamagedTableError
from mawl.programs.random_access.declare import BLOCK_BYTES, PAGE_BYTES
from mawl.programs.random_access.lanes import Lanes
from mawl.programs.toolkit.rows import Words
from mawl.tables.direct import DirectIo

PAGE_WORDS = PAGE_BYTES // 8
_BLOCK_WORDS = BLOCK_BYTES // 8
POINTS = 256
"""Pages that :meth:`PageFile.read_many` reads at most: many for each lane, since all wait for the last."""


class Lane:
    """One page of a file at a time, in memory of its own: lanes work in different threads."""

    def __init__(self, file: PageFile) -> None:
        self._file = file
        memory = mmap.mmap(-1, PAGE_BYTES)
        self._view = memoryview(memory)
        self.page: Words = np.frombuffer(memory, np.uint64)
        """The page that :meth:`read` fetched last, as (words,); may be changed and written back."""

    def read(self, number: int) -> Words:
        """Read one page into :attr:`page`."""
        self._file.read_at(self._view, number * PAGE_BYTES)
        return self.page

    def write_block(self, number: int, word: int) -> None:
        """Write back the block of page ``number`` that holds a word of :attr:`page`."""
        start = word // _BLOCK_WORDS * BLOCK_BYTES
        self._file.write_at(self._view[start : start + BLOCK_BYTES], number * PAGE_BYTES + start)


class PageFile:
    """A file of pages, opened for writing (``create``) or for reading and updating in place.

    ``io`` decides and counts what passes by the page cache (O_DIRECT); ``direct`` says whether requests
    do.  Sequential requests are of ``bufsize`` bytes in whole pages; the buffers are from mmap, since
    direct ones must be aligned.
    """

    def __init__(self, path: Path, io: DirectIo, *, bufsize_bytes: int, create: bool = False) -> None:
        self.path = path
        self._io = io
        flags = os.O_RDWR | os.O_CLOEXEC | ((os.O_CREAT | os.O_EXCL) if create else 0)
        self._descriptor, self.direct = io.open(path, flags)
        self._points: tuple[Words, list[list[memoryview]]] | None = None
        self._request = mmap.mmap(-1, max(bufsize_bytes // PAGE_BYTES, 1) * PAGE_BYTES)
        self._end = 0

    @property
    def pages(self) -> int:
        """Pages in the file."""
        return os.fstat(self._descriptor).st_size // PAGE_BYTES

    @property
    def request_pages(self) -> int:
        """Pages of one sequential request."""
        return len(self._request) // PAGE_BYTES

    def request(self, pages: int) -> Words:
        """Zeroed memory for the next ``pages`` pages, as (pages, words), for :meth:`append`."""
        words = np.frombuffer(self._request, np.uint64, count=pages * PAGE_WORDS).reshape(pages, PAGE_WORDS)
        words.fill(0)
        return words

    def append(self, pages: int) -> None:
        """Write the pages that :meth:`request` gave."""
        size = pages * PAGE_BYTES
        self.write_at(memoryview(self._request)[:size], self._end)
        self._end += size

    def chunks(self) -> Iterator[Words]:
        """A pass over all pages, some at a time as (pages, words); each is valid until the next."""
        total = os.fstat(self._descriptor).st_size
        view = memoryview(self._request)
        for start in range(0, total, len(view)):
            size = min(len(view), total - start)
            self.read_at(view[:size], start)
            yield np.frombuffer(self._request, np.uint64, count=size // 8).reshape(-1, PAGE_WORDS)

    def read_many(self, numbers: Sequence[int], lanes: Lanes) -> Words:
        """Read some pages, at most POINTS, a request each, as (pages, words); valid until the next.

        As many requests are under way as there are lanes.
        """
        if self._points is None:
            space = mmap.mmap(-1, POINTS * PAGE_BYTES)
            view = memoryview(space)
            targets = [[view[at : at + PAGE_BYTES]] for at in range(0, len(view), PAGE_BYTES)]
            self._points = np.frombuffer(space, np.uint64).reshape(POINTS, PAGE_WORDS), targets
        pages, targets = self._points
        if not numbers:
            return pages[:0]
        # The first finds out whether the device takes direct requests; the others are only made.
        self.read_at(targets[0][0], numbers[0] * PAGE_BYTES)
        preadv, descriptor, count = os.preadv, self._descriptor, len(numbers)
        # A lane that is free takes the next page: next() of a counter is one step of the interpreter.
        following = itertools.count(1)

        def some(_: int) -> None:
            while (place := next(following)) < count:
                if preadv(descriptor, targets[place], numbers[place] * PAGE_BYTES) != PAGE_BYTES:
                    raise self._short()

        lanes.run(some)
        if self.direct:
            self._io.read_bytes += (count - 1) * PAGE_BYTES
        return pages[:count]

    def close(self) -> None:
        """Close the file; what is not written directly stays in the page cache."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read_at(self, view: memoryview, offset: int) -> None:
        """One request that fills ``view``; may be called in several threads."""
        got, is_direct = self._io.read(self._descriptor, view, offset, is_direct=self.direct)
        self.direct = self.direct and is_direct
        if got != len(view):
            raise self._short()

    def _short(self) -> DamagedTableError:
        return DamagedTableError("ends inside a page", where=str(self.path))

    def write_at(self, view: memoryview, offset: int) -> None:
        """One request that writes ``view``; may be called in several threads."""
        try:
            done, is_direct = self._io.write(self._descriptor, view, offset, is_direct=self.direct)
            self.direct = self.direct and is_direct
            if done != len(view):
                # Of a request only a part fitted: the next one gets the reason.
                os.pwritev(self._descriptor, [view[done // BLOCK_BYTES * BLOCK_BYTES :]], offset + done)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None
