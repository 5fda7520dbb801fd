"""I/O by role of a run: its counter files, one per job, and what they say when a job has ended."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.errors import UnsuitableMachineError
from mawl.measure.preload.build import Library, library
from mawl.measure.preload.counters import MOST_VOLUMES, CounterFile, create
from mawl.measure.preload.layout import FILE_BYTES
from mawl.measure.preload.ledger import Entry, Ledger, ledger_of
from mawl.measure.space import space_of
from mawl.model.role_io import FileRole, IoByRole, VolumeBytes
from mawl.spec.program_options import Role
from mawl.volumes import claim_directory, leftovers_under, remove_leftover, run_of

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
    the file is ``damaged``, of which nothing is believed.
    """

    io: IoByRole
    moved_bytes: tuple[int, int]
    run_delay_seconds: float
    first_waited_seconds: dict[FileRole, float]
    images: int
    io_uring_setups: int
    stdio_unseen: int
    entries: dict[int, Entry]
    damaged: bool = False
    volumes: VolumeBytes | None = None
    """None where there are more directories than are told apart."""


DAMAGED = JobCount(
    io={},
    moved_bytes=(0, 0),
    run_delay_seconds=0.0,
    first_waited_seconds={},
    images=0,
    io_uring_setups=0,
    stdio_unseen=0,
    entries={},
    damaged=True,
)


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

        Raises :class:`~mawl.errors.UnsuitableMachineError` where ``uncached`` cannot hold.
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

        Raises :class:`~mawl.errors.UnsuitableMachineError` where it cannot go without, since the counting
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
            self.reason = f"no counter file for {job}: {error}"
            self._require_uncached()
            return None
        return str(path)

    def _require_uncached(self) -> None:
        """Where nothing is counted the page cache cannot be denied, either."""
        if self._uncached and self.reason is not None:
            raise UnsuitableMachineError(
                "--cache none has no effect",
                why=self.reason,
                cure=f"free space in {SHARED_MEMORY}, or run without --cache none",
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
        return file.first_waited_seconds, file.waited_seconds

    def step_io(self, job: str, number: int) -> IoByRole | None:
        """I/O of a step that has just ended, from the job's ledger."""
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
        count = _count(file, entries, self._told_apart) if file.whole else DAMAGED
        for leftover in (path, ledger_of(path)):
            leftover.unlink(missing_ok=True)
        return count, file.live()

    def close(self) -> None:
        """Remove the run's counter files and their directory."""
        self._files.clear()
        if self._directory is not None:
            with contextlib.suppress(OSError):
                remove_leftover(self._directory)
            os.close(self._lock)
            self._directory = None


def _count(file: CounterFile, entries: dict[int, Entry], told_apart: bool) -> JobCount:
    return JobCount(
        io=file.by_role(),
        moved_bytes=file.moved_bytes(),
        volumes=file.by_volume() if told_apart else None,
        run_delay_seconds=file.run_delay_seconds,
        first_waited_seconds=file.first_waited_seconds,
        images=file.header("images"),
        io_uring_setups=file.header("io_uring_setups"),
        stdio_unseen=file.header("stdio_unseen"),
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
