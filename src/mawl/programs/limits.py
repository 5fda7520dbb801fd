"""A job's limits on the libraries in its process: threads here, memory where each engine is opened."""

from __future__ import annotations

import pyarrow as pa
from threadpoolctl import threadpool_limits


def limit_threads(cpucount: int) -> None:
    """Let OpenBLAS, OpenMP and Arrow use ``cpucount`` threads, for the rest of this process."""
    # Kept for the life of the process: the object restores the old limits only when asked to.
    threadpool_limits(limits=cpucount)
    pa.set_cpu_count(cpucount)
    pa.set_io_thread_count(cpucount)


def release_memory() -> None:
    """Give back what Arrow's allocator keeps of freed batches, lest it count in the next step's peak."""
    pa.default_memory_pool().release_unused()
