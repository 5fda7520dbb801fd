"""CPU seconds at the pace of a step: units of computing until a share of them has been used."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

SHORTEST_SECONDS = 0.002
"""If less than this is missing, no unit is done: the next look makes up for it, or the step lacks it."""

SHORTEST_SECONDS_OF_THREAD = 0.010
"""With several threads less than this each is not worth waking them."""


class Pace:
    """Keeps the CPU seconds of this process since it was made at a share of those of the step.

    ``units`` are the units of each thread; the first one's run in the calling thread.  ``clock`` gives the
    CPU seconds of the whole process, input and output included: what those take is not computed.
    """

    def __init__(
        self,
        cpu_seconds: float,
        units: Sequence[Callable[[], None]],
        *,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._cpu_seconds, self._units, self._clock = cpu_seconds, units, clock
        self._began = clock()
        self._pool = ThreadPoolExecutor(len(units) - 1) if len(units) > 1 else None

    def reach(self, share: float) -> None:
        """Compute until the process has used this share of the CPU seconds; raises what a unit raises."""
        goal = self._began + share * self._cpu_seconds
        least = SHORTEST_SECONDS if self._pool is None else SHORTEST_SECONDS_OF_THREAD * len(self._units)
        if goal - self._clock() < (least if share < 1.0 else SHORTEST_SECONDS / 2):
            return
        others = (
            []
            if self._pool is None
            else [self._pool.submit(self._until, goal, unit) for unit in self._units[1:]]
        )
        self._until(goal, self._units[0])
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _until(self, goal: float, unit: Callable[[], None]) -> None:
        while self._clock() < goal:
            unit()
