"""Requests past the page cache (O_DIRECT, open(2)): where they are allowed, and how many bytes they moved."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import mmap
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from mawl.errors import UnsuitableMachineError
from mawl.measure.mounts import MEMORY_FILE_SYSTEMS, mount_of, read_mounts
from mawl.spec.program_options import DirectMode

ALIGNMENT_BYTES = 4096
"""What offset, length and memory of direct requests are multiples of: no common device asks for more."""

_REFUSED = (errno.EINVAL, errno.EOPNOTSUPP)
_Call = Callable[[int, list[memoryview], int], int]


class DirectIo:
    """Opens a job's files as the option ``direct`` says, and counts what passed by the page cache.

    ``auto``: direct where the file system allows it; ``yes``: an error where it does not; ``no``: never.
    ``read_bytes`` and ``written_bytes`` are those of requests that were direct ones.  Several threads may
    read and write.
    """

    def __init__(self, mode: DirectMode) -> None:
        self._mode = mode
        self._counting = threading.Lock()
        self.read_bytes = 0
        self.written_bytes = 0

    def open(self, path: Path, flags: int) -> tuple[int, bool]:
        """A descriptor, and whether its requests are direct.

        Raises OSError as open(2) does, and with ``yes`` :class:`~mawl.errors.UnsuitableMachineError`
        where the file system refuses.
        """
        if self._mode == "no":
            return os.open(path, flags, 0o600), False
        why = _why_not(str(path.parent))
        if why is None:
            try:
                return os.open(path, flags | os.O_DIRECT, 0o600), True
            except OSError as error:
                if error.errno not in _REFUSED:
                    raise
                why = (error.strerror or str(error)).lower()
                # Some file systems make the file before they refuse.
                if flags & os.O_EXCL:
                    with contextlib.suppress(FileNotFoundError):
                        path.unlink()
        self._refused(path, why)
        return os.open(path, flags, 0o600), False

    def read(self, descriptor: int, view: memoryview, offset: int, *, is_direct: bool) -> tuple[int, bool]:
        """One request: the bytes that came, and whether the descriptor is still a direct one.

        A device with larger blocks than ALIGNMENT_BYTES refuses at the first request, not at the opening;
        the descriptor goes through the page cache from then on.
        """
        got, is_direct = self._move(os.preadv, descriptor, view, offset, is_direct)
        with self._counting:
            self.read_bytes += got if is_direct else 0
        return got, is_direct

    def write(self, descriptor: int, view: memoryview, offset: int, *, is_direct: bool) -> tuple[int, bool]:
        """The same of one write: the bytes that were taken."""
        done, is_direct = self._move(os.pwritev, descriptor, view, offset, is_direct)
        with self._counting:
            self.written_bytes += done if is_direct else 0
        return done, is_direct

    def _move(
        self, call: _Call, descriptor: int, view: memoryview, offset: int, is_direct: bool
    ) -> tuple[int, bool]:
        try:
            return call(descriptor, [view], offset), is_direct
        except OSError as error:
            if not is_direct or error.errno not in _REFUSED:
                raise
            self._through_cache(descriptor, (error.strerror or str(error)).lower())
            return call(descriptor, [view], offset), False

    def _through_cache(self, descriptor: int, why: str) -> None:
        """Take O_DIRECT off a descriptor whose requests are refused; an error with ``yes``."""
        self._refused(Path(f"/proc/self/fd/{descriptor}").readlink(), why)
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_DIRECT)

    def _refused(self, path: Path, why: str) -> None:
        if self._mode == "yes":
            raise UnsuitableMachineError(
                "direct I/O is refused here, and the option direct is yes",
                where=str(path),
                why=why,
                cure="name a directory on a file system with direct I/O, or say --option direct=auto",
            )


@functools.cache
def _why_not(directory: str) -> str | None:
    """Why there can be nothing direct below a directory; None where it has to be tried.

    A file system in memory takes O_DIRECT (tmpfs since Linux 6.6) and copies from the page cache all the
    same.
    """
    mount = mount_of(directory, read_mounts())
    if mount is not None and mount.file_system in MEMORY_FILE_SYSTEMS:
        return f"{mount.file_system} lies in memory and has no device"
    return None


class AlignedMemory:
    """Buffers for direct requests, from mmap and so aligned, each used again when nothing refers to it."""

    def __init__(self) -> None:
        self._pieces: list[mmap.mmap] = []

    def lend(self, size: int) -> tuple[pa.Buffer, memoryview]:
        """An Arrow buffer of at least ``size`` bytes and a view of the same, uninitialised."""
        for place in range(len(self._pieces)):
            # The list's own and the call's: whoever holds the buffer or a view would be a third.
            if sys.getrefcount(self._pieces[place]) == 2:
                if len(self._pieces[place]) < size:
                    self._pieces[place] = mmap.mmap(-1, _rounded(size))
                break
        else:
            place = len(self._pieces)
            self._pieces.append(mmap.mmap(-1, _rounded(size)))
        piece = self._pieces[place]
        return pa.py_buffer(piece), memoryview(piece)


def _rounded(size: int) -> int:
    """Room for sizes a little larger, too: batches of one table differ by their metadata."""
    return max(-(-size // 2**18), 1) * 2**18
