"""What a job's process writes down beside its counters: at its start, and at the end of each step.

A step's histograms are longer than the pipe to the runner carries at once, and what was written
down survives the job.  One JSON line each; the runner reads them when the job has ended.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from mawl.model.role_io import IoByRole, VolumeBytes

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


def write(counters: str, entry: Entry) -> None:
    """Append one entry, in one write."""
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
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return self._entries
        try:
            new = os.pread(
                descriptor, max(os.fstat(descriptor).st_size - self._read_bytes, 0), self._read_bytes
            )
        finally:
            os.close(descriptor)
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(msgspec.MsgspecError):  # whatever a job may have done to it
                entry = _decode(line)
                self._entries[entry.number] = entry
        return self._entries


_decode = msgspec.json.Decoder(Entry).decode
