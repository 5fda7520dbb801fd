"""I/O by role of a run: the counter files of its jobs, and the 1 Hz series from them.

1 Hz series of what jobs spend their time on, by each job's first thread and by its whole tree.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from mawl.base.errors import UnsuitableMachineError
from mawl.base.removal import remove_tree
from mawl.measure.accounting import TreeSample
from mawl.measure.preload.build import Library, library
from mawl.measure.preload.counters import (
    FILE_BYTES,
    MOST_VOLUMES,
    NEVER_REACHED,
    TIMED_KINDS,
    CounterFile,
    create,
    live_words,
    sum_word,
)
from mawl.measure.preload.job import Entry, Ledger, ledger_of
from mawl.measure.space import space_of
from mawl.records.model.messages import StepEnded
from mawl.records.model.records import BOUNDED, STATES, FollowedInterval, Look, between, spent
from mawl.records.model.role_io import FILE_ROLES, FileRole, IoByRole, VolumeBytes
from mawl.records.spec.program_options import Role
from mawl.records.volumes import claim_directory, leftovers_under, run_of

FOLLOWED = tuple(f"jobs.followed.{state}_seconds" for state in STATES)
JOINED = tuple(f"jobs.joined.{state}_seconds" for state in STATES)
BOUNDS = tuple(f"jobs.joined.{name}_{end}_seconds" for name in BOUNDED for end in ("least", "most"))


class Following:
    """Sums over all jobs so far, which only grow."""

    def __init__(self) -> None:
        self._last: dict[str, Look] = {}
        self._sums = dict.fromkeys((*FOLLOWED, *JOINED, *BOUNDS), 0.0)

    def last(self, job: str) -> Look | None:
        return self._last.get(job)

    def look(self, job: str, now: Look) -> None:
        """Add what a job did since its last look; one at the same moment adds nothing."""
        before = self._last.get(job)
        if before is None:
            # All that it did came before its first look, and how long it has run is not known here.
            nothing = dict.fromkeys(STATES, 0.0)
            whole = max(sum(now.tree.values()), sum(now.first.values()))
            before = Look(at=now.at - whole, first=nothing, tree=nothing)
        if now.at <= before.at:
            return
        self._last[job] = now
        self._add(between(before, now))

    def ended(self, job: str, last: Look | None) -> None:
        """Add a job's last stretch, where it is known, and forget the job."""
        if last is not None:
            self.look(job, last)
        self._last.pop(job, None)

    def series(self) -> Iterable[tuple[str, float]]:
        return self._sums.items()

    def _add(self, share: FollowedInterval) -> None:
        for state, followed, joined in zip(STATES, FOLLOWED, JOINED, strict=True):
            self._sums[followed] += share.first[state]
            self._sums[joined] += share.joined[state]
        ends = chain.from_iterable(share.bounds[name] for name in BOUNDED)
        for series, seconds in zip(BOUNDS, ends, strict=True):
            self._sums[series] += seconds


SHARED_MEMORY = Path("/dev/shm")
"""The counters' place: memory, so that counting is no I/O; without room there, the run's folder."""

MEASURE_PREFIX = "measure-"
"""Begins the id of a command that was measured by itself."""

_SPARE_FILES = 8
_FORSAKEN_SECONDS = 3600.0


Waited = dict[FileRole, float]


class JobCount(msgspec.Struct, frozen=True, kw_only=True):
    """What the counters of an ended job said, from the attaching of its first process on.

    ``images`` are programs that took part: 0 where the job's could not (static, set-uid), and where
    the file has a ``fault``, since nothing of such a file is believed.
    """

    io: IoByRole
    moved_bytes: tuple[int, int]
    run_delay_seconds: float
    first_waited_seconds: dict[FileRole, float]
    images: int
    io_uring_setups: int
    stdio_unseen: int
    silenced: int
    entries: dict[int, Entry]
    fault: str | None = None
    first_peak_bytes: int | None = None
    volumes: VolumeBytes | None = None
    """None where there are more directories than are told apart."""


DAMAGED_FILE = "the job damaged the file of its counters, so its figures are not used"
_WHO_REMOVES = (
    "(at a logout systemd-logind clears /dev/shm: set RemoveIPC=no in logind.conf, or use loginctl "
    "enable-linger)"
)
LOST_FILE = f"the file of its counters was removed while the job ran {_WHO_REMOVES}"
LOST_FOLDER = f"the folder of the counters was removed while the run went on {_WHO_REMOVES}"


def _unusable(fault: str) -> JobCount:
    return JobCount(
        io={},
        moved_bytes=(0, 0),
        run_delay_seconds=0.0,
        first_waited_seconds={},
        images=0,
        io_uring_setups=0,
        stdio_unseen=0,
        silenced=0,
        entries={},
        fault=fault,
    )


DAMAGED = _unusable(DAMAGED_FILE)
LOST = _unusable(LOST_FILE)


class Counting:
    """Makes, reads and removes the counter files of one run.

    Where nothing can be counted ``reason`` says why, and every job goes without.
    """

    def __init__(
        self,
        run_id: str,
        roles: Mapping[Role, Sequence[Path]],
        folder: Path,
        *,
        jobs: int,
        uncached: bool = False,
        environment: Mapping[str, str] = os.environ,
        shared_memory: Path = SHARED_MEMORY,
    ) -> None:
        """``jobs`` is how many run at once at most, ``folder`` the run's own; with ``uncached`` the files of
        the roles are kept out of the page cache.

        Raises ``UnsuitableMachineError`` where ``uncached`` cannot hold.
        """
        self.library: Library = library(environment)
        self.reason = self.library.reason
        self._roles = roles
        self._uncached = uncached
        self._told_apart = sum(len(places) for places in roles.values()) <= MOST_VOLUMES
        self._files: dict[str, CounterFile] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._directory: Path | None = None
        self._lock = -1
        if self.reason is None:
            place = shared_memory if _has_room(shared_memory, jobs + _SPARE_FILES) else folder
            try:
                self._directory, self._lock = claim_directory(place, run_id, "counters")
            except (OSError, UnsuitableMachineError) as error:
                self.reason = f"no counter files can be made: {error}"
        self._require_uncached()

    def make(self, job: str) -> str | None:
        """A job's counter file, or None where it goes without.

        Raises ``UnsuitableMachineError`` where it cannot go without, since the counting
        library keeps its files out of the page cache.
        """
        if self._directory is None:
            return None
        path = self._directory / f"{job}.counters"
        try:
            create(path, self._roles, uncached=self._uncached)
            self._files[job] = CounterFile(path)
            self._ledgers[job] = Ledger(path)
        except (OSError, ValueError, UnsuitableMachineError) as error:
            why = error if self._directory.is_dir() else LOST_FOLDER
            self.reason = f"no counter file for {job}: {why}"
            self._require_uncached()
            return None
        return str(path)

    def _require_uncached(self) -> None:
        """Where nothing is counted the page cache cannot be denied, either."""
        if self._uncached and self.reason is not None:
            raise UnsuitableMachineError(
                "--cache none has no effect",
                why=self.reason,
                cure="run it again, or without --cache none"
                if LOST_FOLDER in self.reason
                else f"free space in {SHARED_MEMORY}, or run without --cache none",
            )

    def live(self) -> int:
        """Live sums of all jobs that have counters now, as one number (``CounterFile.live``)."""
        return sum(file.live() for file in self._files.values())

    def run_delay_seconds(self, job: str) -> float:
        """Waiting for a CPU of what has ended of a running job."""
        file = self._files.get(job)
        return file.run_delay_seconds if file is not None and file.whole else 0.0

    def waited_seconds(self, job: str) -> tuple[Waited, Waited] | None:
        """What the first thread of a job, and all of its threads, waited inside calls by role; None without
        counters."""
        file = self._files.get(job)
        if file is None or not file.whole:
            return None
        first, whole = file.first_waited_seconds, file.waited_seconds
        return (first, whole) if max(whole.values()) < NEVER_REACHED / 1e9 else None

    def step_io(self, job: str, number: int) -> IoByRole | None:
        if job not in self._files or self._directory is None:
            return None
        entry = self._ledgers[job].entries().get(number)
        return None if entry is None else entry.io

    def take(self, job: str) -> tuple[JobCount, int] | None:
        """The last word of a job's counters and its live sums; the files go.  None where it had none."""
        file = self._files.pop(job, None)
        if file is None or self._directory is None:
            return None
        path = self._directory / f"{job}.counters"
        entries = self._ledgers.pop(job).entries()
        if not file.is_at(path):
            count = LOST
        elif not file.sound:
            count = DAMAGED
        else:
            count = _job_count(file, entries, self._told_apart)
        for leftover in (path, ledger_of(path)):
            with contextlib.suppress(OSError):  # gone, or no file any more: close() removes what is there
                leftover.unlink()
        return count, file.live()

    def close(self) -> None:
        self._files.clear()
        if self._directory is not None:
            remove_tree(self._directory)
            os.close(self._lock)
            self._directory = None


def _job_count(file: CounterFile, entries: dict[int, Entry], told_apart: bool) -> JobCount:
    return JobCount(
        io=file.by_role(),
        moved_bytes=file.moved_bytes(),
        volumes=file.by_volume() if told_apart else None,
        run_delay_seconds=file.run_delay_seconds,
        first_waited_seconds=file.first_waited_seconds,
        first_peak_bytes=file.first_peak_bytes,
        images=file.header("images"),
        io_uring_setups=file.header("io_uring_setups"),
        stdio_unseen=file.header("stdio_unseen"),
        silenced=file.header("silenced"),
        entries=entries,
    )


def leftover_counters(
    run_ids: Collection[str], runs: Path, shared_memory: Path = SHARED_MEMORY
) -> list[Path]:
    """Counter files of these runs, which are over, and of what else nobody holds any more.

    Those of other directories' runs only when they are an hour old: their own `mawl clean` is told more.
    """
    found = [
        directory
        for directory in leftovers_under(shared_memory)
        if any(run_of(directory) == one or run_of(directory).startswith(f"{one}-") for one in run_ids if one)
        or run_of(directory).startswith(MEASURE_PREFIX)
        or time.time() - directory.stat().st_mtime > _FORSAKEN_SECONDS
    ]
    return found + [directory for run_id in sorted(run_ids) for directory in leftovers_under(runs / run_id)]


def _has_room(place: Path, files: int) -> bool:
    try:
        free = space_of(place).free_bytes
    except OSError:
        return False
    return os.access(place, os.W_OK | os.X_OK) and free >= files * FILE_BYTES


Series = list[tuple[str, float]]

_ROLE_FIGURES = (
    ("reads", ("read",), "calls", 1),
    ("writes", ("write",), "calls", 1),
    ("read_bytes", ("read",), "bytes", 1),
    ("written_bytes", ("write",), "bytes", 1),
    ("read_seconds", ("read",), "nanoseconds", 1e9),
    ("write_seconds", ("write",), "nanoseconds", 1e9),
    ("sync_seconds", ("sync",), "nanoseconds", 1e9),
    ("waited_seconds", TIMED_KINDS, "waited_nanoseconds", 1e9),
)
_ROLE_SERIES = [
    (f"role.{role}.{series}", [sum_word(kind, role, name) for kind in kinds], one)
    for role in FILE_ROLES
    for series, kinds, name, one in _ROLE_FIGURES
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
        return None if self._counting is None else self._counting.make(job)

    def with_io(self, message: StepEnded) -> StepEnded:
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
            first_sleeps_on_timer=tree.first_sleeps_on_timer,
        )
        self._following.look(job, look)
        return look


def _by_role(sums: Sequence[int]) -> Series:
    return [(series, sum([sums[word] for word in words]) / one) for series, words, one in _ROLE_SERIES]
