"""A job's limits on the libraries in its process: threads here, memory where each engine is opened."""

from __future__ import annotations

import pyarrow as pa
from threadpoolctl import ThreadpoolController


def limit_threads(cpucount: int, *, blas: int = 1) -> None:
    """Let Arrow use ``cpucount`` threads, OpenBLAS and OpenMP ``blas``, for the rest of this process.

    Programs of the catalogue work on blocks side by side (:mod:`mawl.programs.side_by_side`).  Threads of
    OpenBLAS and OpenMP would multiply with that, and wait for each other by looking.
    """
    # Kept for the life of the process: the object restores the old limits only when asked to.
    ThreadpoolController().limit(limits=blas)
    pa.set_cpu_count(cpucount)
    pa.set_io_thread_count(cpucount)


def release_memory() -> None:
    """Give back what Arrow's allocator keeps of freed batches, lest it count in the next step's peak."""
    pa.default_memory_pool().release_unused()
