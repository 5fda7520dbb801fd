"""Small files of ``/proc`` and ``/sys`` that are read every second through kept descriptors."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

CHUNK_BYTES = 65536
LONGEST_RECORD_BYTES = 2048
"""Of most listings.  Each read returns as many whole records as fit into a page (4096 bytes at least;
fs/seq_file.c), so a piece that leaves room for one more record of this length is the last."""

Figures = dict[str, float]
"""Series to value, in base units."""


class HostSource(Protocol):
    """One source of host figures."""

    def read(self, into: Figures) -> None:
        """Put the figures of this moment there; what cannot be read is left out."""

    def reasons(self) -> dict[str, str]:
        """Paths of the summary that this source would fill, and why it cannot; empty where it does."""

    def close(self) -> None:
        """Give descriptors back."""


class KeptFile:
    """A file that stays open; reading it again starts at its beginning.

    A file that cannot be opened or read any more (a device was unplugged, pressure is switched off)
    is not tried again; ``reason`` says why.  ``long_records`` is for listings with records of more than
    ``LONGEST_RECORD_BYTES``: a disk with all its partitions, a mount with all its operations.
    """

    def __init__(self, path: Path, *, long_records: bool = False) -> None:
        self.path = path
        self._last_bytes = 0 if long_records else LONGEST_RECORD_BYTES
        self.reason: str | None = None
        self._descriptor = -1
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            self._refused(error)

    def read(self) -> bytes | None:
        """All of its text; None where it cannot be read.

        The kernel hands out long listings a page at a time, so it is read until the last piece.
        """
        if self._descriptor < 0:
            return None
        try:
            text = chunk = os.pread(self._descriptor, CHUNK_BYTES, 0)
            while len(chunk) > self._last_bytes:
                chunk = os.pread(self._descriptor, CHUNK_BYTES, len(text))
                text += chunk
        except OSError as error:
            self._refused(error)
            self.close()
            return None
        return text

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _refused(self, error: OSError) -> None:
        self.reason = f"{self.path}: {(error.strerror or str(error)).lower()}"


class FileSource:
    """A source of one file and one pure function from its text to figures.

    ``paths`` are what it fills of a summary.  A text that is not as expected gives no figures, and
    the reason: a collector never ends a run.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], Figures], paths: tuple[str, ...]) -> None:
        self._file = KeptFile(path)
        self._parse, self._paths = parse, paths
        self._odd: str | None = None

    def read(self, into: Figures) -> None:
        text = self._file.read()
        if text is None:
            return
        try:
            into.update(self._parse(text))
        except (ValueError, IndexError) as error:
            self._odd = f"{self._file.path}: not in the form that mawl knows ({str(error)[:80]})"

    def reasons(self) -> dict[str, str]:
        reason = self._file.reason or self._odd
        return dict.fromkeys(self._paths, reason) if reason else {}

    def close(self) -> None:
        self._file.close()


def number_after(text: bytes, key: bytes) -> int | None:
    """The number that follows ``key`` in a listing such as meminfo; None where the key is not there."""
    place = text.find(key)
    if place < 0:
        return None
    place += len(key)
    return int(text[place : place + 32].split(None, 1)[0])
