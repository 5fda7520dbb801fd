"""Checks that ride on passes a program makes anyway; they must cost far below 1 % of its CPU.

What they add at the end (regenerating rows, comparing sums) belongs into a step of kind ``verify``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import WrongAnswerError
from mawl.plan.catalogue import INPUTS
from mawl.plan.columns import Code, InputTable, RecordLayout
from mawl.programs.context import check, check_equal
from mawl.programs.datagen.records import make_groups
from mawl.programs.datagen.text import filled_bytes, fills
from mawl.programs.datagen.values import column_values
from mawl.programs.tables import arrow
from mawl.programs.tables.manifest import Manifest
from mawl.programs.toolkit.rows import Records, Words

_WORD = 0xFFFF_FFFF_FFFF_FFFF
_BLOCKS = 1
_BLOCK_ROWS = 1024
_ORDER_ROWS = 16_384
_EVERY_BATCH = 8

Numbers = NDArray[np.float64]


def added_sums(sums: Mapping[str, int], columns: Iterable[str] | None = None) -> int:
    """The sum over columns (all by default) of a manifest's word sums, modulo 2**64."""
    return sum(sums[name] for name in (sums if columns is None else columns)) & _WORD


def check_code_shares(table: InputTable, name: str, counts: Mapping[bytes, int], rows: int) -> None:
    """Raise unless each value of a code is as common in so many rows as its declaration says.

    Values are drawn row by row, so counts must lie within six standard deviations (and one row).
    """
    (column,) = [column for column in table.columns if column.name == name]
    assert isinstance(column.values, Code)
    names, skew = column.values.values, column.values.skew
    places = [len(names) * place**skew // 256**skew for place in range(256)]
    for choice, value in enumerate(names):
        share = places.count(choice) / 256
        found = counts.get(value.ljust(column.stored_bytes).encode("latin-1"), 0)
        check(
            abs(found - share * rows) <= 6.0 * (share * (1.0 - share) * rows) ** 0.5 + 1.0,
            f"the share of {value} in {name}",
            found=f"{found} of {rows} rows",
            expected=f"about {share * rows:.0f}",
        )


class TableSum:
    """The word sum of all that a pass reads, and its rows: any changed byte changes it."""

    def __init__(self) -> None:
        self.value = 0
        self.rows = 0

    def add(self, rows: int, value: int) -> None:
        self.value = (self.value + value) & _WORD
        self.rows += rows

    def add_rows(self, rows: Words) -> None:
        self.value = (self.value + arrow.word_sum(rows)) & _WORD
        self.rows += len(rows)

    def check(self, what: str, *, rows: int, value: int) -> None:
        """Raise ``WrongAnswerError`` unless rows and content are as expected."""
        check_equal(f"the number of rows of {what}", self.rows, rows)
        check_equal(f"the word sum of {what}", self.value, value)


class StrictOrder:
    """Whether rows come in strictly rising order of two whole-number keys and a unique third.

    ``below`` bounds the second key: first * below + second must be exact in 53 bits.
    """

    def __init__(self, what: str, below: int) -> None:
        self._what = what
        self._below = float(below)
        self._last: tuple[float, float] | None = None
        self._rows = 0
        # Looked at a thousand at a time the calls would cost more than the comparisons.
        self._pairs, self._unique = np.empty(_ORDER_ROWS), np.empty(_ORDER_ROWS)
        self._waiting = 0

    def add(self, first: Numbers, second: Numbers, unique: Numbers) -> None:
        done = 0
        while done < len(first):
            some = min(len(first) - done, _ORDER_ROWS - self._waiting)
            start, end = self._waiting, self._waiting + some
            pairs = self._pairs[start:end]
            np.multiply(first[done : done + some], self._below, out=pairs)
            pairs += second[done : done + some]
            self._unique[start:end] = unique[done : done + some]
            self._waiting = end
            done += some
            if self._waiting == _ORDER_ROWS:
                self.close()

    def close(self) -> None:
        """Look at what has come; raises ``WrongAnswerError`` at the first fault."""
        rows, self._waiting = self._waiting, 0
        if not rows:
            return
        pairs, unique = self._pairs[:rows], self._unique[:rows]
        start = (float(pairs[0]), float(unique[0]))
        right = self._last is None or self._last < start
        level = np.flatnonzero(pairs[1:] <= pairs[:-1])
        if len(level):
            after = level + 1
            right &= bool((pairs[after] == pairs[level]).all() and (unique[after] > unique[level]).all())
        if not right:
            raise WrongAnswerError(
                f"{self._what} is out of order", why=f"between rows {self._rows} and {self._rows + rows}"
            )
        self._last = (float(pairs[-1]), float(unique[-1]))
        self._rows += rows


class RowSample:
    """Whole rows, found again in an output by their row number, compared with what the seed says.

    Sampled is a block of 1024 consecutive row numbers (all of a smaller table), so that regenerating
    it takes one call per column; of these the rows
    that every eighth batch holds, so that most batches cost nothing.  ``block_rows`` and
    ``every_batch`` change that; what is left of a block can be known only when every batch is looked at.
    """

    def __init__(
        self,
        records: Records,
        manifest: Manifest,
        unique: str,
        *,
        block_rows: int = _BLOCK_ROWS,
        every_batch: int = _EVERY_BATCH,
    ) -> None:
        self._records = records
        self._manifest = manifest
        self._unique = unique
        self._length = min(block_rows, manifest.rows)
        self._every_batch = every_batch
        self._stride = max(manifest.rows // _BLOCKS, self._length)
        self._found: list[Words] = []
        self._batches = 0

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The sampled row numbers, as (first, count)."""
        starts = range(0, self._manifest.rows - self._length + 1, self._stride)
        return [(start, self._length) for start in starts]

    def add(self, batch: pa.RecordBatch, numbers: Numbers) -> None:
        """Keep the sampled rows of a batch; ``numbers`` is its column of row numbers."""
        self._batches += 1
        if (self._batches - 1) % self._every_batch:
            return
        places = numbers / self._stride
        places -= np.floor(places)
        # A little wide, since the division rounds; what is too much is left out in the comparison.
        chosen = np.flatnonzero(places <= self._length / self._stride)
        if len(chosen):
            self._found.append(self._records.pick(batch, chosen))

    @property
    def found(self) -> list[int]:
        """Row numbers of the sampled rows that were found, in order."""
        numbers = np.concatenate([self._records.numbers(rows, self._unique) for rows in self._found])
        blocks = self.blocks
        inside = [numbers[(numbers >= start) & (numbers < start + count)] for start, count in blocks]
        return [int(number) for number in np.sort(np.concatenate(inside))]

    def check(self, what: str, expected: list[pa.RecordBatch]) -> int:
        """Compare with what ``regenerate`` made of ``blocks``; returns how many rows were.

        ``expected`` may have more columns.
        Raises ``WrongAnswerError`` unless each row is one of the table's.
        """
        if not self._found:
            raise WrongAnswerError(f"{what} holds none of the sampled rows")
        found = np.concatenate(self._found)
        numbers = self._records.numbers(found, self._unique)
        compared = 0
        for (start, count), block in zip(self.blocks, expected, strict=True):
            inside = np.flatnonzero((numbers >= start) & (numbers < start + count))
            rows = np.empty((count, self._records.words), np.uint64)
            self._records.fill(block, rows)
            places = (numbers[inside] - start).astype(np.intp)
            differing = (found[inside] != rows[places]).any(axis=0)
            if differing.any():
                name = self._records.name_at(int(differing.argmax()))
                raise WrongAnswerError(f"column {name} of {what} is wrong", why=f"in rows from {start} on")
            compared += len(inside)
        return compared


def check_first_rows(what: str, batch: pa.RecordBatch, layout: RecordLayout, manifest: Manifest) -> None:
    """Compare the first rows of a parsed table with the values that the seed gives its records.

    Made from the values alone, not by parsing text again.
    Raises ``WrongAnswerError`` where a column differs.
    """
    for field in layout.fields:
        expected = column_values(
            INPUTS[manifest.table],
            field.column,
            seed=manifest.seed,
            replica=manifest.replica,
            start=0,
            count=batch.num_rows,
        )
        if not np.array_equal(arrow.values(batch.column(field.column.name)), expected):
            raise WrongAnswerError(f"column {field.column.name} of {what} is wrong", why="in its first rows")


def regenerate_text(table: InputTable, manifest: Manifest, first: int, groups: int) -> NDArray[np.uint8]:
    """Groups of records of a text table, made anew from its seed: (records, record bytes)."""
    text, _ = make_groups(
        table,
        seed=manifest.seed,
        replica=manifest.replica,
        first=first,
        groups=groups,
        filled=filled_bytes(table, manifest.saving),
    )
    return text


def regenerate(
    table: InputTable, manifest: Manifest, blocks: Iterable[tuple[int, int]]
) -> list[pa.RecordBatch]:
    """Blocks of rows, as (first, count), of an input table, made anew from its seed."""
    filled = fills(table, filled_bytes(table, manifest.saving))
    return [
        pa.RecordBatch.from_arrays(
            [
                arrow.array(
                    column_values(
                        table,
                        column,
                        seed=manifest.seed,
                        replica=manifest.replica,
                        start=start,
                        count=count,
                        filled=filled.get(column.name, 0),
                    )
                )
                for column in table.columns
            ],
            [column.name for column in table.columns],
        )
        for start, count in blocks
    ]
