"""Several requests under way at a time: threads that do the same work, the calling one among them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self


class Lanes:
    """``depth`` lanes, each with one request under way: the queue depth that a device sees.

    The calling thread is the first lane, so the job waits inside its own requests (docs/design/waits.md).
    """

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth
        self._others = ThreadPoolExecutor(depth - 1) if depth > 1 else None

    def run(self, work: Callable[[int], None]) -> None:
        """Do ``work(lane)`` in every lane; an error of one is raised when all have ended."""
        if self._others is None:
            work(0)
            return
        others = [self._others.submit(work, lane) for lane in range(1, self.depth)]
        try:
            work(0)
        finally:
            wait(others)
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads."""
        if self._others is not None:
            self._others.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
