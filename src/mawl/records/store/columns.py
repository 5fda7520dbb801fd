"""The columns of a run folder's tables: Arrow schemas, and records to rows (back: ``records.store.rows``).

Column names are the field names; a job's four usages are flat, its own without a prefix and the
others as ``startup_``, ``verify_`` and ``total_``; I/O has the role before its names
(``data_read_bytes``), and waits have none.  Points in time are ``timestamp[us, UTC]``; an
answer and notes are JSON text.  docs/design/run-folder.md lists every column.
"""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyarrow import compute, ipc

from mawl.base.errors import UnreadableRunError
from mawl.records.model.records import FIELDS, StepRecord
from mawl.records.model.role_io import FILE_ROLES, HISTOGRAMS, IO_FIELDS, WAIT_FIELDS, IoByRole, RoleIo
from mawl.records.store.facts import in_calendar, is_instant
from mawl.records.store.files import FORMAT_VERSION, LARGEST_NUMBER

Row = dict[str, Any]

INSTANT = pa.timestamp("us", tz="UTC")
PREFIXES = {"usage": "", "startup": "startup_", "verify": "verify_", "total": "total_"}
"""Field of a job that holds a usage, to the prefix of its columns."""

HISTOGRAM = pa.map_(pa.int64(), pa.int64())
"""Lower bound of a bucket to calls; of ``volume_*``, number of a volume to bytes."""

VOLUME_COLUMNS = ("volume_read_bytes", "volume_written_bytes")


def _usage(prefix: str) -> list[pa.Field]:
    return [pa.field(prefix + name, _kind(name)) for name in FIELDS]


def _kind(name: str) -> pa.DataType:
    return HISTOGRAM if name in HISTOGRAMS else pa.float64() if name.endswith("_seconds") else pa.int64()


def _io() -> list[pa.Field]:
    """I/O of every role, and waits: null in runs of format 1.0 and where they were not measured."""
    figures = [(f"{role}_{name}", _kind(name)) for role in FILE_ROLES for name in IO_FIELDS]
    return [pa.field(name, kind) for name, kind in figures] + [
        pa.field(name, pa.float64()) for name in WAIT_FIELDS
    ]


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _schema(*fields: pa.Field) -> pa.Schema:
    return pa.schema(fields, metadata={"mawl_format_version": FORMAT_VERSION})


SCHEMAS: dict[str, pa.Schema] = {
    "jobs": _schema(
        *(_required(name, pa.string()) for name in ("job", "program", "program_class", "session")),
        _required("stage", pa.int64()),
        _required("node", pa.string()),
        _required("replica", pa.int64()),
        pa.field("gate", pa.string()),
        _required("trail_out", pa.bool_()),
        _required("outcome", pa.string()),
        pa.field("verified", pa.bool_()),
        pa.field("reason", pa.string()),
        pa.field("exit_code", pa.int64()),
        pa.field("signal", pa.int64()),
        *(pa.field(name, INSTANT) for name in ("ready_at", "started_at", "ended_at")),
        *(field for prefix in PREFIXES.values() for field in _usage(prefix)),
        _required("steps", pa.int64()),
        _required("leftover_processes", pa.int64()),
        _required("answer", pa.string()),
        *_io(),
        pa.field("counted_read_bytes", pa.int64()),
        pa.field("counted_written_bytes", pa.int64()),
        pa.field("io_remark", pa.string()),
        pa.field("private_memory_bytes", pa.int64()),
        pa.field("direct_read_bytes", pa.int64()),
        pa.field("direct_written_bytes", pa.int64()),
        *(pa.field(name, HISTOGRAM) for name in VOLUME_COLUMNS),
        pa.field("submitted_at", INSTANT),
        pa.field("queue_seconds", pa.float64()),
    ),
    "steps": _schema(
        _required("job", pa.string()),
        _required("number", pa.int64()),
        _required("name", pa.string()),
        _required("kind", pa.string()),
        pa.field("started_at", INSTANT),
        pa.field("ended_at", INSTANT),
        *_usage(""),
        pa.field("rows_read", pa.int64()),
        pa.field("rows_written", pa.int64()),
        pa.field("direct_read_bytes", pa.int64()),
        pa.field("direct_written_bytes", pa.int64()),
        pa.field("variables_written", pa.int64()),
        *_io(),
        pa.field("notes", pa.string()),
    ),
    "events": _schema(
        _required("happened_at", INSTANT),
        _required("event", pa.string()),
        pa.field("job", pa.string()),
        pa.field("detail", pa.string()),
    ),
    "samples": _schema(
        _required("node", pa.string()),
        _required("sampled_at", INSTANT),
        _required("series", pa.string()),
        _required("value", pa.float64()),
    ),
}


_SAMPLE = SCHEMAS["samples"].field("value")


def to_table(name: str, records: Iterable[msgspec.Struct]) -> pa.Table:
    """Records as the table ``name``; OverflowError or ArrowInvalid for a number no column can hold."""
    schema = SCHEMAS[name]
    columns: dict[str, list[Any]] = {column: [] for column in schema.names}
    for record in records:
        row = _flat(record)
        for column, values in columns.items():
            values.append(row[column])
    return pa.table(
        {column: pa.array(values, schema.field(column).type) for column, values in columns.items()}, schema
    )


def plain_steps(records: Sequence[StepRecord]) -> pa.Table:
    """``to_table`` of steps without I/O by role and waits (imported ones), column by column.

    The columns of I/O by role and waits are left out: ``whole_steps`` adds them.
    """
    usages = [record.usage for record in records]
    columns: dict[str, pa.Array] = {}
    for field in SCHEMAS["steps"]:
        if field.name in FIELDS:
            values = list(map(attrgetter(field.name), usages))
        elif field.name in StepRecord.__struct_fields__:
            values = list(map(attrgetter(field.name), records))
            if is_instant(field.name):
                values = [None if value is None else round(value * 1e6) for value in values]
            elif field.name == "notes":
                values = list(map(_json, values))
        else:
            continue
        columns[field.name] = pa.array(values, field.type)
    return pa.table(columns)


def whole_steps(table: pa.Table) -> pa.Table:
    """The table with all columns of ``steps``, null if it lacks them.  Times may be whole microseconds."""
    schema, present = SCHEMAS["steps"], set(table.schema.names)
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in present
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _flat(record: msgspec.Struct) -> Row:
    row: Row = {}
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if is_instant(name):
            row[name] = None if value is None else round(value * 1e6)
        elif name in PREFIXES:
            row.update((PREFIXES[name] + field, getattr(value, field)) for field in FIELDS)
        elif name == "waits":
            row.update((field, getattr(value, field)) for field in WAIT_FIELDS)
        elif name == "io":
            row.update(_UNKNOWN_IO if value is None else _flat_io(value))
        elif name == "volume_bytes":
            for place, column in enumerate(VOLUME_COLUMNS):
                row[column] = None if value is None else [(key, both[place]) for key, both in value.items()]
        elif name == "notes":
            row[name] = _json(value)
        else:
            row[name] = msgspec.json.encode(value, order="sorted").decode() if name == "answer" else value
    return row


def _json(value: msgspec.Struct | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


_UNKNOWN_IO = {f"{role}_{name}": None for role in FILE_ROLES for name in IO_FIELDS}


def _flat_io(io: IoByRole) -> Iterator[tuple[str, Any]]:
    for role in FILE_ROLES:
        part = io.get(role, RoleIo())
        for name in IO_FIELDS:
            value = getattr(part, name)
            yield f"{role}_{name}", list(value.items()) if isinstance(value, dict) else value


def _in_calendar(column: pa.ChunkedArray) -> bool:
    span = compute.min_max(column.cast(pa.int64())).as_py()
    return span["min"] is None or (in_calendar(span["min"] / 1e6) and in_calendar(span["max"] / 1e6))


def _is_number(field: pa.Field, column: pa.ChunkedArray) -> bool:
    """Whether every value is a number that can be added up; null is none, and fine.

    A sample's NaN says that a recording has no figure there (``figures.series`` leaves it out).
    """
    if not field.equals(_SAMPLE) and compute.any(compute.is_nan(column)).as_py():
        return False
    span = compute.min_max(column).as_py()  # passes over null and NaN, and copies nothing
    least, most = span["min"], span["max"]
    return least is None or math.isnan(least) or (least >= -LARGEST_NUMBER and most <= LARGEST_NUMBER)


def in_bounds(table: pa.Table) -> pa.Table:
    """The table; ValueError where a number in it cannot be added up."""
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_floating(field.type) and not _is_number(field, column):
            raise ValueError(f"{field.name}: a number that is not finite, or above {LARGEST_NUMBER:g}")
    return table


def conform(name: str, table: pa.Table, where: Path) -> pa.Table:
    """The table with exactly the columns and types of this version.

    Columns of a newer minor version are dropped; a column that may be missing is all null then.
    Raises ``UnreadableRunError`` for any other difference.
    """
    columns = []
    times = Counter(table.schema.names)
    for field in SCHEMAS[name]:
        place = f"{where}: column {field.name}"
        if times[field.name] != 1:
            if field.nullable and not times[field.name]:
                columns.append(pa.nulls(table.num_rows, field.type))
                continue
            raise UnreadableRunError("is missing or there twice", where=place)
        try:
            column = table.column(field.name).cast(field.type)
            column.validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            why = f"expected {field.type}, found {table.schema.field(field.name).type} ({str(error)[:100]})"
            raise UnreadableRunError("holds something else", where=place, why=why) from None
        if column.null_count and not field.nullable:
            raise UnreadableRunError("has rows without a value", where=place)
        if pa.types.is_floating(field.type) and not _is_number(field, column):
            raise UnreadableRunError(
                f"holds a number that is not finite, or above {LARGEST_NUMBER:g}", where=place
            )
        if field.type == INSTANT and not _in_calendar(column):
            raise UnreadableRunError("holds times outside the years 1 to 9999", where=place)
        columns.append(column)
    return pa.table(columns, schema=SCHEMAS[name])


MOST_SERIES = 4096
"""Of one batch: a frame keeps a column in one piece up to 128 KiB."""

_SCHEMA = SCHEMAS["samples"]
_COMPRESSED = ipc.IpcWriteOptions(compression="zstd")


def message_of(batch: pa.RecordBatch) -> bytes:
    """A batch of the table ``samples``, compressed, as bytes of an IPC stream."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, _SCHEMA, options=_COMPRESSED) as stream:
        stream.write_batch(batch)
        end = sink.tell()
    return bytes(sink.getvalue()[_SCHEMA.serialize().size : end])


class BatchForm:
    """A batch of the table ``samples`` for one node and these series, at most ``MOST_SERIES``.

    It is made once and filled in anew each second, since only times and values change.  Making one takes
    25 us in a loop but 250 us once a second, when little of Arrow is in the processor's caches any more;
    filling one in takes a tenth of that.  Batches are compressed with Zstandard, which makes names of series
    a fifth of their size.  Columns that do not compress are in a frame as they are, so the batch is made with
    random times and values, and those are found in it and replaced.
    """

    def __init__(self, node: str, series: Sequence[str]) -> None:
        count = len(series)
        self._count, self._values = count, struct.Struct(f"<{count}d")
        draw = random.Random(0)
        moments, values = (draw.randbytes(self._values.size) for _ in range(2))
        columns = [
            _texts([node] * count),
            _fixed(INSTANT, moments),
            _texts(series),
            _fixed(pa.float64(), values),
        ]
        self._content = bytearray(message_of(pa.record_batch(columns, schema=_SCHEMA)))
        self._moments_at = self._content.index(moments)
        self._values_at = self._content.index(values)

    def filled(self, microseconds: int, values: Collection[float]) -> bytes:
        """The batch as bytes of an IPC stream; ``microseconds`` since the epoch, values in order."""
        moments = struct.pack("<q", microseconds) * self._count
        self._content[self._moments_at : self._moments_at + len(moments)] = moments
        self._values.pack_into(self._content, self._values_at, *values)
        return bytes(self._content)


# pa.array would do, and imports pandas where it is installed: a fifth of a CPU second, while jobs run.


def _texts(texts: Sequence[str]) -> pa.Array:
    encoded = [text.encode() for text in texts]
    ends = [0, *itertools.accumulate(map(len, encoded))]
    offsets = struct.pack(f"<{len(ends)}i", *ends)
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    )


def _fixed(kind: pa.DataType, content: bytes) -> pa.Array:
    return pa.Array.from_buffers(kind, len(content) // 8, [None, pa.py_buffer(content)])
