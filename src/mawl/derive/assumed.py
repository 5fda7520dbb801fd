"""CPU time, memory and threads of a step, with ranges; assumed where its log has no figure."""

from __future__ import annotations

import math

from mawl.derive.estimate import Ranged, exactly
from mawl.derive.inferred import SORTS, SORTSIZE_BYTES, Loads
from mawl.derive.told import StepTold
from mawl.model.derived import MOST_THREADS

HUNDREDTH = 0.005
"""Half of the last digit of a time in a log."""
KILOBYTE_HUNDREDTH = 1024 * 0.005
USUAL_MEMORY_BYTES = 64 * 2**20
LEAST_MEMORY_BYTES = 2**20
MEMSIZE_BYTES = 2 * 2**30
"""The default of MEMSIZE in SAS 9.4 on UNIX, which bounds what a session takes."""
THREADED = 1.05
"""CPU over real time from which a step ran in several threads; below it, that is rounding."""


def cpu_seconds(told: StepTold) -> Ranged:
    """CPU time within half of its last digit; half of the real time where the log has none."""
    if told.cpu_seconds is not None:
        off = HUNDREDTH * (2 if told.split else 1)
        cpu = told.cpu_seconds
        return Ranged(cpu, max(cpu - off, 0.0), cpu + off, "told", "log")
    real = told.real_seconds or 0.0
    return Ranged(real / 2, 0.0, real, "assumed", "cpu-of-real")


def memory_bytes(told: StepTold, loads: Loads) -> Ranged:
    """Peak memory; where the log has none, what a sort sorts (at most SORTSIZE), else a usual value."""
    if told.memory_bytes is not None:
        memory = float(told.memory_bytes)
        return Ranged(
            memory, max(memory - KILOBYTE_HUNDREDTH, 0.0), memory + KILOBYTE_HUNDREDTH, "told", "log"
        )
    if told.procedure in SORTS and loads.read:
        sorted_ = math.fsum(part.value for part in loads.read.values())
        value = min(max(sorted_, LEAST_MEMORY_BYTES), SORTSIZE_BYTES)
        return Ranged(value, LEAST_MEMORY_BYTES, MEMSIZE_BYTES, "assumed", "memory-of-sort")
    return Ranged(USUAL_MEMORY_BYTES, LEAST_MEMORY_BYTES, MEMSIZE_BYTES, "assumed", "memory")


def threads(told: StepTold) -> Ranged:
    """Threads that computed at one time: CPU time divided by real time, rounded up."""
    if told.cpu_seconds is None or not told.real_seconds:
        return Ranged(1.0, 1.0, 1.0, "assumed", "one-thread")
    ratio = min(told.cpu_seconds / told.real_seconds, float(MOST_THREADS))
    if ratio <= THREADED:
        return exactly(1.0, "one-thread", "inferred")
    return Ranged(float(math.ceil(ratio)), math.floor(ratio), math.ceil(ratio) * 4.0, "inferred", "threads")
