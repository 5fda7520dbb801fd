"""Files of 8 KiB pages, read and written past the page cache where the file system allows it."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from mawl.errors import DamagedTableError
from mawl.plan.catalogue.random_access import BLOCK_BYTES, PAGE_BYTES
from mawl.programs.rows import Words

PAGE_WORDS = PAGE_BYTES // 8
_BLOCK_WORDS = BLOCK_BYTES // 8
_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)


class PageFile:
    """A file of pages, opened for writing (``create``) or for reading and updating in place.

    ``direct`` says whether requests bypass the page cache (O_DIRECT).  Sequential requests are of
    ``bufsize`` bytes in whole pages; the buffers are from mmap, since direct ones must be aligned.
    """

    def __init__(self, path: Path, *, bufsize_bytes: int, create: bool = False) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CLOEXEC | ((os.O_CREAT | os.O_EXCL) if create else 0)
        self._descriptor, self.direct = _open(path, flags)
        self._request = mmap.mmap(-1, max(bufsize_bytes // PAGE_BYTES, 1) * PAGE_BYTES)
        self._page = mmap.mmap(-1, PAGE_BYTES)
        self._page_view = memoryview(self._page)
        self.page: Words = np.frombuffer(self._page, np.uint64)
        """The page that :meth:`read` fetched last, as (words,); may be changed and written back."""
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
        self._write(memoryview(self._request)[:size], self._end)
        self._end += size

    def chunks(self) -> Iterator[Words]:
        """A pass over all pages, some at a time as (pages, words); each is valid until the next."""
        total = os.fstat(self._descriptor).st_size
        view = memoryview(self._request)
        for start in range(0, total, len(view)):
            size = min(len(view), total - start)
            self._read(view[:size], start)
            yield np.frombuffer(self._request, np.uint64, count=size // 8).reshape(-1, PAGE_WORDS)

    def read(self, number: int) -> Words:
        """Read one page into :attr:`page`."""
        self._read(self._page_view, number * PAGE_BYTES)
        return self.page

    def write_block(self, number: int, word: int) -> None:
        """Write back the block of page ``number`` that holds a word of :attr:`page`."""
        start = word // _BLOCK_WORDS * BLOCK_BYTES
        self._write(self._page_view[start : start + BLOCK_BYTES], number * PAGE_BYTES + start)

    def close(self) -> None:
        """Close the file; what is not written directly stays in the page cache."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, view: memoryview, offset: int) -> None:
        if os.preadv(self._descriptor, [view], offset) != len(view):
            raise DamagedTableError("ends inside a page", where=str(self.path))

    def _write(self, view: memoryview, offset: int) -> None:
        try:
            done = os.pwritev(self._descriptor, [view], offset)
            if done != len(view):
                # Of a request only a part fitted: the next one gets the reason.
                os.pwritev(self._descriptor, [view[done // BLOCK_BYTES * BLOCK_BYTES :]], offset + done)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None


def _open(path: Path, flags: int) -> tuple[int, bool]:
    """A descriptor, and whether it is a direct one; a file system may refuse that."""
    try:
        return os.open(path, flags | os.O_DIRECT, 0o600), True
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        # Some file systems make the file before they refuse.
        if flags & os.O_EXCL:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        return os.open(path, flags, 0o600), False
