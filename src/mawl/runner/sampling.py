"""The run's own 1 Hz look at its jobs: how many run, what they read, write and hold in memory."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mawl.measure.occupancy import Occupancy
from mawl.measure.process import ProcessSampler, TreeSample
from mawl.model.usage import Usage
from mawl.plan.progress import Progress
from mawl.runner.request import Status
from mawl.runner.role_sampling import RoleSampling
from mawl.runner.stopped import StoppedJobs
from mawl.store.folder import RunWriter


class TickRates(msgspec.Struct, frozen=True, kw_only=True):
    """Application throughput since the tick before."""

    read_bytes_per_second: float
    written_bytes_per_second: float


COUNTERS = (
    "application_read_bytes",
    "application_written_bytes",
    "own_read_bytes",
    "charged_written_bytes",
)


class Sampling:
    """Adds up running jobs (live, from /proc) and ended ones (from their reap) into run totals.

    The counters of the samples only grow: a job's live figure is replaced by its final one when it
    ends, which is never smaller.
    """

    def __init__(
        self,
        node: str,
        sampler: ProcessSampler,
        roles: RoleSampling | None = None,
        places: Sequence[Path] = (),
    ) -> None:
        self.node = node
        self.sampler = sampler
        self.roles = roles or RoleSampling()
        self.occupancy = Occupancy(places)
        self._stopped = StoppedJobs()
        self._live: dict[str, TreeSample] = {}
        self._pids: dict[str, int] = {}
        self._ended: dict[str, int] = dict.fromkeys(COUNTERS, 0)
        self._last: dict[str, int] = dict.fromkeys(COUNTERS, 0)
        self._last_at: float | None = None

    def add(self, job: str, pid: int) -> None:
        """A job's process exists."""
        self._pids[job] = pid

    def last_run_delay_seconds(self, job: str) -> float:
        """What a job's tree had waited for a CPU at the last look; 0 when it was over before one.

        With counters that includes what had ended by then, without them it is the largest sum of the living.
        """
        look, tree = self.roles.last_look(job), self._live.get(job)
        if look is not None:
            return look.tree["run_queue"]
        return 0.0 if tree is None else tree.run_delay_seconds

    def remove(self, job: str, final: Usage) -> None:
        """A job's process tree is gone; ``final`` is the kernel's account of it."""
        self._live.pop(job, None)
        if self._pids.pop(job, None) is not None:
            for name in COUNTERS:
                self._ended[name] += getattr(final, name) or 0

    def newly_stopped(self, monotonic: float) -> list[str]:
        """Sentences on jobs that a signal has stopped (:class:`~mawl.runner.stopped.StoppedJobs`)."""
        return self._stopped.look(self._live, monotonic)

    def tick(self, now: float, monotonic: float, launcher: Usage, writer: RunWriter) -> TickRates:
        """Sample, append to the journal, and return the rates since the last tick."""
        rates, figures = self.look(monotonic, launcher)
        writer.figures(self.node, now, figures)
        return rates

    def look(self, monotonic: float, launcher: Usage) -> tuple[TickRates, dict[str, float]]:
        """Sample; the rates since the last look, and the figures for the journal.

        ``launcher`` is what the launcher has used so far; with the runner's own it is mawl's cost.
        """
        live = self._live = self.sampler.sample(self._pids)
        totals = self._totals(live)
        seconds = None if self._last_at is None else monotonic - self._last_at
        rates = TickRates(
            read_bytes_per_second=self._rate(totals, "application_read_bytes", seconds),
            written_bytes_per_second=self._rate(totals, "application_written_bytes", seconds),
        )
        self._last, self._last_at = totals, monotonic
        figures: dict[str, float] = {
            "jobs_running": len(self._pids),
            "jobs_resident_bytes": _resident(live),
            "mawl_cpu_seconds": _own_cpu_seconds() + (launcher.cpu_seconds or 0.0),
            **totals,
        }
        figures.update(self.roles.series(live))
        figures.update(self.occupancy.series(monotonic))
        return rates, figures

    def _totals(self, live: dict[str, TreeSample]) -> dict[str, int]:
        return {
            name: max(
                self._ended[name] + sum(getattr(tree, name) or 0 for tree in live.values()), self._last[name]
            )
            for name in COUNTERS
        }

    def _rate(self, totals: dict[str, int], name: str, seconds: float | None) -> float:
        return (totals[name] - self._last[name]) / seconds if seconds else 0.0


def status_of(
    progress: Progress, elapsed_seconds: float, ended: int, failed: int, rates: TickRates
) -> Status:
    """What whoever watches the run is told now."""
    return Status(
        elapsed_seconds=elapsed_seconds,
        sessions=len(progress.plan.sessions),
        open_sessions=progress.open_sessions,
        jobs=len(progress.state),
        waiting=progress.waiting,
        running=len(progress.running),
        ended=ended,
        failed=failed,
        read_bytes_per_second=rates.read_bytes_per_second,
        written_bytes_per_second=rates.written_bytes_per_second,
    )


def _own_cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def _resident(live: dict[str, TreeSample]) -> int:
    return sum(tree.resident_bytes for tree in live.values())
