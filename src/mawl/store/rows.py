"""The rows of a run folder's tables as records; equal parts of records are one object each.

The inverse of :func:`mawl.store.columns.to_table`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from mawl.model.records import EventRecord, JobRecord, StepRecord
from mawl.model.role_io import FILE_ROLES, HISTOGRAMS, IO_FIELDS, WAIT_FIELDS, Histogram, RoleIo, Waits
from mawl.model.usage import FIELDS, Usage
from mawl.store.budget import Budget, in_time
from mawl.store.columns import PREFIXES, VOLUME_COLUMNS, Row
from mawl.store.plain import is_instant

Record = TypeVar("Record", JobRecord, StepRecord, EventRecord)

PART_ROWS = 5000
"""Rows of a part in :func:`in_parts`: some megabytes."""

_SHARED_PARTS = 4096
"""Parts of records (usages, waits, I/O of a role, answers) that are kept to be shared by the next rows."""

_OFTEN_ALIKE = ("program", "program_class", "session", "node", "gate", "outcome")
"""Texts that many jobs have in common: one object each."""


def in_parts(table: pa.Table) -> Iterator[pa.Table]:
    """The table in copies of :data:`PART_ROWS` rows; none of it stays in memory once its records are made.

    The caller must not keep the table either.
    """
    starts = range(0, table.num_rows, PART_ROWS)
    numbers = [pa.array(range(start, min(start + PART_ROWS, table.num_rows)), pa.int64()) for start in starts]
    parts = [table.take(rows) for rows in reversed(numbers)]
    del table
    pa.default_memory_pool().release_unused()
    while parts:
        yield parts.pop()


def to_records(name: str, tables: Iterable[pa.Table], kind: type[Record], budget: Budget) -> Iterator[Record]:
    """The rows of a table's parts, in order, as records; ValueError names the row that cannot be one.

    OverBudgetError where this takes more CPU time than ``budget`` has.
    """
    number = 0
    shared = _Parts()
    for batch in in_time(_batches(tables), budget):
        instants = [column for column in batch.schema.names if is_instant(column)]
        for row in batch.to_pylist():
            number += 1
            try:
                yield msgspec.convert(_nested(row, instants, kind, shared), kind)
            except ValueError as error:
                raise ValueError(f"row {number} of {name}: {error}") from None


def _batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Some rows at a time, their points in time as numbers of microseconds."""
    for table in tables:
        for column in filter(is_instant, table.schema.names):
            index = table.schema.get_field_index(column)
            table = table.set_column(index, column, table.column(index).cast(pa.int64()))
        yield from table.to_batches(max_chunksize=1000)


class _Parts:
    """Usages, waits and I/O of a role out of their columns; rows with equal ones share them.

    Most jobs have no I/O in some role, no start-up time and nothing to verify.  Without sharing the record of
    a job takes 9.6 kB.
    """

    def __init__(self) -> None:
        self.usage = lru_cache(_SHARED_PARTS)(_usage_of)
        self.waits = lru_cache(_SHARED_PARTS)(_waits_of)
        self.role_io = lru_cache(_SHARED_PARTS)(_role_io_of)
        self.answer = lru_cache(_SHARED_PARTS)(msgspec.json.decode)


def _usage_of(*values: float | int | None) -> Usage:
    return msgspec.convert(dict(zip(FIELDS, values, strict=True)), Usage)


def _waits_of(*values: float | None) -> Waits:
    return msgspec.convert(dict(zip(WAIT_FIELDS, values, strict=True)), Waits)


def _role_io_of(*values: Any) -> RoleIo | None:
    """A figure that a newer minor version left out counts as none; None where all are missing.

    Zeros, empty histograms and the bounds of buckets are one object each, however many records have them.
    """
    known: Row = {
        name: value if value or value.__class__ is not float else _ZERO
        for name, value in zip(IO_FIELDS, values, strict=True)
        if value is not None
    }
    if not known:
        return None
    for name in HISTOGRAMS:
        known[name] = _histogram(name, known.get(name, ()))
    return RoleIo(**known)


_ZERO = 0.0
_NO_CALLS: Histogram = {}


def _histogram(name: str, buckets: Sequence[tuple[int, int | None]]) -> Histogram:
    found: Histogram = {}
    for bound, calls in buckets:
        if calls is None:
            raise ValueError(f"a bucket of {name} has no calls")
        found[_bucket(bound)] = calls
    return found or _NO_CALLS


@lru_cache(_SHARED_PARTS)
def _bucket(bound: int) -> int:
    """The bound itself, one number for all histograms: there are few bounds and very many histograms."""
    return bound


def _nested(row: Row, instants: list[str], kind: type, parts: _Parts) -> Row:
    for column in instants:
        if row[column] is not None:
            row[column] = row[column] / 1e6
    usages = PREFIXES if kind is JobRecord else {"usage": ""} if kind is StepRecord else {}
    for name, prefix in usages.items():
        row[name] = parts.usage(*[row.pop(prefix + field) for field in FIELDS])
    if kind in (JobRecord, StepRecord):
        row["waits"] = parts.waits(*[row.pop(field) for field in WAIT_FIELDS])
        row["io"] = _nested_io(row, parts)
    if kind is JobRecord:
        row["volume_bytes"] = _nested_volumes(row)
        row["answer"] = parts.answer(row["answer"])
        for name in _OFTEN_ALIKE:
            row[name] = row[name] and sys.intern(row[name])
    return row


def _nested_io(row: Row, parts: _Parts) -> dict[str, RoleIo] | None:
    """I/O by role out of its columns."""
    io: dict[str, RoleIo] = {}
    for role in FILE_ROLES:
        values = [row.pop(f"{role}_{name}") for name in IO_FIELDS]
        part = parts.role_io(*[tuple(value) if isinstance(value, list) else value for value in values])
        if part is not None:
            io[role] = part
    return io or None


def _nested_volumes(row: Row) -> dict[int, tuple[int, int]] | None:
    """Bytes by volume out of their two columns."""
    read, written = (row.pop(name) for name in VOLUME_COLUMNS)
    if read is None or written is None:
        return None
    reads, writes = dict(read), dict(written)
    return {volume: (reads.get(volume, 0), writes.get(volume, 0)) for volume in sorted({*reads, *writes})}
