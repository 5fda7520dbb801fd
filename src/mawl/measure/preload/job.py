"""The job's side of the counters: attaching to its counter file, and a ledger of what each step did.

The ledger is a file beside the counters, one JSON line for the start and for the end of each step.  A step's
histograms are longer than the pipe to the runner carries at once, and the file survives the job.  The runner
reads it when the job has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

import msgspec

from mawl.base.foreign import open_regular
from mawl.measure.preload.counters import COUNTERS_VARIABLE, CounterFile
from mawl.measure.processes import own_run_delay_seconds
from mawl.records.model.role_io import IoByRole, VolumeBytes, io_between, volumes_between

START = 0
"""The number of the line that says what came before the job's release; steps count from 1."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """I/O of a step, or what the counters said at the start.

    ``moved_*_bytes`` are those of all calls, files or not.
    """

    number: int
    io: IoByRole
    moved_read_bytes: int
    moved_written_bytes: int
    volumes: VolumeBytes = {}


def ledger_of(counters: str | os.PathLike[str]) -> Path:
    """The file of a job's entries, beside its counters."""
    return Path(f"{os.fspath(counters)}.entries")


def append_entry(counters: str, entry: Entry) -> None:
    """Append one entry, in one write.  OSError where the folder of the counters is gone."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    descriptor = os.open(ledger_of(counters), flags, 0o600)
    try:
        os.write(descriptor, msgspec.json.encode(entry) + b"\n")
    finally:
        os.close(descriptor)


class Ledger:
    """The entries of one job, read as they come."""

    def __init__(self, counters: str | os.PathLike[str]) -> None:
        self._path = ledger_of(counters)
        self._read_bytes = 0
        self._entries: dict[int, Entry] = {}

    def entries(self) -> dict[int, Entry]:
        """All so far, by their number; none where the job wrote none, and without a torn last line."""
        try:
            with open_regular(self._path) as file:
                file.seek(self._read_bytes)
                new = file.read()
        except OSError:  # none yet, or whatever a job may have done to it
            return self._entries
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(msgspec.MsgspecError):  # whatever a job may have done to it
                entry = _decode(line)
                self._entries[entry.number] = entry
        return self._entries


_decode = msgspec.json.Decoder(Entry).decode


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
    """The counters of the job that this process is; ``open`` gives None where there are none."""

    def __init__(self, path: str, file: CounterFile) -> None:
        self._path, self.file = path, file

    @classmethod
    def open(cls, path: str | None) -> JobCounters | None:
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
        with contextlib.suppress(OSError):  # lost with its counters, as the runner finds: the job goes on
            append_entry(
                self._path,
                Entry(
                    number=number, io=io, moved_read_bytes=read, moved_written_bytes=written, volumes=volumes
                ),
            )
