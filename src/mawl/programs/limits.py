"""A job's limits on the libraries in its process: threads here, memory where each engine is opened."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pyarrow as pa
from threadpoolctl import ThreadpoolController, threadpool_limits

_found: list[ThreadpoolController] = []
"""The libraries of this process, from the last :func:`limit_threads`: looking for them reads 190 kB."""


def limit_threads(cpucount: int) -> None:
    """Let OpenBLAS, OpenMP and Arrow use ``cpucount`` threads, for the rest of this process.

    OpenBLAS and OpenMP get no more than there are processors for the job: their threads wait for each other
    by looking, and one that has no processor to run on lets all others look.
    """
    _found[:] = [ThreadpoolController()]
    # Kept for the life of the process: the object restores the old limits only when asked to.
    _found[0].limit(limits=min(cpucount, len(os.sched_getaffinity(0))))
    pa.set_cpu_count(cpucount)
    pa.set_io_thread_count(cpucount)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenBLAS and OpenMP use one thread for a while: for many small problems, each after the other.

    More than one cost time there: with four on two cores forecasting took thirty times the CPU.
    """
    with _found[0].limit(limits=1) if _found else threadpool_limits(limits=1):
        yield


def release_memory() -> None:
    """Give back what Arrow's allocator keeps of freed batches, lest it count in the next step's peak."""
    pa.default_memory_pool().release_unused()
