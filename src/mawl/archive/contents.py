"""What the files of a run hold, as digests: of each column of its tables, and of each other file.

The manifest has checksums of files; these digests are of the values that mawl read when it printed the
figures.  A pack has both: a table that was altered under a new manifest no longer agrees with its digests.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import compute

from mawl.archive.folder import content_of, files_of
from mawl.store import Run
from mawl.store.layout import TABLES

_ROWS = 2**20


class TableContents(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a table, and the digest of each of its columns."""

    rows: int
    columns: dict[str, str]


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """``tables`` by name; ``files`` is the SHA-256 of every other file of the run, by its name there."""

    tables: dict[str, TableContents]
    files: dict[str, str]


def contents_of(run: Run) -> Contents:
    """What the files of a run hold; raises what reading them raises."""
    tables = {}
    for name in TABLES:
        table = getattr(run, name)
        columns = {column: digest(table[column]) for column in table.column_names}
        tables[name] = TableContents(rows=table.num_rows, columns=columns)
    own = {f"{name}.parquet" for name in TABLES}
    others = [name for name in files_of(run.path) if name not in own]
    files = {name: hashlib.sha256(content_of(run.path, name)).hexdigest() for name in others}
    return Contents(tables=tables, files=files)


def digest(column: pa.ChunkedArray) -> str:
    """SHA-256 of a column's values, lengths of texts and maps, and places of nulls, however it is chunked.

    Numbers are taken as little-endian 64-bit words, points in time as microseconds, texts as UTF-8.
    """
    sums = (hashlib.sha256(), hashlib.sha256(), hashlib.sha256())
    for chunk in column.chunks:
        for begin in range(0, len(chunk), _ROWS):
            _feed(chunk.slice(begin, _ROWS), *sums)
    return hashlib.sha256(b"".join(part.digest() for part in sums)).hexdigest()


def _feed(array: pa.Array, nulls: Any, lengths: Any, values: Any) -> None:
    absent = array.is_null().to_numpy(zero_copy_only=False).tobytes() if array.null_count else None
    nulls.update(bytes(len(array)) if absent is None else absent)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_map(array.type):
        for one in array.to_pylist():
            lengths.update(b"%d;" % len(one or ()))
            values.update(b"".join(b"%d:%d;" % pair for pair in one or ()))
    elif pa.types.is_string(array.type):
        texts = _filled(array, "")
        lengths.update(_words(compute.binary_length(texts)))
        values.update("".join(texts.to_pylist()).encode())
    elif pa.types.is_timestamp(array.type):
        values.update(_words(_filled(array.cast(pa.int64()), 0)))
    else:
        values.update(_words(_filled(array, False if pa.types.is_boolean(array.type) else 0)))


def _filled(array: pa.Array, value: str | int) -> pa.Array:
    """Without nulls.  Most columns have none, and the call takes longer than the digest of a small one."""
    return compute.fill_null(array, value) if array.null_count else array


def _words(array: pa.Array) -> bytes:
    numbers = array.to_numpy(zero_copy_only=False)
    content: bytes = numbers.astype("<f8" if np.issubdtype(numbers.dtype, np.floating) else "<i8").tobytes()
    return content
