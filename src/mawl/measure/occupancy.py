"""How much space the files of a run take on each volume while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

MOST_COST_RATIO = 0.002
"""After a look that took a second there is none for 500: many files are looked at less often."""

SHORTEST_SECONDS = 2.0

PATIENCE_SECONDS = 0.02
"""Whoever asks waits as long for a look, which is enough for some thousand files."""


class Occupancy:
    """Looks at the run's own directory on each volume, every two seconds or less often, in its own thread.

    So neither many files nor a file system that hangs stop whoever asks.  Files that are open and have no
    name any more are not seen.
    """

    def __init__(self, directories: Sequence[Path], clock: Callable[[], float] = time.perf_counter) -> None:
        self._directories = directories
        self._clock = clock
        self._next = 0.0
        self._look: Future[tuple[dict[str, float], float]] | None = None

    def series(self, monotonic: float) -> dict[str, float]:
        """``volume.N.used_bytes`` of all volumes; nothing where no look is due, or the last one goes on."""
        if not self._directories or (self._look is None and monotonic < self._next):
            return {}
        if self._look is None:
            self._look = Future()
            Thread(target=self._walk, args=(self._look,), daemon=True).start()
        try:
            found, took = self._look.result(timeout=PATIENCE_SECONDS)
        except TimeoutError:
            return {}
        self._look = None
        # A little less, so that a tick that comes early is not left out.
        self._next = monotonic + max(SHORTEST_SECONDS - 0.5, took / MOST_COST_RATIO)
        return found

    def _walk(self, look: Future[tuple[dict[str, float], float]]) -> None:
        began = self._clock()
        found = {
            f"volume.{number}.used_bytes": float(allocated_bytes(directory))
            for number, directory in enumerate(self._directories, 1)
        }
        look.set_result((found, self._clock() - began))


def allocated_bytes(directory: str | os.PathLike[str]) -> int:
    """Bytes that the file system holds for the files under a directory; what goes meanwhile is nothing."""
    total = 0
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        total += allocated_bytes(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                except OSError:
                    continue
    except OSError:
        return total
    return total
