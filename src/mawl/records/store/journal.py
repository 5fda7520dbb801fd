"""The journal of a run that is under way, or of one that was killed.

``events``, ``jobs`` and ``steps`` are JSON lines, ``samples`` an Arrow IPC stream without an end
mark.  Every append is one write to the operating system, so that a killed runner loses nothing
that was written; what a power cut or a full disk tore is left out when read, and remarked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec
import pyarrow as pa
from pyarrow import ipc

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import json_tree, open_regular
from mawl.base.units import format_memory
from mawl.records.model.records import EventRecord, JobRecord, SampleRecord, StepRecord
from mawl.records.store.columns import INSTANT, MOST_SERIES, SCHEMAS, BatchForm, conform, message_of
from mawl.records.store.files import LARGEST_LINE_BYTES, LARGEST_LINES_BYTES, MOST_BAD_LINES, MOST_ROWS
from mawl.records.store.plain_data import from_plain, line_of

Record = TypeVar("Record", JobRecord, StepRecord, EventRecord)
MOST_REMARKS = 20
_MOST_FORMS = 8


class Appender:
    """Appends to one file, all of a record or nothing of it."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self._length = 0

    def append(self, content: bytes) -> None:
        """One whole record, in one write; OSError when it does not fit, and the file is as before."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os.ftruncate(self._descriptor, self._length)
            raise
        self._length += len(content)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """Close the file (and let go of its lock); again is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class LineAppender(Appender):
    """Appends records as JSON lines."""

    def record(self, record: msgspec.Struct) -> None:
        self.append(line_of(record) + b"\n")


class SampleAppender:
    """Appends samples as Arrow record batches of the long format (node, at, series, value)."""

    def __init__(self, path: Path) -> None:
        self._file = Appender(path)
        self._schema = SCHEMAS["samples"]
        self._forms: dict[tuple[str, tuple[str, ...]], BatchForm] = {}
        self._file.append(self._schema.serialize().to_pybytes())

    def samples(self, rows: Sequence[SampleRecord]) -> None:
        columns = [
            pa.array([row.node for row in rows], pa.string()),
            pa.array([round(row.sampled_at * 1e6) for row in rows], INSTANT),
            pa.array([row.series for row in rows], pa.string()),
            pa.array([row.value for row in rows], pa.float64()),
        ]
        batch = pa.record_batch(columns, schema=self._schema)
        self._file.append(message_of(batch))

    def figures(self, node: str, at: float, figures: Mapping[str, float]) -> None:
        """A node's figures at one moment, series to value; one write, as few record batches as hold them."""
        names, values = tuple(figures), tuple(figures.values())
        content = b""
        for begin in range(0, len(names), MOST_SERIES):
            form = self._form(node, names[begin : begin + MOST_SERIES])
            content += form.filled(round(at * 1e6), values[begin : begin + MOST_SERIES])
        self._file.append(content)

    def _form(self, node: str, series: tuple[str, ...]) -> BatchForm:
        form = self._forms.get((node, series))
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            form = self._forms[node, series] = BatchForm(node, series)
        return form

    def table(self, table: pa.Table) -> None:
        for batch in table.cast(self._schema).to_batches():
            self._file.append(message_of(batch))

    def close(self) -> None:
        """Close the stream; it has no end mark, so that a killed one looks the same."""
        self._file.close()


class Remarks(list[str]):
    """Sentences about what was left out; only the first ones are kept, the rest counted."""

    left_out = 0

    def add(self, sentence: str) -> None:
        if len(self) < MOST_REMARKS:
            self.append(sentence)
        else:
            self.left_out += 1

    def sentences(self) -> list[str]:
        return [*self, f"and {self.left_out} more of that kind"] if self.left_out else list(self)


class LineBudget:
    """How far one journal file of lines is read: by its lines, its bytes, and the lines that are no record.

    A sparse file costs its maker nothing, and a line that is no record costs its reader as much as one.
    """

    def __init__(self, table: str) -> None:
        self._most_lines = MOST_ROWS[table]
        self.lines = self.bad = self.bytes = 0

    def allows(self) -> bool:
        return (
            self.lines <= self._most_lines
            and self.bad <= MOST_BAD_LINES
            and self.bytes <= LARGEST_LINES_BYTES
        )

    def __str__(self) -> str:
        return (
            f"mawl reads at most {self._most_lines} lines, {format_memory(LARGEST_LINES_BYTES)} and "
            f"{MOST_BAD_LINES} lines that are not records; the rest is left out"
        )


def read_lines(path: Path, table: str, kind: type[Record], remarks: Remarks) -> list[Record]:
    """The records of one journal file; a line that is not one is left out with a remark.

    Raises FileNotFoundError where the file is gone (another reader has just compacted the run).
    """
    records: list[Record] = []
    budget = LineBudget(table)
    with open_regular(path, inside=path.parent.parent) as file:
        for number, line in _lines(file, budget):
            if not budget.allows():
                remarks.insert(0, f"{path}: {budget}")
                break
            if line is None:
                budget.bad += 1
                remarks.add(f"{path}, line {number}: longer than any record, left out")
                continue
            if not line.strip():
                continue
            try:
                records.append(from_plain(json_tree(line), kind))
            except (ValueError, OverflowError) as error:
                budget.bad += 1
                torn = not line.endswith(b"\n")
                what = "torn when the run was stopped" if torn else f"not a record ({str(error)[:120]})"
                remarks.add(f"{path}, line {number}: {what}, left out")
    return records


def _lines(file: BinaryIO, budget: LineBudget) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines, counted in the budget; None for one that is too long to be a record."""
    while line := file.readline(LARGEST_LINE_BYTES):
        budget.lines += 1
        budget.bytes += len(line)
        whole: bytes | None = line
        while len(line) == LARGEST_LINE_BYTES and not line.endswith(b"\n") and budget.allows():
            whole = None
            line = file.readline(LARGEST_LINE_BYTES)
            budget.bytes += len(line)
        yield budget.lines, whole


def read_samples(path: Path, remarks: Remarks) -> Iterator[pa.Table]:
    """The samples, a batch at a time, up to where the stream was torn, which is remarked."""
    rows = 0
    with open_regular(path, inside=path.parent.parent) as file:
        try:
            stream = ipc.open_stream(file)
            for batch in stream:
                batch.validate(full=True)
                table = pa.Table.from_batches([batch])
                rows += table.num_rows
                if rows > MOST_ROWS["samples"]:
                    raise pa.ArrowInvalid("more rows than mawl reads")
                yield conform("samples", table, path)
        except (pa.ArrowException, OSError, ValueError, MemoryError, UnreadableRunError) as error:
            why = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
            remarks.add(f"{path}: torn or damaged after {rows} samples ({why}), the rest is left out")
