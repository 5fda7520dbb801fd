"""The work table that a modelling program makes of its whole input once, and passes over again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pyarrow as pa

from mawl.programs.checks import TableSum, added_sums
from mawl.programs.context import JobContext
from mawl.tables.arrow import TableWriter


class PreparedTable:
    """Made from the input table ``name`` with ``schema``; the word sums of both ride on their passes."""

    def __init__(self, context: JobContext, name: str, schema: pa.Schema) -> None:
        self.context = context
        self.input = context.table(name)
        self.rows = self.input.manifest.rows
        self._schema = schema
        self._path = context.work("prepared.arrow")
        self._input_sum = TableSum()
        self._written = 0

    @contextlib.contextmanager
    def writing(self) -> Iterator[TableWriter]:
        """The table's writer; what it wrote is what every pass must find."""
        with self.context.writer(self._path, self._schema, checksum=True) as writer:
            yield writer
        self._written = added_sums(writer.sums)

    def input_batches(self) -> Iterator[pa.RecordBatch]:
        """The one pass over the input."""
        return self.context.read(self.input.directory, self._input_sum.add)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """A pass over the prepared table; its rows and word sum are checked at its end."""
        total = TableSum()
        yield from self.context.read(self._path, total.add)
        total.check("the prepared table", rows=self.rows, value=self._written)

    def check_input(self, what: str) -> None:
        """Hold what the pass over the input read against the manifest."""
        self._input_sum.check(what, rows=self.rows, value=added_sums(self.input.manifest.sums))
