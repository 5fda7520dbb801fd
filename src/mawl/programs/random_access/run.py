"""Three tables in pages: write them, update rows in place, index their keys, read rows at random.

Steps, bytes and limits are declared in :mod:`mawl.programs.random_access.declare`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.datagen.hashing import hashes, key
from mawl.errors import WrongAnswerError
from mawl.model.records import Answer
from mawl.programs.context import JobContext, check_equal
from mawl.programs.random_access.declare import (
    BLOCK_BYTES,
    INDEX_SHARE,
    PAGE_BYTES,
    PROGRAM,
    READ_SHARE,
    TABLES,
    UPDATE_SHARE,
    PageTable,
)
from mawl.programs.random_access.lanes import Lanes
from mawl.programs.random_access.pages import PAGE_WORDS, POINTS, Lane, PageFile
from mawl.programs.toolkit.rows import Words

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
        """Write all rows, page after page."""
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
        """Add to the balance and the version of random rows, each in place."""
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
        """One pass over all pages: keys in order, each with its row's place; sums for the checks."""
        keys, places = [], []
        start = 0
        with PageFile(self._path, self.io, bufsize_bytes=self._bufsize) as file:
            for pages in file.chunks():
                self.found_sum = (self.found_sum + int(np.add.reduce(pages, axis=None))) & _WORD
                rows = self._in_rows(pages).reshape(-1, self.words)[: self.rows - start]
                self.versions += int(rows[:, _VERSION].sum())
                found = rows[:, _KEY]
                # Indexes beyond their memory hold every n-th key: look-ups are drawn from those.
                kept = np.flatnonzero(found % self._every == 0) if self._every > 1 else np.arange(len(found))
                keys.append(found[kept])
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
        """Read rows by random keys, a page each, and compare what is found with what was asked."""
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
                found = pages[np.arange(len(some))[:, None], starts[:, None] + columns]
                if start % _SAMPLED_EVERY == 0:
                    first = int(starts[0])
                    self._sampled.append((int(places[0]), pages[0, first : first + self.words].copy()))
                self._check_found(found, some, places)
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

    def _check_found(self, rows: Words, wanted: Words, places: NDArray[np.int64]) -> None:
        right = (rows[:, _KEY] == wanted).all() and (rows[:, _ROW] == places.astype(np.uint64)).all()
        check_equal(f"whether the rows read of {self.name} are those asked for", bool(right), True)
        self.balances += int(rows[:, _BALANCE].sum())

    def _chosen(self) -> tuple[NDArray[np.uint64], Words]:
        """Row numbers to update and the amounts to add."""
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
