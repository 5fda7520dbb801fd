"""Three tables in pages: write them, update rows in place, index their keys, read rows at random."""

from __future__ import annotations

import itertools
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.programs.context import JobContext, check_equal
from mawl.programs.datagen.hashing import hashes, key
from mawl.programs.declarations.random_access import (
    BLOCK_BYTES,
    INDEX_SHARE,
    PAGE_BYTES,
    PROGRAM,
    READ_SHARE,
    TABLES,
    UPDATE_SHARE,
    PageTable,
)
from mawl.programs.tables.direct import DirectIo
from mawl.programs.toolkit.rows import Words
from mawl.records.model.records import Answer


class Lanes:
    """``depth`` lanes, each with one request under way: the queue depth that a device sees.

    The calling thread is the first lane, so the job waits inside its own requests (docs/design/waits.md).
    """

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth
        self._others = ThreadPoolExecutor(depth - 1) if depth > 1 else None

    def run(self, work: Callable[[int], None]) -> None:
        """Do ``work(lane)`` in every lane; an error of one is raised when all have ended."""
        if self._others is None:
            work(0)
            return
        others = [self._others.submit(work, lane) for lane in range(1, self.depth)]
        try:
            work(0)
        finally:
            wait(others)
        for other in others:
            other.result()

    def close(self) -> None:
        if self._others is not None:
            self._others.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


PAGE_WORDS = PAGE_BYTES // 8
_BLOCK_WORDS = BLOCK_BYTES // 8
POINTS = 256
"""Pages that ``read_many`` reads at most: many for each lane, since all wait for the last."""


class Lane:
    """One page of a file at a time, in memory of its own: lanes work in different threads."""

    def __init__(self, file: PageFile) -> None:
        self._file = file
        memory = mmap.mmap(-1, PAGE_BYTES)
        self._view = memoryview(memory)
        self.page: Words = np.frombuffer(memory, np.uint64)
        """The page that ``read`` fetched last, as (words,); may be changed and written back."""

    def read(self, number: int) -> Words:
        self._file.read_at(self._view, number * PAGE_BYTES)
        return self.page

    def write_block(self, number: int, word: int) -> None:
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
        return os.fstat(self._descriptor).st_size // PAGE_BYTES

    @property
    def request_pages(self) -> int:
        """Pages of one sequential request."""
        return len(self._request) // PAGE_BYTES

    def request(self, pages: int) -> Words:
        """Zeroed memory for the next ``pages`` pages, as (pages, words), for ``append``."""
        words = np.frombuffer(self._request, np.uint64, count=pages * PAGE_WORDS).reshape(pages, PAGE_WORDS)
        words.fill(0)
        return words

    def append(self, pages: int) -> None:
        """Write the pages that ``request`` gave."""
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


_KEY, _ROW, _VERSION, _BALANCE, _FIRST_TEXT = range(5)
_FILLED_SHARE = 10
_BLANKS = 0x2020_2020_2020_2020
_BLOCKS = PAGE_BYTES // BLOCK_BYTES
_WORD = 0xFFFF_FFFF_FFFF_FFFF
_INDEX_ROW_BYTES = 90
"""Of each row of the three tables together: two finished indexes, one while it is sorted, and slack."""
_SAMPLED_EVERY = 4 * POINTS
"""Look-ups of which one row is kept whole, to be made again."""
_BALANCE_SHIFT = np.uint64(44)


def run(context: JobContext) -> Answer:
    """Do all steps; figures are whole numbers, ``direct_io`` is 1 where the page cache was bypassed."""
    return _RandomAccess(context).run()


class _RandomAccess:
    def __init__(self, context: JobContext) -> None:
        self.context = context
        rows = PROGRAM.rows(context.assignment.scale)
        self.tables = [_Table(context, table, rows) for table in TABLES]

    def run(self) -> Answer:
        with Lanes(self.context.options.queue_depth) as lanes:
            return self._steps(lanes)

    def _steps(self, lanes: Lanes) -> Answer:
        steps, tables = self.context.steps, self.tables
        rows = tables[0].rows
        with steps.step("write", "data") as step:
            for table in tables:
                table.write()
            step.rows_written = len(tables) * rows
        with steps.step("update", "data") as step:
            for table in tables:
                table.update(lanes)
            step.rows_read = step.rows_written = sum(table.updates for table in tables)
        with steps.step("index") as step:
            for table in tables:
                table.build_index()
            step.rows_read = len(tables) * rows
        with steps.step("read") as step:
            for table in tables:
                table.look_up(lanes)
            step.rows_read = sum(table.reads for table in tables)
        with steps.step("verify", "verify"):
            for table in tables:
                table.verify()
        answer: Answer = {"rows": rows, "direct_io": int(all(table.direct for table in tables))}
        for table in tables:
            answer[f"{table.name}_balances_read"] = table.balances
            answer[f"{table.name}_word_sum"] = f"{table.found_sum:016x}"
        return answer


class _Table:
    """One table, from writing to reading; rows, updates and look-ups follow from the seed."""

    def __init__(self, context: JobContext, table: PageTable, rows: int) -> None:
        job = context.assignment
        self.name, self.rows, self.words = table.name, rows, table.row_bytes // 8
        self.direct = True
        self.updates, self.reads = int(rows * UPDATE_SHARE), int(rows * READ_SHARE)
        self.found_sum = self.versions = self.balances = 0
        self._path = context.work(f"{table.name}.pages")
        self.io = context.direct
        self._bufsize = context.options.bufsize_bytes
        self._source = (job.seed, job.replica, "random_access", table.name)
        self._per_page = table.rows_per_page
        self._per_block = self._per_page // _BLOCKS
        self._written_sum = 0
        memory = INDEX_SHARE * context.options.memsize_bytes
        self._every = np.uint64(-(-_INDEX_ROW_BYTES * rows // int(memory)))
        self._keys: Words = np.empty(0, np.uint64)
        self._places: NDArray[np.int64] = np.empty(0, np.int64)
        self._sampled: list[tuple[int, Words]] = []

    def make(self, start: int, count: int) -> Words:
        """Rows as written, (count, words): key, row number, version, balance, text padded with blanks."""
        made = np.full((count, self.words), _BLANKS, np.uint64)
        made[:, _KEY] = hashes(key(*self._source, "key"), start, count)
        made[:, _ROW] = np.arange(start, start + count, dtype=np.uint64)
        made[:, _VERSION] = 0
        made[:, _BALANCE] = hashes(key(*self._source, "balance"), start, count) >> _BALANCE_SHIFT
        filled = self.words // _FILLED_SHARE
        text = hashes(key(*self._source, "text"), start * filled, count * filled)
        made[:, _FIRST_TEXT : _FIRST_TEXT + filled] = text.reshape(count, filled)
        return made

    def write(self) -> None:
        with PageFile(self._path, self.io, bufsize_bytes=self._bufsize, create=True) as file:
            self.direct &= file.direct
            size = file.request_pages * self._per_page
            for start in range(0, self.rows, size):
                rows = self.make(start, min(size, self.rows - start))
                pages = -(-len(rows) // self._per_page)
                space = self._in_rows(file.request(pages))
                blocks, rest = divmod(len(rows), self._per_block)
                whole = blocks * self._per_block
                space[:blocks] = rows[:whole].reshape(blocks, self._per_block, self.words)
                if rest:
                    space[blocks, :rest] = rows[whole:]
                self._written_sum += int(np.add.reduce(rows, axis=None, dtype=np.uint64))
                file.append(pages)

    def update(self, lanes: Lanes) -> None:
        chosen, amounts = self._chosen()
        numbers, within = np.divmod(chosen, self._per_page)
        words = self._words(within)
        # The updates of one page follow one another in one lane: none is lost to another one.
        lane_of = numbers % np.uint64(lanes.depth)
        with PageFile(self._path, self.io, bufsize_bytes=self._bufsize) as file:

            def some(lane: int) -> None:
                own = np.flatnonzero(lane_of == lane)
                parts = (chosen[own].tolist(), numbers[own].tolist(), words[own].tolist(), amounts[own])
                self._update_in(Lane(file), *parts)

            lanes.run(some)

    def _update_in(
        self, lane: Lane, rows: list[int], numbers: list[int], words: list[int], amounts: Words
    ) -> None:
        for row, number, word, amount in zip(rows, numbers, words, amounts, strict=True):
            page = lane.read(number)
            if page[word + _ROW] != row:
                raise WrongAnswerError(f"page {number} of {self.name} holds another row than {row}")
            page[word + _VERSION] += np.uint64(1)
            page[word + _BALANCE] += amount
            lane.write_block(number, word)

    def build_index(self) -> None:
        keys, places = [], []
        start = 0
        with PageFile(self._path, self.io, bufsize_bytes=self._bufsize) as file:
            for pages in file.chunks():
                self.found_sum = (self.found_sum + int(np.add.reduce(pages, axis=None))) & _WORD
                rows = self._in_rows(pages).reshape(-1, self.words)[: self.rows - start]
                self.versions += int(rows[:, _VERSION].sum())
                row = rows[:, _KEY]
                # Indexes beyond their memory hold every n-th key: look-ups are drawn from those.
                kept = np.flatnonzero(row % self._every == 0) if self._every > 1 else np.arange(len(row))
                keys.append(row[kept])
                places.append(kept + start)
                start += len(rows)
        # What is no longer needed goes at once: at full scale each of these takes 120 MB.
        together = np.concatenate(keys)
        keys.clear()
        order = np.argsort(together)
        self._keys = together[order]
        del together
        all_places = np.concatenate(places)
        places.clear()
        self._places = all_places[order]

    def look_up(self, lanes: Lanes) -> None:
        chosen = hashes(key(*self._source, "look-ups"), 0, self.reads) % np.uint64(len(self._keys))
        wanted = self._keys[chosen.astype(np.intp)]
        columns = np.arange(_FIRST_TEXT)
        with PageFile(self._path, self.io, bufsize_bytes=self._bufsize) as file:
            for start in range(0, self.reads, POINTS):
                some = wanted[start : start + POINTS]
                places = self._places[np.searchsorted(self._keys, some)]
                numbers, within = np.divmod(places, self._per_page)
                pages = file.read_many(numbers.tolist(), lanes)
                starts = self._words(within)
                page = pages[np.arange(len(some))[:, None], starts[:, None] + columns]
                if start % _SAMPLED_EVERY == 0:
                    first = int(starts[0])
                    self._sampled.append((int(places[0]), pages[0, first : first + self.words].copy()))
                self._check_rows(page, some, places)
            self.direct &= file.direct

    def verify(self) -> None:
        """What was found against what was written and updated; raises for a difference."""
        added = int(self._chosen()[1].sum()) + self.updates
        check_equal(f"the word sum of {self.name}", self.found_sum, (self._written_sum + added) & _WORD)
        check_equal(f"the number of updates of {self.name}", self.versions, self.updates)
        check_equal(
            f"the number of keys of {self.name}",
            int(np.count_nonzero(np.diff(self._keys))) + 1,
            len(self._keys),
        )
        for place, row in self._sampled[:: max(len(self._sampled) // 16, 1)]:
            (again,) = self.make(place, 1)
            again[[_VERSION, _BALANCE]] = row[[_VERSION, _BALANCE]]
            check_equal(f"row {place} of {self.name} as made again", bool((row == again).all()), True)

    def _check_rows(self, rows: Words, wanted: Words, places: NDArray[np.int64]) -> None:
        right = (rows[:, _KEY] == wanted).all() and (rows[:, _ROW] == places.astype(np.uint64)).all()
        check_equal(f"whether the rows read of {self.name} are those asked for", bool(right), True)
        self.balances += int(rows[:, _BALANCE].sum())

    def _chosen(self) -> tuple[NDArray[np.uint64], Words]:
        chosen = hashes(key(*self._source, "updates"), 0, self.updates) % np.uint64(self.rows)
        return chosen, hashes(key(*self._source, "amounts"), 0, self.updates) >> _BALANCE_SHIFT

    def _in_rows(self, pages: Words) -> Words:
        """Pages, (pages, words), as (blocks, rows of a block, words of a row); a view."""
        blocks = pages.reshape(len(pages) * _BLOCKS, PAGE_WORDS // _BLOCKS)
        return blocks[:, : self._per_block * self.words].reshape(-1, self._per_block, self.words, copy=False)

    def _words(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The words of a page at which its rows number ``places`` begin."""
        blocks, rows = np.divmod(places, self._per_block)
        words: NDArray[np.int64] = blocks * (PAGE_WORDS // _BLOCKS) + rows * self.words
        return words
