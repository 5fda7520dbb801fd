"""Opening a file that somebody else may have made: a regular file, without waiting, up to a bound of bytes.

A run folder, a log or a recording may come from anywhere.  A named pipe instead of a file would block its
reader, a symbolic link would lead out of the folder, and a device would never end
(docs/design/foreign-files.md).
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
NOT_REGULAR = "not a regular file"
A_LINK = "a symbolic link, which mawl does not follow here"
OUTSIDE = "outside of its folder"
_PART_BYTES = 2**20
_REASONS = {errno.ENXIO: NOT_REGULAR, errno.ELOOP: A_LINK, errno.EXDEV: OUTSIDE}


def descriptor_of(path: Path, *, inside: Path | None = None) -> int:
    """A descriptor of a regular file, for reading.

    A path that the user named may be a link.  Of a file ``inside`` a folder no part below that folder may
    be one.  Raises OSError, whose ``strerror`` also says what is no regular file or a link.
    """
    try:
        descriptor = os.open(path, _FLAGS) if inside is None else _below(inside, path)
    except OSError as error:
        reasons = {errno.ENXIO: NOT_REGULAR} if inside is None else _REASONS
        why = reasons.get(error.errno or 0, error.strerror)
        raise OSError(error.errno, why, str(path)) from None
    except ValueError:  # a byte 0 in its name
        raise OSError(errno.EINVAL, "not a name of a file", str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
    return descriptor


def open_regular(path: Path, *, inside: Path | None = None) -> BinaryIO:
    """As ``descriptor_of``, as a file of bytes."""
    return os.fdopen(descriptor_of(path, inside=inside), "rb")


def read_regular(path: Path, most_bytes: int, *, inside: Path | None = None) -> bytes:
    """The whole content; OSError as ``descriptor_of``, and EOVERFLOW for more than ``most_bytes``."""
    content = bytearray()
    with open_regular(path, inside=inside) as file:
        # In parts: one read of the most would take that much memory first, however small the file is.
        while len(content) <= most_bytes and (part := file.read(_PART_BYTES)):
            content += part
    if len(content) > most_bytes:
        raise OSError(errno.EOVERFLOW, f"larger than the {most_bytes} bytes that mawl reads", str(path))
    return bytes(content)


def _below(folder: Path, path: Path) -> int:
    """Open each part in the one before it, so that nobody can put a link there meanwhile."""
    if not path.is_relative_to(folder) or ".." in path.relative_to(folder).parts:
        raise OSError(errno.EXDEV, OUTSIDE)
    relative = path.relative_to(folder)
    *folders, name = relative.parts
    at = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=at)
    except NotADirectoryError as error:
        # With O_DIRECTORY a link is said to be no directory.
        raise OSError(errno.ELOOP if _is_link(at, relative) else error.errno, error.strerror) from None
    finally:
        os.close(at)


def _is_link(at: int, relative: Path) -> bool:
    for part in relative.parts:
        try:
            if stat.S_ISLNK(os.lstat(part, dir_fd=at).st_mode):
                return True
        except OSError:
            continue
    return False
