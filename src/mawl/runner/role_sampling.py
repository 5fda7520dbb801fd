"""The 1 Hz series of I/O by role and of the jobs' time, summed over all jobs so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.measure.preload.counters import live_words
from mawl.measure.preload.layout import sum_word
from mawl.measure.process import TreeSample
from mawl.model.followed import Look, spent
from mawl.model.messages import StepEnded
from mawl.model.role_io import FILE_ROLES
from mawl.runner.counting import Counting, JobCount
from mawl.runner.following import Following

Series = list[tuple[str, float]]

_TIMED = ("read", "write", "sync", "open")
_FIGURES = (
    ("reads", ("read",), "calls", 1),
    ("writes", ("write",), "calls", 1),
    ("read_bytes", ("read",), "bytes", 1),
    ("written_bytes", ("write",), "bytes", 1),
    ("read_seconds", ("read",), "nanoseconds", 1e9),
    ("write_seconds", ("write",), "nanoseconds", 1e9),
    ("sync_seconds", ("sync",), "nanoseconds", 1e9),
    ("waited_seconds", _TIMED, "waited_nanoseconds", 1e9),
)
_SERIES = [
    (f"role.{role}.{series}", [sum_word(kind, role, name) for kind in kinds], one)
    for role in FILE_ROLES
    for series, kinds, name, one in _FIGURES
]
"""Series, the sums that add up to it, and how many of them are one."""


class RoleSampling:
    """Adds running and ended jobs; the series only grow."""

    def __init__(self, counting: Counting | None = None) -> None:
        self._counting = counting
        self._ended = 0
        self._seconds = {"jobs.on_cpu_seconds": 0.0, "jobs.run_queue_seconds": 0.0}
        self._last = dict(self._seconds)
        self._following = Following()

    def counters(self, job: str) -> str | None:
        """A counter file for a job that is about to start; None where it goes without."""
        return None if self._counting is None else self._counting.make(job)

    def with_io(self, message: StepEnded) -> StepEnded:
        """A step with its I/O by role, which the job wrote down beside its counters."""
        if self._counting is None:
            return message
        io = self._counting.step_io(message.step.job, message.step.number)
        return StepEnded(step=msgspec.structs.replace(message.step, io=io))

    def take(self, job: str) -> JobCount | None:
        """The last word of an ended job's counters, which stays in the series; the file goes."""
        taken = None if self._counting is None else self._counting.take(job)
        if taken is None:
            return None
        count, live = taken
        self._ended += live
        return count

    def job_ended(
        self, job: str, cpu_seconds: float | None, run_delay_seconds: float | None, last: Look | None = None
    ) -> None:
        """What an ended job used in the end: its live figures end; ``last`` is the look at its end."""
        self._following.ended(job, last)
        self._seconds["jobs.on_cpu_seconds"] += cpu_seconds or 0.0
        self._seconds["jobs.run_queue_seconds"] += run_delay_seconds or 0.0

    def last_look(self, job: str) -> Look | None:
        """A running job as it was read last; None without counters."""
        return self._following.last(job)

    def series(self, live: Mapping[str, TreeSample]) -> Series:
        """All series now; those by role only where I/O by role is measured."""
        delay = 0.0
        for job, tree in live.items():
            look = self._look(job, tree)
            delay += tree.run_delay_seconds if look is None else look.tree["run_queue"]
        now = {
            "jobs.on_cpu_seconds": sum(t.user_cpu_seconds + t.system_cpu_seconds for t in live.values()),
            "jobs.run_queue_seconds": delay,
        }
        for name, value in now.items():
            self._last[name] = max(self._last[name], self._seconds[name] + value)
        found: Series = list(self._last.items())
        if self._counting is not None and self._counting.reason is None:
            found += self._following.series()
            found += _by_role(live_words(self._ended + self._counting.live()))
        return found

    def _look(self, job: str, tree: TreeSample) -> Look | None:
        """A job as it was when its CPU and run queue were read last; None without counters.

        The run delay of its ended threads is read at the same moment and added to that of its living ones, so
        that each counts once.  The sum never falls.
        """
        last = self._following.last(job)
        if self._counting is None or tree.read_at is None or (last is not None and last.at == tree.read_at):
            return last
        waited = self._counting.waited_seconds(job)
        if waited is None:
            return last
        used = tree.user_cpu_seconds + tree.system_cpu_seconds
        delay = tree.living_run_delay_seconds + self._counting.run_delay_seconds(job)
        if last is not None:
            delay = max(delay, last.tree["run_queue"])
        look = Look(
            at=tree.read_at,
            first=spent(tree.first_on_cpu_seconds, tree.first_run_delay_seconds, waited[0]),
            tree=spent(used, delay, waited[1]),
            helpers=tree.helpers,
        )
        self._following.look(job, look)
        return look


def _by_role(sums: Sequence[int]) -> Series:
    return [(series, sum([sums[word] for word in words]) / one) for series, words, one in _SERIES]
