"""A job's limits on the libraries in its process: threads here, memory where each engine is opened."""

from __future__ import annotations

import pyarrow as pa
from threadpoolctl import ThreadpoolController

from mawl.errors import UnsuitableMachineError
from mawl.measure.account import address_space_bytes, address_space_limit
from mawl.spec.program_options import Options
from mawl.units import format_memory

_BLAS_BYTES = 2 * 32 * 2**20
"""Buffers of a thread in NumPy's OpenBLAS and in SciPy's.  Where OpenBLAS gets none it tries again without
end: a job under a small limit of address space used a processor and never ended."""


def limit_threads(cpucount: int, *, blas: int = 1) -> None:
    """Let Arrow use ``cpucount`` threads, OpenBLAS and OpenMP ``blas``, for the rest of this process.

    Programs of the catalogue work on blocks side by side (:mod:`mawl.programs.toolkit.side_by_side`).
    Threads of OpenBLAS and OpenMP would multiply with that, and wait for each other by looking.
    """
    # Kept for the life of the process: the object restores the old limits only when asked to.
    ThreadpoolController().limit(limits=blas)
    pa.set_cpu_count(cpucount)
    pa.set_io_thread_count(cpucount)


def check_address_space(options: Options) -> None:
    """Refuse a job whose memory and buffers do not fit under the limit of address space."""
    limit, used = address_space_limit(), address_space_bytes()
    if limit is None:
        return
    needed = options.memsize_bytes + _BLAS_BYTES * options.cpucount
    if used + needed > limit:
        raise UnsuitableMachineError(
            "the limit of a process's address space is too small for the job",
            why=f"ulimit -v allows {format_memory(limit)}; the libraries take {format_memory(used)}, the job "
            f"needs {format_memory(needed)} more (memsize, and buffers of linear algebra)",
            cure=f"raise it: ulimit -v {-(-(used + needed) // 1024)}, or unlimited",
        )


def release_memory() -> None:
    """Give back what Arrow's allocator keeps of freed batches, lest it count in the next step's peak."""
    pa.default_memory_pool().release_unused()
