"""The samples of a run, written at 1 Hz: figures of its jobs and of the host, within a budget of series.

Jobs whose processes are stopped by a signal (SIGSTOP, a debugger): the run waits for them, and says so.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.measure.accounting import ProcessSampler, TreeSample
from mawl.measure.host.collector import HostCollector
from mawl.measure.host.files import Figures
from mawl.measure.other_programs import OtherPrograms
from mawl.measure.space import Occupancy
from mawl.plan.progress import Progress
from mawl.records.model.records import Usage
from mawl.records.store.folder import RunWriter
from mawl.run.runner.counting import RoleSampling
from mawl.run.runner.request import Status

STOPPED_SECONDS = 5.0
"""A process may be stopped for so long before a message names it; a debugger that attaches needs less."""


class StoppedJobs:
    """Finds stopped processes in the samples of each job; the launcher looks after its keeper."""

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


class TickRates(msgspec.Struct, frozen=True, kw_only=True):
    """Application throughput since the tick before."""

    read_bytes_per_second: float
    written_bytes_per_second: float


IO_COUNTERS = (
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
        others: OtherPrograms | None = None,
    ) -> None:
        self.node = node
        self.sampler = sampler
        self.roles = roles or RoleSampling()
        self.occupancy = Occupancy(places)
        self.others = others or OtherPrograms(node)
        self._stopped = StoppedJobs()
        self._live: dict[str, TreeSample] = {}
        self._pids: dict[str, int] = {}
        self._ended: dict[str, int] = dict.fromkeys(IO_COUNTERS, 0)
        self._last: dict[str, int] = dict.fromkeys(IO_COUNTERS, 0)
        self._last_at: float | None = None

    def add(self, job: str, pid: int) -> None:
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
            for name in IO_COUNTERS:
                self._ended[name] += getattr(final, name) or 0

    def newly_stopped(self, monotonic: float) -> list[str]:
        return self._stopped.look(self._live, monotonic)

    def tick(self, now: float, monotonic: float, launcher: Usage, writer: RunWriter) -> TickRates:
        rates, figures = self.look(monotonic, launcher)
        writer.figures(self.node, now, figures)
        return rates

    def look(self, monotonic: float, launcher: Usage) -> tuple[TickRates, dict[str, float]]:
        """Sample; the rates since the last look, and the figures for the journal.

        ``launcher`` is what the launcher has used so far; with the runner's own it is mawl's cost.
        """
        self.others.look_when_due(monotonic)
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
            for name in IO_COUNTERS
        }

    def _rate(self, totals: dict[str, int], name: str, seconds: float | None) -> float:
        return (totals[name] - self._last[name]) / seconds if seconds else 0.0


def status_of(
    progress: Progress, elapsed_seconds: float, ended: int, failed: int, rates: TickRates
) -> Status:
    """The status for the listener at this moment."""
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


MOST_SERIES = 400
"""Of a node each second: 10 hours of four nodes are then 58 million samples, up to 72 million with those that
are sampled more seldom."""

JOB_SERIES = 80
"""Of these the figures of the jobs: 8 in sum, 32 by role, 10 of what they wait for, one for each volume."""

SELDOM_SECONDS = 10.0
MOST_SELDOM_A_SECOND = 100
"""If the other series are more than a thousand, they are sampled more seldom than each 10 s, so that they add
so many samples a second in the mean."""

_DEVICE_PREFIX = "device."
_DEVICE_FIGURES = (
    "read_bytes",
    "written_bytes",
    "busy_seconds",
    "reads",
    "writes",
    "read_seconds",
    "write_seconds",
)
"""Of a device, the most wanted first: windows and answers ask for bytes, then for its load."""


class SampleBudget:
    """Chooses series as they come: those of the host, of devices that hold roles, and then all others.

    ``named`` are the devices of the roles.
    """

    def __init__(self, named: Collection[str], most: int = MOST_SERIES - JOB_SERIES) -> None:
        self._named, self._most = frozenset(named), most
        self._often: set[str] = set()
        self._seldom: set[str] = set()
        self._whole_at: float | None = None

    def due(self, now: float, figures: Figures, *, whole: bool = False) -> Figures:
        """The figures to keep of this look: all at the first, if ``whole``, and every ``seldom_seconds``."""
        if not self._often.issuperset(figures) and not (self._often | self._seldom).issuperset(figures):
            self._choose(figures)
        if not self._seldom:
            return figures
        if whole or self._whole_at is None or now - self._whole_at >= self.seldom_seconds:
            self._whole_at = now
            return figures
        return {name: value for name, value in figures.items() if name in self._often}

    @property
    def seldom_seconds(self) -> float:
        return max(SELDOM_SECONDS, math.ceil(len(self._seldom) / MOST_SELDOM_A_SECOND))

    def remarks(self) -> list[str]:
        if not self._seldom:
            return []
        return [
            f"{len(self._seldom)} of {len(self._often) + len(self._seldom)} series of the host were sampled "
            f"every {self.seldom_seconds:g} s, not each second: a node has {MOST_SERIES} series a second"
        ]

    def _choose(self, figures: Figures) -> None:
        new = sorted(figures.keys() - self._often - self._seldom, key=self._rank)
        free = self._most - len(self._often)
        self._often |= set(new[:free])
        self._seldom |= set(new[free:])

    def _rank(self, series: str) -> tuple[int, int, str]:
        if series.startswith(("host.", "group.")):
            return 0, 0, series
        if not series.startswith(_DEVICE_PREFIX):
            return 1, 0, series
        device, _, figure = series.removeprefix(_DEVICE_PREFIX).rpartition(".")
        place = _DEVICE_FIGURES.index(figure) if figure in _DEVICE_FIGURES else len(_DEVICE_FIGURES)
        return (1 if device in self._named else 2), place, series


class HostSampling:
    """Writes what a collector reads; the first look, at the gate, is what later ones differ from."""

    def __init__(
        self, node: str, collector: HostCollector, writer: RunWriter, named: Collection[str] = ()
    ) -> None:
        """``named``: the devices that the file systems of the roles name."""
        self.node = node
        self.collector = collector
        self.writer = writer
        self._budget = SampleBudget(named)

    def look(self, now: float, *, whole: bool = False) -> None:
        """One row for each series that is due at this moment (seconds since the epoch), or for all."""
        self.writer.figures(self.node, now, self._budget.due(now, self.collector.read(), whole=whole))

    def remarks(self) -> list[str]:
        return [*self._budget.remarks(), *self.collector.remarks()]
