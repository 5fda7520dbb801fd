"""The job's own end of its counters: taking part in the count, and reading it at step ends."""

from __future__ import annotations

import ctypes
import os

from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile
from mawl.measure.preload.ledger import START, Entry, write
from mawl.measure.run_delay import own_run_delay_seconds
from mawl.model.role_io import IoByRole, VolumeBytes, io_between, volumes_between


def attach(path: str) -> bool:
    """Count this process, and all it starts, into a file; False where the library is not loaded."""
    os.environ[COUNTERS_VARIABLE] = path
    try:
        call = ctypes.CDLL(None).mawl_counters_attach
    except AttributeError:
        return False
    return bool(call(os.fsencode(path)) == 0)


class Reading:
    """The counters at one moment."""

    def __init__(self, file: CounterFile) -> None:
        self.io: IoByRole = file.by_role()
        self.moved = file.moved_bytes()
        self.volumes = file.by_volume()


class JobCounters:
    """The counters of the job that this process is; :meth:`open` gives None where there are none."""

    def __init__(self, path: str, file: CounterFile) -> None:
        self._path, self.file = path, file

    @classmethod
    def open(cls, path: str | None) -> JobCounters | None:
        """The counters at a path."""
        if path is None:
            return None
        try:
            return cls(path, CounterFile(path))
        except (OSError, ValueError):
            return None

    def read(self) -> Reading:
        """Read them now: up to 300 us."""
        return Reading(self.file)

    def run_delay_seconds(self) -> float | None:
        """Waiting for a CPU so far: this process's threads, and what has ended below it."""
        own = own_run_delay_seconds()
        return None if own is None else own + self.file.run_delay_seconds

    def begin(self) -> None:
        """Write down what came before the job's release, to be taken off."""
        now = self.read()
        self._write(START, now.io, now.moved, now.volumes)

    def note_step(self, number: int, start: Reading) -> IoByRole:
        """Write down what came since ``start``, and return it by role."""
        end = self.read()
        io = io_between(start.io, end.io)
        moved = (end.moved[0] - start.moved[0], end.moved[1] - start.moved[1])
        self._write(number, io, moved, volumes_between(start.volumes, end.volumes))
        return io

    def _write(self, number: int, io: IoByRole, moved: tuple[int, int], volumes: VolumeBytes) -> None:
        read, written = moved
        write(
            self._path,
            Entry(number=number, io=io, moved_read_bytes=read, moved_written_bytes=written, volumes=volumes),
        )
