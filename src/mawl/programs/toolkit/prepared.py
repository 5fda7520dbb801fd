"""Work tables that a modelling program makes once and passes over again; one is made of its input."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.programs.context import JobContext
from mawl.programs.toolkit.checks import TableSum, added_sums
from mawl.programs.toolkit.panels import Block, blocks
from mawl.tables import arrow
from mawl.tables.arrow import TableWriter

Numbers = NDArray[np.float64]


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
        """The table's writer, closed at the end."""
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
        """The one pass over the input."""
        return self.context.read(self.input.directory, self._input_sum.add)

    def check_input(self, what: str) -> None:
        """Hold what the pass over the input read against the manifest."""
        self._input_sum.check(what, rows=self.rows, value=added_sums(self.input.manifest.sums))
