"""Tables in groups of rows: work tables that a program passes over again, in blocks of whole groups."""

from __future__ import annotations

import abc
import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.plan.columns import InputTable
from mawl.programs.context import JobContext
from mawl.programs.datagen.hashing import key
from mawl.programs.tables import arrow
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit.checks import TableSum, added_sums
from mawl.records.model.records import Answer

Numbers = NDArray[np.float64]


def group_means(rows: Numbers) -> Numbers:
    """Means of all columns by the first one, in whose order the rows are."""
    if not len(rows):
        return rows
    starts = np.concatenate(([0], np.flatnonzero(np.diff(rows[:, 0])) + 1))
    counts = np.diff([*starts, len(rows)])
    # Sums of whole numbers are exact; the one division is exactly rounded.
    means: Numbers = np.add.reduceat(rows, starts, axis=0) / counts[:, None]
    return means


def numeric_schema(*names: str) -> pa.Schema:
    """Columns of eight-byte floats under these names."""
    return pa.schema([(name, pa.float64()) for name in names])


def sampled(count: int, of: int) -> set[int]:
    """``count`` numbers spread evenly from the first to the last of ``of``."""
    return set(np.linspace(0, of - 1, count).astype(int).tolist())


def as_rows(batch: pa.RecordBatch) -> Numbers:
    """A batch of numerics as (rows, columns)."""
    return np.stack([arrow.numbers(column) for column in batch.columns], axis=1)


def as_batch(rows: Numbers, schema: pa.Schema) -> pa.RecordBatch:
    """The batch of (rows, columns)."""
    return pa.RecordBatch.from_arrays([arrow.array(column) for column in rows.T], schema=schema)


Block = dict[str, Numbers]


def blocks(batches: Iterable[pa.RecordBatch], names: Sequence[str], sizes: Iterable[int]) -> Iterator[Block]:
    """Numeric columns of so many rows at a time, as ``reblocked`` has them."""
    pieces = ([arrow.numbers(batch.column(name)) for name in names] for batch in batches)
    for block in reblocked(pieces, sizes):
        yield dict(zip(names, block, strict=True))


def even_blocks(columns: Iterable[Numbers], rows: int, block_rows: int) -> Iterator[Numbers]:
    """The same ``rows`` rows, that come as (columns, rows), in blocks of even size near ``block_rows``."""
    count = max(rows // block_rows, 1)
    return reblocked(columns, (rows * (place + 1) // count - rows * place // count for place in range(count)))


def reblocked(pieces: Iterable[Sequence[Numbers] | Numbers], sizes: Iterable[int]) -> Iterator[Numbers]:
    """Rows that come as columns (rows,), so many at a time as ``sizes`` say: (columns, size).

    The last block may be shorter; ``sizes`` must have enough for all rows, and may go on for ever.
    """
    wanted = iter(sizes)
    block, filled = np.empty((0, 0)), 0
    for columns in pieces:
        done, rows = 0, len(columns[0])
        while done < rows:
            if filled == block.shape[1]:
                block, filled = np.empty((len(columns), next(wanted, 1))), 0
            some = min(block.shape[1] - filled, rows - done)
            for place, column in enumerate(columns):
                block[place, filled : filled + some] = column[done : done + some]
            filled, done = filled + some, done + some
            if filled == block.shape[1]:
                yield block
    if filled < block.shape[1]:
        yield block[:, :filled]


def block_sizes(groups: int, per_block: int) -> list[int]:
    """Groups of each block: ``per_block``, and of the last one what is left, up to twice as many."""
    whole = max(groups // per_block, 1)
    return [per_block] * (whole - 1) + [groups - per_block * (whole - 1)]


def mean_of_group(values: Numbers, group_rows: int) -> Numbers:
    """The mean of each row's group: (rows,)."""
    return np.repeat(values.reshape(-1, group_rows).mean(axis=1), group_rows)


def previous(values: Numbers, group_rows: int, first: float | None = None) -> Numbers:
    """The value of the row before in its group; of a group's first row ``first``, or its own: (rows,)."""
    by_group = values.reshape(-1, group_rows)
    found = np.empty_like(by_group)
    found[:, 1:] = by_group[:, :-1]
    found[:, 0] = by_group[:, 0] if first is None else first
    return found.reshape(-1)


def running_total(values: Numbers, group_rows: int) -> Numbers:
    """The sum over the rows before in its group, and the row itself: (rows,)."""
    return np.cumsum(values.reshape(-1, group_rows), axis=1).reshape(-1)


class WorkTable:
    """A table under work: what was written is what every pass must find, by rows and word sum."""

    def __init__(self, context: JobContext, name: str, schema: pa.Schema) -> None:
        self.context = context
        self._name = name
        self._schema = schema
        self._path = context.work(f"{name}.arrow")
        self._written = 0
        self._written_rows = 0

    @contextlib.contextmanager
    def writing(self) -> Iterator[TableWriter]:
        with self.context.writer(self._path, self._schema, checksum=True) as writer:
            yield writer
        self._written, self._written_rows = added_sums(writer.sums), writer.rows

    @property
    def batch_count(self) -> int:
        """About how many batches a pass has."""
        return self._expected_rows() // arrow.batch_rows(arrow.row_bytes(self._schema))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """A pass over the table; its rows and word sum are checked at its end."""
        total = TableSum()
        yield from self.context.read(self._path, total.add)
        total.check(f"the {self._name} table", rows=self._expected_rows(), value=self._written)

    def _expected_rows(self) -> int:
        return self._written_rows


class Preparation:
    """Takes the rows of a prepared table; ``rows`` are those taken so far."""

    def __init__(self, writer: TableWriter, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema

    @property
    def rows(self) -> int:
        return self._writer.rows

    def write(self, columns: Iterable[Numbers | pa.Array]) -> None:
        """Some rows: all columns of the schema, in its order, (rows,) each."""
        arrays = [column if isinstance(column, pa.Array) else arrow.array(column) for column in columns]
        self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


class PreparedTable(WorkTable):
    """Made from the input table ``name`` with ``schema``; the word sums of both ride on their passes."""

    def __init__(self, context: JobContext, name: str, schema: pa.Schema) -> None:
        super().__init__(context, "prepared", schema)
        self.input = context.table(name)
        self.rows = self.input.manifest.rows
        self._input_sum = TableSum()

    def _expected_rows(self) -> int:
        return self.rows

    @contextlib.contextmanager
    def preparing(self) -> Iterator[Preparation]:
        """The step ``prepare``, which reads the input and writes this table."""
        with self.context.steps.step("prepare", "data") as step, self.writing() as writer:
            yield Preparation(writer, self._schema)
            step.rows_read = step.rows_written = writer.rows

    def preparing_groups(
        self, names: Sequence[str], group_rows: int, derive: Callable[[Block], Sequence[Numbers]]
    ) -> Iterator[tuple[Block, Sequence[Numbers]]]:
        """The step ``prepare`` for rows that come in groups of ``group_rows``: blocks of whole groups.

        The table gets the columns ``names`` of the input, and behind them what ``derive`` makes of them.
        Yields each block and its derived columns, (rows,) each, when they are written.
        """
        size = max(arrow.batch_rows(arrow.row_bytes(self._schema)) // group_rows, 1) * group_rows
        with self.preparing() as table:
            for block in blocks(self.input_batches(), names, itertools.repeat(size)):
                derived = derive(block)
                table.write((*block.values(), *derived))
                yield block, derived

    def input_batches(self) -> Iterator[pa.RecordBatch]:
        return self.context.read(self.input.directory, self._input_sum.add)

    def check_input(self, what: str) -> None:
        """Hold what the pass over the input read against the manifest."""
        self._input_sum.check(what, rows=self.rows, value=added_sums(self.input.manifest.sums))


class PreparedJob(abc.ABC):
    """A job that makes a prepared table of its input, works on that, and checks what it found.

    ``what`` names the rows of the input.
    """

    def __init__(self, context: JobContext, table: InputTable, schema: pa.Schema, what: str) -> None:
        self.context = context
        self.prepared = PreparedTable(context, table.name, schema)
        self.manifest = self.prepared.input.manifest
        self.rows = self.prepared.rows
        self.answer: Answer = {}
        self._what = what

    def run(self) -> Answer:
        """Do all steps."""
        self._work()
        with self.context.steps.step("verify", "verify"):
            self.prepared.check_input(self._what)
            self._check()
        return self.answer

    def column_key(self, name: str) -> int:
        """The generator's key of a column of the input."""
        return key(self.manifest.seed, self.manifest.replica, self.manifest.table, name)

    @abc.abstractmethod
    def _work(self) -> None:
        """All steps but the last."""

    @abc.abstractmethod
    def _check(self) -> None:
        """Raise ``WrongAnswerError`` for a wrong answer."""
