"""Keep what a run has in work and util at its fullest: clones that share the blocks of its files.

A clone (ioctl_ficlonerange(2), which xfs and btrfs have) writes out what waits of a file and then shares
its blocks, so that what the storage did with them can be read when the run is over.  Each look that finds
:data:`GROWTH` times what was kept before keeps that instead.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

PERIOD_SECONDS = 0.5
GROWTH = 1.25
KEPT, _NEXT = ".mawl-lab-kept", ".mawl-lab-next"
_FICLONE = 0x4004_9409


class CloneKeeper:
    """Looks at folders of temporary files while it is entered; ``folders`` are of each volume, by role.

    What it kept of ``VOLUME/ROLE`` lies in ``VOLUME/.mawl-lab-kept/ROLE``.
    """

    def __init__(self, volumes: Sequence[Path], roles: Sequence[str]) -> None:
        self._volumes, self._roles = volumes, roles
        self._most = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="mawl-lab-keeper", daemon=True)
        self.reason: str | None = None
        """Why nothing could be cloned, None where it could."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(PERIOD_SECONDS):
            size = sum(_size(file) for volume in self._volumes for _, file in self._files(volume))
            if size > GROWTH * self._most and self._keep():
                self._most = size

    def _keep(self) -> bool:
        """Clone every file; what was kept before gives way only to a clone that came to its end."""
        try:
            for volume in self._volumes:
                self._clone(volume)
        except OSError as error:
            self.reason = f"{error.filename or 'a file'}: {(error.strerror or str(error)).lower()}"
            return False
        for volume in self._volumes:
            shutil.rmtree(volume / KEPT, ignore_errors=True)
            (volume / _NEXT).rename(volume / KEPT)
        return True

    def _clone(self, volume: Path) -> None:
        target = volume / _NEXT
        shutil.rmtree(target, ignore_errors=True)
        for role in self._roles:
            (target / role).mkdir(parents=True)
        for number, (role, file) in enumerate(self._files(volume)):
            clone(file, target / role / f"{number}-{file.name}")

    def _files(self, volume: Path) -> Iterator[tuple[str, Path]]:
        for role in self._roles:
            for folder, _, names in os.walk(volume / role):
                yield from ((role, Path(folder, name)) for name in sorted(names))


def clone(file: Path, target: Path) -> None:
    """Make ``target`` share the blocks of a file; nothing where the file has just gone."""
    try:
        source = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.ioctl(copy, _FICLONE, source)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from None
        finally:
            os.close(copy)
    finally:
        os.close(source)


def take_away_kept(volumes: Mapping[str, Path]) -> None:
    """Remove what was kept, whole or not."""
    for place in volumes.values():
        for name in (KEPT, _NEXT):
            shutil.rmtree(place / name, ignore_errors=True)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
