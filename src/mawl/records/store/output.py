"""An output file that a user named: it keeps its old content until the new one is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import Self

from mawl.base.errors import UnsuitableMachineError, UsageError, cure_of
from mawl.records.store.files import replacing

_NOT_BESIDE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""Errors by which a directory refuses a new file, or a mount point a new name, though the file itself may be
writable."""
_STANDARD_STREAMS = (1, 2)


class _MixedError(OSError):
    """Writing into the file itself broke off, so it holds parts of the old content and of the new."""


class OutputFile:
    """A file to write, which is tried first, so that a bad place fails before any work.

    ``write`` writes a new file in the same directory and renames it.  Symbolic links stay, and the new
    file gets the mode of the old one, and its owner and group as far as the user may set them.  If the
    directory takes no new file, or the file is a mount point, mawl writes into the file itself.  It does not
    replace pipes, terminals, other files that are not regular, and the standard streams.
    """

    def __init__(self, name: str | Path, option: str = "--output") -> None:
        """Try the place without changing it; ``option`` named it.

        Raises ``UsageError`` if it cannot be written.
        """
        self.name = str(name)
        self._option = option
        self._path = Path(name)
        self._stream: int | None = None
        try:
            self._stream = _stream_of(self._path)
            if self._stream is None:
                self._path = self._path.resolve()
                _try_regular(self._path)
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a byte 0 in the name
            told = error.strerror if isinstance(error, OSError) else None
            raise UsageError(
                "cannot be written",
                where=self.name,
                why=(told or str(error)).lower(),
                cure=f"name a file in a directory that is there and that you may write to: {option} FILE",
            ) from None

    @property
    def is_stream(self) -> bool:
        """Whether each write is added to what was written before, as to a pipe, instead of replacing it."""
        return self._stream is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            os.close(self._stream)

    def write(self, content: bytes) -> None:
        """Write the whole content.

        Raises ``UnsuitableMachineError`` if that fails, and BrokenPipeError if the reader
        of a pipe is gone.
        """
        try:
            if self._stream is not None:
                _write_all(self._stream, content)
            else:
                _replace(self._path, content)
        except BrokenPipeError:
            raise
        except OSError as error:
            another = f"name another file with {self._option}"
            what = "cannot be written"
            if isinstance(error, _MixedError):
                what += ", and what it held is damaged"
            elif not self.is_stream and self._path.exists():
                what += ", and what it held is kept"
            raise UnsuitableMachineError(
                what,
                where=self.name,
                why=(error.strerror or str(error)).lower(),
                cure=another if self.is_stream else cure_of(error, self._path.parent, another),
            ) from None


def write_output(name: str | Path, content: bytes, option: str = "--output") -> None:
    """Write a file that a user named, whole or not at all; raises what ``OutputFile`` raises."""
    with OutputFile(name, option) as output:
        output.write(content)


def _stream_of(path: Path) -> int | None:
    """A descriptor to write into what must not be replaced; None for a regular or a missing file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISBLK(found.st_mode):
        raise OSError(errno.EINVAL, "it is a block device")
    for descriptor in _STANDARD_STREAMS:
        # /dev/stdout may be a file that a shell opened, with more in it than this.
        with contextlib.suppress(OSError):  # it is closed
            if os.path.samestat(found, os.fstat(descriptor)):
                return os.dup(descriptor)
    if stat.S_ISREG(found.st_mode):
        return None
    return os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY)


def _try_regular(path: Path) -> None:
    there = path.exists()
    if there:  # one that this user must not write is not replaced either
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        if error.errno not in _NOT_BESIDE or not there:
            raise


def _replace(path: Path, content: bytes) -> None:
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    try:
        _write_beside(path, content, before)
    except OSError as error:
        if error.errno not in _NOT_BESIDE or before is None:
            raise
        _write_over(path, content)


def _write_beside(path: Path, content: bytes, before: os.stat_result | None) -> None:
    with replacing(path, 0o666) as file:
        if before is not None:
            for owner in ((-1, before.st_gid), (before.st_uid, -1)):
                with contextlib.suppress(OSError):  # only root gives a file to another user
                    os.fchown(file.fileno(), *owner)
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        file.write(content)


def _write_over(path: Path, content: bytes) -> None:
    """Write a file in its place; the room is taken first, while the file still holds the old content."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if len(content) > size:
            try:
                os.posix_fallocate(descriptor, size, len(content) - size)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        try:
            _write_all(descriptor, content)
            os.ftruncate(descriptor, len(content))
            os.fsync(descriptor)
        except OSError as error:
            raise _MixedError(error.errno, error.strerror) from None
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
