"""Jobs whose processes are stopped by a signal (SIGSTOP, a debugger): the run waits for them, and says so."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.measure.processes import descendants, is_stopped

STOPPED_SECONDS = 5.0
"""A process may be stopped for so long before a message names it; a debugger that attaches needs less."""


class StoppedJobs:
    """Looks once a second at the keeper of each job, which accounts for it, and at all below it."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._told: set[str] = set()

    def look(self, pids: Mapping[str, int], now: float) -> list[str]:
        """A sentence for each job that is found stopped for :data:`STOPPED_SECONDS` for the first time.

        ``pids`` are the keepers of the running jobs, ``now`` is on the monotonic clock.
        """
        sentences = []
        for job, pid in pids.items():
            still = next((one for one in (pid, *descendants(pid)) if is_stopped(one)), None)
            if still is None:
                self._since.pop(job, None)
                self._told.discard(job)
                continue
            began = self._since.setdefault(job, now)
            if now - began >= STOPPED_SECONDS and job not in self._told:
                self._told.add(job)
                sentences.append(
                    f"{job}: process {still} was stopped by a signal, and the run waits for it; "
                    f"kill -CONT {still} lets it go on, Ctrl-C ends the run"
                )
        return sentences
