"""The tables of a finished run, as Parquet files.

Parquet is imported when it is needed: half a second of start-up that only the end of a run, and
its readers, should pay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from mawl.errors import UnreadableRunError
from mawl.foreign import open_regular
from mawl.store.columns import SCHEMAS, conform
from mawl.store.layout import LARGEST_TABLE_BYTES, MOST_ROWS
from mawl.store.upgrades import Upgrade


def write_parquet(path: Path, tables: Iterator[pa.Table], name: str) -> None:
    """Write a table whole and synced, or not at all; OSError when it does not fit."""
    from pyarrow import parquet

    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            with parquet.ParquetWriter(file, SCHEMAS[name], compression="zstd") as writer:
                for table in tables:
                    writer.write_table(table)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(0o600)
        beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)


def read_parquet(folder: Path, name: str, steps: Sequence[Upgrade]) -> pa.Table:
    """The table ``name`` of a folder, upgraded and checked; UnreadableRunError with file and column."""
    from pyarrow import parquet

    path = folder / f"{name}.parquet"
    try:
        with open_regular(path, inside=folder) as opened, parquet.ParquetFile(opened) as file:
            groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
            if file.metadata.num_rows > MOST_ROWS[name]:
                raise ValueError(f"{file.metadata.num_rows} rows are more than mawl reads")
            if sum(group.total_byte_size for group in groups) > LARGEST_TABLE_BYTES:
                raise ValueError("its rows are larger than mawl reads")
            table = file.read()
        for step in steps:
            table = step.table(name, table)
    except FileNotFoundError:
        raise UnreadableRunError(
            "is missing", where=str(path), cure="copy the whole run folder, with all its tables"
        ) from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UnreadableRunError(
            "is not a table of a run", where=str(path), why=why, cure="copy it again from where it was made"
        ) from None
    return conform(name, table, path)
