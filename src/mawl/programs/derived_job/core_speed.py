"""The speed of a core: how fast one thread does a round of all kernels, where the reference core has 1."""

from __future__ import annotations

import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits

from mawl.model.derived import KERNELS
from mawl.programs.derived_job.kernels import Kernels, Memory

REFERENCE_SECONDS = 0.00043
"""CPU seconds of a round on the reference core: a vCPU of an AMD EPYC virtual machine (2026-11-25)."""

ROUNDS = 300


def core_speed(clock: Callable[[], float] = time.thread_time) -> float:
    """The reference core's seconds over this core's, of the fastest of :data:`ROUNDS` rounds.

    The fastest, since neighbours of a core only ever make a round slower.  Takes about a fifth of a second.
    """
    memory = Memory(0, 1)
    with threadpool_limits(1):
        kernels = [Kernels(kernel, memory, 0, 1) for kernel in KERNELS]
        seconds = []
        for _ in range(ROUNDS):
            began = clock()
            for kernel in kernels:
                kernel.unit()
            seconds.append(clock() - began)
    return REFERENCE_SECONDS / min(seconds)
