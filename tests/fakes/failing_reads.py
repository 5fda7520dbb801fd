"""A device that cannot read some of its blocks."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path


def failing(path: Path, first: int = 0, last: int = 2**62) -> Callable[[int, int, int], bytes]:
    """``os.pread``, but EIO for what touches bytes ``first`` up to ``last`` of the file at ``path``."""
    real = os.pread
    status = path.stat()

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        asked = os.fstat(descriptor)
        same = (asked.st_dev, asked.st_ino) == (status.st_dev, status.st_ino)
        if same and offset < last and offset + length > first:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, length, offset)

    return pread
