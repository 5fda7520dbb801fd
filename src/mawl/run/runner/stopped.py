"""Jobs whose processes are stopped by a signal (SIGSTOP, a debugger): the run waits for them, and says so."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.measure.process import TreeSample

STOPPED_SECONDS = 5.0
"""A process may be stopped for so long before a message names it; a debugger that attaches needs less."""


class StoppedJobs:
    """Finds stopped processes in the samples of each job: its keeper and all processes below it."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._told: set[str] = set()

    def look(self, live: Mapping[str, TreeSample], now: float) -> list[str]:
        """A sentence for each job that is found stopped for ``STOPPED_SECONDS`` for the first time.

        ``live`` are the samples of the running jobs, ``now`` is on the monotonic clock.
        """
        stopped = {job: tree.stopped for job, tree in live.items() if tree.stopped is not None}
        self._since = {job: self._since.get(job, now) for job in stopped}
        long = [job for job, began in self._since.items() if now - began >= STOPPED_SECONDS]
        new = [job for job in long if job not in self._told]
        self._told = set(long)
        return [
            f"{job}: process {stopped[job]} was stopped by a signal, and the run waits for it; "
            f"kill -CONT {stopped[job]} lets it go on, Ctrl-C ends the run"
            for job in new
        ]
