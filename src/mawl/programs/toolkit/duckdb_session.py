"""The one place that opens DuckDB, with the limits of the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from mawl.records.spec.program_options import MIB, Options

THREAD_BYTES = 64 * MIB
"""For each thread: moments and frequencies by class over 25 to 45 numerics fill 64 MiB at two threads."""


@contextmanager
def session(options: Options, spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory database held to ``memsize`` and ``cpucount`` threads.

    There are no more threads than memory for them (``THREAD_BYTES`` each).  It spills to the
    directory ``spill``.  ``async_threads=0``: DuckDB 2.0 starts eight more threads otherwise, whatever
    ``threads`` says.
    """
    spill.mkdir(mode=0o700, exist_ok=True)
    limit = options.memsize_bytes
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{limit}B",
            "threads": min(options.cpucount, max(limit // THREAD_BYTES, 1)),
            "async_threads": 0,
            "temp_directory": str(spill),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    try:
        connection.execute("SET enable_progress_bar = false")
        yield connection
    finally:
        connection.close()
