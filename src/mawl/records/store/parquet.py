"""The tables of a finished run as Parquet files, and bounds on what reading one may take.

Equal values cost a file nothing, so a small file may hold very many rows.  Tables of real runs need 10 to 60
times the size of their files in memory, and 0.1 to 0.3 s of CPU time for each MiB of their files.
``pyarrow.parquet`` is imported only where it is used: it takes half a second.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.base.errors import UnreadableRunError
from mawl.base.foreign import open_regular
from mawl.base.units import format_memory
from mawl.records.model.node import periods_of
from mawl.records.store.columns import SCHEMAS, conform
from mawl.records.store.files import MOST_ROWS, replacing

Part = TypeVar("Part")

LARGEST_TABLE_BYTES = 8 * 2**30
LEAST_EXPANDED_BYTES = 128 * 2**20
MOST_EXPANDED_RATIO = 250
"""A table may need so much memory at any size of its file, and above it so many times that size."""

LEAST_READING_SECONDS = 30.0
READING_SECONDS_PER_MEBIBYTE = 3.0
"""Reading may take so much CPU time at any size of a file, and so much more for each MiB of it."""


class OverBudgetError(ValueError):
    """A file needs more than mawl reads of one of its size."""


class Budget(msgspec.Struct, frozen=True):
    """The most that is read of one table; as text what a refusal says of it."""

    rows: int
    memory_bytes: int
    cpu_seconds: float

    def __str__(self) -> str:
        return (
            f"mawl reads at most {self.rows} rows, {format_memory(self.memory_bytes)} of memory and "
            f"{self.cpu_seconds:.0f} s of CPU time from a file of this size"
        )


def budget_of(table: str, file_bytes: int) -> Budget:
    """What may be read of a table whose file has this size."""
    most_bytes = max(LEAST_EXPANDED_BYTES, file_bytes * MOST_EXPANDED_RATIO)
    return Budget(MOST_ROWS[table], min(LARGEST_TABLE_BYTES, most_bytes), reading_seconds(file_bytes))


def reading_seconds(file_bytes: int) -> float:
    """CPU seconds that reading a file of this size may take."""
    return LEAST_READING_SECONDS + READING_SECONDS_PER_MEBIBYTE * file_bytes / 2**20


def in_time(
    parts: Iterable[Part], budget: Budget, clock: Callable[[], float] = time.thread_time
) -> Iterator[Part]:
    """The parts as they come; ``OverBudgetError`` once this thread used more CPU than is allowed."""
    ends = clock() + budget.cpu_seconds
    for part in parts:
        if clock() > ends:
            raise OverBudgetError(
                f"reading it takes more than {budget.cpu_seconds:.0f} s of CPU time; {budget}"
            )
        yield part


_VALUE_BYTES = 8
_PART_ROWS = 2**17
"""Most rows of a part: its texts are no longer dictionaries, so a whole group would take much more memory."""


def write_parquet(path: Path, tables: Iterator[pa.Table], name: str) -> None:
    """Write a table whole and synced, or not at all; OSError when it does not fit."""
    from pyarrow import parquet

    with (
        replacing(path) as file,
        parquet.ParquetWriter(file, SCHEMAS[name], compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table)


def _text_bytes(table: pa.Table) -> int:
    """What copies of texts for each row would take."""
    total = 0
    for column in table.columns:
        if pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary).cast(pa.int64())
                total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def _levels(column: Any) -> tuple[int, int]:
    return column.max_definition_level, column.max_repetition_level


@cache
def _declared(name: str) -> dict[str, tuple[int, int]]:
    """The levels (definition, repetition) of each column, by its path, in a file that mawl writes."""
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(SCHEMAS[name].empty_table(), sink)
    schema = parquet.read_metadata(pa.BufferReader(sink.getvalue())).schema
    return {schema.column(index).path: _levels(schema.column(index)) for index in range(len(schema))}


def _check_size(name: str, metadata: Any, budget: Budget) -> None:
    """Refuse a table that memory would not hold, by what its file says of itself; raises ValueError.

    Equal values cost a file nothing: 3 million equal rows of 1.3 kB were 2.2 MB of Parquet.

    Arrow 26 ends the process when it is asked for a column of a row group that contradicts the file's
    schema.  So this asks only for maps, which alone hold more values than the table has rows, and only
    after their declarations were found to be mawl's.
    """
    columns = [metadata.schema.column(index) for index in range(metadata.num_columns)]
    maps = [index for index, column in enumerate(columns) if column.max_repetition_level]
    for index in maps:
        if _levels(columns[index]) != _declared(name).get(columns[index].path):
            raise ValueError(f"column {columns[index].path} holds lists of another kind than mawl writes")
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    if any(group.num_columns != len(columns) for group in groups):
        raise ValueError("some of its rows have other columns than the file declares")
    values = sum(group.column(index).num_values for group in groups for index in maps)
    values += (len(columns) - len(maps)) * sum(group.num_rows for group in groups)
    read = values * _VALUE_BYTES + sum(group.total_byte_size for group in groups)
    if metadata.num_rows > budget.rows or read > budget.memory_bytes:
        raise ValueError(f"its {metadata.num_rows} rows need {format_memory(read)} of memory; {budget}")


def read_parquet(folder: Path, name: str) -> pa.Table:
    """The table ``name`` of a folder, checked; UnreadableRunError with file and column."""
    (table,) = _read(folder, name, lambda file: iter([_whole(file, name)]))
    return table


def parquet_parts(folder: Path, name: str) -> Iterator[pa.Table]:
    """The same, some rows at a time; an error comes with the rows that it is in."""
    return _read(folder, name, _groups)


def _read(folder: Path, name: str, parts: Callable[[Any], Iterator[pa.Table]]) -> Iterator[pa.Table]:
    from pyarrow import parquet

    path = folder / f"{name}.parquet"
    try:
        with open_regular(path, inside=folder) as opened:
            metadata = parquet.read_metadata(opened)
            budget = budget_of(name, os.fstat(opened.fileno()).st_size)
            _check_size(name, metadata, budget)
            # As dictionaries texts take the memory that they take in the file, whatever their number.
            kinds = metadata.schema.to_arrow_schema()
            wanted = {field.name for field in SCHEMAS[name] if pa.types.is_string(field.type)}
            texts = [kind.name for kind in kinds if pa.types.is_string(kind.type) and kind.name in wanted]
            file = parquet.ParquetFile(opened, metadata=metadata, read_dictionary=texts)
            text_bytes = 0
            for part in parts(file):
                text_bytes += _text_bytes(part)
                if text_bytes > budget.memory_bytes:
                    raise ValueError(f"its texts need {format_memory(text_bytes)} of memory; {budget}")
                yield conform(name, part, path)
    except FileNotFoundError:
        raise UnreadableRunError(
            "is missing", where=str(path), cure="copy the whole run folder, with all its tables"
        ) from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        said = (isinstance(error, OSError) and error.strerror) or str(error)
        why = said.splitlines()[0][:200] if said else type(error).__name__
        raise UnreadableRunError(
            "is not a table of a run", where=str(path), why=why, cure="copy it again from where it was made"
        ) from None


def _groups(file: Any) -> Iterator[pa.Table]:
    if not file.num_row_groups:
        yield file.read()
    for number in range(file.num_row_groups):
        group = file.read_row_group(number)
        for start in range(0, len(group) or 1, _PART_ROWS):  # of no rows columns are checked, too
            yield group.slice(start, _PART_ROWS)
        del group
        pa.default_memory_pool().release_unused()  # Arrow keeps what it frees: 0.1 GB of 11 million samples


def _whole(file: Any, name: str) -> pa.Table:
    return _without_gaps(file) if name == "steps" and file.num_row_groups else file.read()


def _without_gaps(file: Any) -> pa.Table:
    """The table of a file, group of rows by group; columns without a value in a group share their memory.

    An import has no value in three of four columns of steps, and Arrow keeps 8 bytes of each: the HTML report
    of 117,000 steps took 351 MB with them, and takes 219 MB.
    """
    empty = cache(pa.nulls)
    parts = []
    for number in range(file.num_row_groups):
        part = file.read_row_group(number)
        columns = [
            empty(part.num_rows, column.type) if column.null_count == part.num_rows else column
            for column in part.columns
        ]
        parts.append(pa.table(columns, schema=part.schema))
    return pa.concat_tables(parts)


def elapsed_seconds(folder: Path, *, imported: bool = False) -> float | None:
    """The first start of a job to the last end, from these two columns of a finished run alone.

    None where no job has both, or its table cannot be read: who opens the run is told why.  None, too,
    where the jobs of an import are not one run (``periods_of``).
    """
    from pyarrow import parquet

    try:
        with open_regular(folder / "jobs.parquet", inside=folder) as opened:
            metadata = parquet.read_metadata(opened)
            _check_size("jobs", metadata, budget_of("jobs", os.fstat(opened.fileno()).st_size))
            table = parquet.ParquetFile(opened, metadata=metadata).read(["started_at", "ended_at"])
        both = table.drop_null()
        first, last = (compute.min(both["started_at"]).as_py(), compute.max(both["ended_at"]).as_py())
        starts, ends = (
            [at.timestamp() for at in both[name].to_pylist()] for name in ("started_at", "ended_at")
        )
    except (pa.ArrowException, OSError, ValueError, MemoryError, KeyError):
        return None
    apart = imported and len(periods_of(zip(starts, ends, strict=True))) > 1
    return None if first is None or apart else max(0.0, (last - first).total_seconds())
