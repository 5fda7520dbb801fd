"""Distribute tables by a hash of one key, so that equal keys of all of them share a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from mawl.programs.context import JobContext
from mawl.programs.toolkit.ahead import ahead
from mawl.programs.toolkit.partitions import Distributor, Number, partition_count
from mawl.programs.toolkit.rows import Records, Words

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
        done[name].add_batches(ahead(context, read(name)), kind)
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
