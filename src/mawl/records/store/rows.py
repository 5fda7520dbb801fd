"""The rows of a run folder's tables as records; equal parts of records are one object each.

The inverse of ``to_table``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from mawl.base.foreign import json_tree
from mawl.records.model.records import FIELDS, EventRecord, JobRecord, StepNotes, StepRecord, Usage
from mawl.records.model.role_io import (
    FILE_ROLES,
    HISTOGRAMS,
    IO_FIELDS,
    WAIT_FIELDS,
    Histogram,
    RoleIo,
    Waits,
)
from mawl.records.store.columns import PREFIXES, VOLUME_COLUMNS, Row
from mawl.records.store.facts import is_instant
from mawl.records.store.parquet import Budget, in_time

Record = TypeVar("Record", JobRecord, StepRecord, EventRecord)

Buckets = tuple[tuple[int, int], ...]
"""The entries of a column of maps in one row."""

PART_ROWS = 5000
"""Rows of a part in ``in_parts``: some megabytes."""

_SHARED_PARTS = 4096
"""Parts of records (usages, waits, I/O of a role, answers) that are kept to be shared by the next rows."""

_OFTEN_ALIKE = ("program", "program_class", "session", "node", "gate", "outcome")
"""Texts that many jobs have in common: one object each."""


def in_parts(table: pa.Table) -> Iterator[pa.Table]:
    """The table in copies of ``PART_ROWS`` rows; none of it stays in memory once its records are made.

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
        for row in _rows(batch, kind, shared, name, number):
            number += 1
            try:
                yield msgspec.convert(row, kind)
            except ValueError as error:
                raise _of_row(number, name, error) from None


def _of_row(number: int, name: str, error: ValueError) -> ValueError:
    return ValueError(f"row {number} of {name}: {error}")


def _rows(batch: pa.RecordBatch, kind: type, parts: _Parts, name: str, before: int) -> Iterator[Row]:
    """The rows of a batch, made column by column: a Python loop over 400 columns of each row took 0.2 ms."""
    try:
        columns = _columns(batch, kind, parts)
    except ValueError as error:
        if batch.num_rows == 1:
            raise _of_row(before + 1, name, error) from None
        for place in range(batch.num_rows):  # one of them is named
            yield from _rows(batch.slice(place, 1), kind, parts, name, before + place)
        return
    names = tuple(columns)
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(names, values, strict=True))


def _batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
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
        self.answer = lru_cache(_SHARED_PARTS)(json_tree)
        self.notes = lru_cache(_SHARED_PARTS)(msgspec.json.Decoder(StepNotes).decode)


def _usage_of(*values: float | int | None) -> Usage:
    return Usage(**dict(zip(FIELDS, values, strict=True)))  # type: ignore[arg-type]


def _waits_of(*values: float | None) -> Waits:
    return Waits(**dict(zip(WAIT_FIELDS, values, strict=True)))


def _role_io_of(*values: Any) -> RoleIo | None:
    """A figure that a newer minor version left out counts as none; None where all are missing.

    Zeros, empty histograms and the bounds of buckets are one object each, however many records have them.
    """
    known: Row = dict(zip(IO_FIELDS, values, strict=True))
    if None in values:
        known = {name: value for name, value in known.items() if value is not None}
    if not known:
        return None
    for name in HISTOGRAMS:
        known[name] = _histogram(name, known.get(name, ()))
    return RoleIo(**known)


_ZERO = 0.0
_NO_BUCKETS: Buckets = ()
_NO_CALLS: Histogram = {}


def _histogram(name: str, buckets: Buckets) -> Histogram:
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


def _columns(batch: pa.RecordBatch, kind: type, parts: _Parts) -> dict[str, list[Any]]:
    columns = {name: batch.column(name) for name in batch.schema.names}

    def values(names: Iterable[str]) -> list[list[Any]]:
        return [_values(columns.pop(name)) for name in names]

    found: dict[str, list[Any]] = {}
    usages = PREFIXES if kind is JobRecord else {"usage": ""} if kind is StepRecord else {}
    for name, prefix in usages.items():
        found[name] = list(map(parts.usage, *values(prefix + field for field in FIELDS)))
    if kind in (JobRecord, StepRecord):
        found["waits"] = list(map(parts.waits, *values(WAIT_FIELDS)))
        by_role = [
            list(map(parts.role_io, *values(f"{role}_{name}" for name in IO_FIELDS))) for role in FILE_ROLES
        ]
        found["io"] = [_by_role(roles) for roles in zip(*by_role, strict=True)]
    if kind is StepRecord and "notes" in columns:
        [notes] = values(["notes"])
        found["notes"] = [None if text is None else parts.notes(text) for text in notes]
    if kind is JobRecord:
        found["volume_bytes"] = list(map(_by_volume, *values(VOLUME_COLUMNS)))
        [answers] = values(["answer"])
        found["answer"] = list(map(parts.answer, answers))
        for name in _OFTEN_ALIKE:
            [texts] = values([name])
            found[name] = [text and sys.intern(text) for text in texts]
    for name in list(columns):
        [found[name]] = values([name])
        if is_instant(name):
            found[name] = [None if at is None else at / 1e6 for at in found[name]]
    return found


def _values(column: pa.Array) -> list[Any]:
    """As ``to_pylist``, which makes a scalar of each value first; buckets are tuples.

    Zeros of seconds are one object.
    """
    kind, count = column.type, len(column)
    if column.null_count == count:
        return [None] * count
    if pa.types.is_map(kind):
        values = _buckets(column)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = column.fill_null(0).to_numpy(zero_copy_only=False).tolist()
        if pa.types.is_floating(kind):
            values = [value or _ZERO for value in values]
    else:
        return column.to_pylist()  # type: ignore[no-any-return]
    if not column.null_count:
        return values
    known = column.is_valid().to_numpy(zero_copy_only=False).tolist()
    return [value if there else None for value, there in zip(values, known, strict=True)]


def _buckets(column: pa.MapArray) -> list[Any]:
    offsets = column.offsets.to_numpy().tolist()
    first, last = offsets[0], offsets[-1]
    if first == last:
        return [_NO_BUCKETS] * len(column)
    keys, items = (_values(part[first:last]) for part in (column.keys, column.items))
    entries = list(zip(keys, items, strict=True))
    return [tuple(entries[start - first : end - first]) for start, end in pairwise(offsets)]


def _by_role(roles: tuple[RoleIo | None, ...]) -> dict[str, RoleIo] | None:
    return {role: part for role, part in zip(FILE_ROLES, roles, strict=True) if part is not None} or None


def _by_volume(read: Buckets | None, written: Buckets | None) -> dict[int, tuple[int, int]] | None:
    if read is None or written is None:
        return None
    reads, writes = dict(read), dict(written)
    return {volume: (reads.get(volume, 0), writes.get(volume, 0)) for volume in sorted({*reads, *writes})}
