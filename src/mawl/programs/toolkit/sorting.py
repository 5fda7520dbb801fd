"""Sort a table of any size within sort memory: distribute it by key range, or by hash, and sort each part.

Rows are ordered by two whole-number keys and, among equals, by a third that is unique; so the
answer is the same on every machine, and one value of the first two keys may fill many partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError
from mawl.programs.context import JobContext
from mawl.programs.tables.arrow import batch_rows
from mawl.programs.toolkit.partitions import (
    Distributor,
    Number,
    partition_count,
    read_ahead,
    read_chunks,
    read_rows,
    room_rows,
    rows_in,
)
from mawl.programs.toolkit.rows import Records, Words, memory

SAMPLES_PER_PARTITION = 256
"""Sampled keys per partition: sizes then vary by 1/16 (standard deviation), see the design note."""

Keys = tuple[str, str, str]


class KeyRanges:
    """Boundaries between partitions in the order of (first key, second key, unique key)."""

    def __init__(self, sample: KeySample, partitions: int) -> None:
        pairs, unique = sample.sorted()
        places = np.arange(1, partitions) * len(pairs) // partitions
        self.pairs = pairs[places]
        self.unique = unique[places]
        self.count = partitions

    def number(self, pairs: NDArray[np.uint64], unique: NDArray[np.float64]) -> NDArray[np.int64]:
        """The partition of each row: how many boundaries are not above it."""
        low = np.searchsorted(self.pairs, pairs, side="left")
        high = np.searchsorted(self.pairs, pairs, side="right")
        # Where boundaries have the row's own keys the unique key decides.
        tied = np.flatnonzero(low < high)
        starts = low[tied]
        for first in np.unique(starts):
            rows = tied[starts == first]
            boundaries = self.unique[first : high[rows[0]]]
            low[rows] = first + np.searchsorted(boundaries, unique[rows], side="right")
        return low


class KeySample:
    """Keys seen here and there in a table."""

    def __init__(self) -> None:
        self._pairs: list[NDArray[np.uint64]] = []
        self._unique: list[NDArray[np.float64]] = []

    def add(
        self, first: NDArray[np.float64], second: NDArray[np.float64], unique: NDArray[np.float64]
    ) -> None:
        self._pairs.append(paired(first, second))
        self._unique.append(unique.copy())

    def sorted(self) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
        pairs, unique = np.concatenate(self._pairs), np.concatenate(self._unique)
        order = np.lexsort((unique, pairs))
        return pairs[order], unique[order]


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Two whole-number keys from 0 to 2**32 - 1 as one, in the same order.

    Raises ``DamagedTableError`` where a key is out of that range.
    """
    for key in (first, second):
        if len(key) and not (key.min() >= 0.0 and key.max() < 2.0**32):
            raise DamagedTableError("a sort key is no whole number from 0 to 2**32 - 1")
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)


def distribute(
    context: JobContext,
    batches: Iterator[pa.RecordBatch],
    records: Records,
    keys: Keys,
    ranges: KeyRanges,
    name: str,
) -> Distributor:
    """Distribute a table's rows (the columns in ``records``) to partition files under util."""
    options = context.options
    distributor = Distributor(
        [context.util(f"{name}-{number:05d}.rows") for number in range(ranges.count)],
        lambda rows: ranges.number(*_keys(records, rows, keys)),
        records.words,
        sortsize_bytes=options.sortsize_bytes,
        bufsize_bytes=options.bufsize_bytes,
        threads=context.threads,
    )
    distributor.add_batches(read_ahead(context, batches), records)
    return distributor


def sorted_batches(
    context: JobContext, paths: Sequence[Path], records: Records, keys: Keys
) -> Iterator[pa.RecordBatch]:
    """The rows of the partition files in order, as record batches; see ``sorted_rows``."""
    return map(records.batch, sorted_rows(context, paths, records, keys))


def sorted_rows(context: JobContext, paths: Sequence[Path], records: Records, keys: Keys) -> Iterator[Words]:
    """The rows of the partition files in order, some at a time; each file is removed when read.

    A partition that sampling left larger than its sort memory is distributed once more.
    """
    room = room_rows(records.bytes, context.partition_sortsize_bytes)
    fitting: list[Path] = []
    for path in paths:
        if path.exists() and rows_in(path, records.words) > room:
            yield from _sorted_fitting(context, fitting, records, keys)
            fitting = []
            yield from sorted_rows(context, _split(context, path, records, keys), records, keys)
        else:
            fitting.append(path)
    yield from _sorted_fitting(context, fitting, records, keys)


def _sorted_fitting(
    context: JobContext, paths: Sequence[Path], records: Records, keys: Keys
) -> Iterator[Words]:
    # Twice the usual: what is done once a batch, checks above all, is then done half as often.
    size = 2 * batch_rows(records.bytes)
    for rows, order in read_ahead(context, _ordered(context, paths, records, keys)):
        for start in range(0, len(rows), size):
            yield np.take(rows, order[start : start + size], axis=0)


def _ordered(
    context: JobContext, paths: Sequence[Path], records: Records, keys: Keys
) -> Iterator[tuple[Words, NDArray[np.int64]]]:
    """Rows of partitions and their order, good until the next but one (with one thread until the next)."""
    room = room_rows(records.bytes, context.partition_sortsize_bytes)
    spaces: list[Words] = []
    for number, path in enumerate(paths):
        if len(spaces) < min(context.threads, 2):
            spaces.append(memory(room, records.words))
        rows = read_rows(path, spaces[number % len(spaces)], bufsize_bytes=context.options.bufsize_bytes)
        path.unlink(missing_ok=True)
        pairs, unique = _keys(records, rows, keys)
        yield rows, np.lexsort((unique, pairs))


def _split(context: JobContext, path: Path, records: Records, keys: Keys) -> list[Path]:
    """Distribute one oversized partition; its name gives the new files theirs."""
    options = context.options
    rows = rows_in(path, records.words)
    parts = partition_count(rows * records.bytes, context.partition_sortsize_bytes)
    # Within an eighth of sort memory, since the distributor takes the rest.
    chunk = memory(max(options.sortsize_bytes // 8 // records.bytes, 1), records.words)
    every = max(rows // (SAMPLES_PER_PARTITION * parts), 1)
    sample = KeySample()
    for some in read_chunks(path, chunk, bufsize_bytes=options.bufsize_bytes):
        sample.add(*(records.numbers(some[::every], key) for key in keys))
    ranges = KeyRanges(sample, parts)
    distributor = Distributor(
        [path.with_name(f"{path.stem}-{number:05d}.rows") for number in range(parts)],
        lambda rows: ranges.number(*_keys(records, rows, keys)),
        records.words,
        sortsize_bytes=options.sortsize_bytes,
        bufsize_bytes=options.bufsize_bytes,
        threads=context.threads,
    )
    distributor.add_rows(read_chunks(path, chunk, bufsize_bytes=options.bufsize_bytes))
    path.unlink()
    if distributor.rows.max() == rows:
        raise DamagedTableError("a partition cannot be split", where=str(path), why=f"{keys[2]} repeats")
    return distributor.paths


def _keys(records: Records, rows: Words, keys: Keys) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    first, second, unique = (records.numbers(rows, key) for key in keys)
    return paired(first, second), unique


_HASH = np.uint64(0x9E37_79B9_7F4A_7C15)


def distribute_by_hash(
    context: JobContext,
    records: Mapping[str, Records],
    rows: Mapping[str, int],
    read: Callable[[str], Iterator[pa.RecordBatch]],
    key: str,
) -> dict[str, Distributor]:
    """Distribute tables, one after another, to partition files under util.

    ``records`` are the columns of each table that go there and ``rows`` its rows; ``read`` makes the
    pass over it.  Partitions of one number, all tables together, are half of sort memory on average.
    """
    options = context.options
    size = sum(records[name].bytes * rows[name] for name in records)
    partitions = partition_count(size, options.sortsize_bytes)
    done: dict[str, Distributor] = {}
    for name, kind in records.items():
        done[name] = Distributor(
            [context.util(f"{name}-{number:05d}.rows") for number in range(partitions)],
            _by_hash(kind, key, partitions),
            kind.words,
            sortsize_bytes=options.sortsize_bytes,
            bufsize_bytes=options.bufsize_bytes,
            threads=context.threads,
        )
        done[name].add_batches(read_ahead(context, read(name)), kind)
    return done


def _by_hash(records: Records, key: str, partitions: int) -> Number:
    """Partition by a hash of a whole number: dense keys spread evenly, equal ones stay together."""

    def number(rows: Words) -> Words:
        hashed = records.numbers(rows, key).astype(np.uint64)
        hashed *= _HASH
        hashed >>= np.uint64(32)
        hashed %= np.uint64(partitions)
        return hashed

    return number
