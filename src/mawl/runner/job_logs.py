"""A bound for what a job prints, kept while it runs, so that endless output cannot fill the run folder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LARGEST_OUTPUT_BYTES = 2**28
"""Of one job.  Beyond it the first half stays, and what comes after the cut."""

MOST_NAMED = 3
CUT = "\n[mawl: this output passed {} MiB; here a part of it was left out]\n"


class JobLogs:
    """The files below ``logs`` of a run folder that take the output of jobs; looked at once a second."""

    def __init__(self, folder: Path, largest_bytes: int = LARGEST_OUTPUT_BYTES) -> None:
        self._folder, self._largest = folder, largest_bytes
        self._shortened: dict[str, None] = {}

    def remarks(self) -> list[str]:
        """A sentence of the logs that were cut, where there are any."""
        if not self._shortened:
            return []
        some = list(self._shortened)[:MOST_NAMED]
        others = len(self._shortened) - len(some)
        names = ", ".join(some) + (f" and {others} more" if others else "")
        return [f"a part was left out of logs that passed {self._largest // 2**20} MiB: {names}"]

    def look(self) -> None:
        """Cut every file that has grown beyond the bound; its writer appends, and goes on behind the cut."""
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and (
                        entry.stat(follow_symlinks=False).st_size > self._largest
                    ):
                        self._cut(entry.path)
                        self._shortened[entry.name] = None

    def _cut(self, path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, self._largest // 2)
            os.write(descriptor, CUT.format(self._largest // 2**20).encode())
        finally:
            os.close(descriptor)
