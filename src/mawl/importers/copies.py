"""Files with the content of an earlier one: a copy, packed or not, counts once."""

from __future__ import annotations

import hashlib
from pathlib import Path

from mawl.importers.sources import FileStream

PART_BYTES = 2**20


class Copies:
    """The files of an import by their content; only files that begin alike are read for it."""

    def __init__(self) -> None:
        self._begun: dict[bytes, tuple[Path, str] | None] = {}
        self._whole: dict[bytes, str] = {}

    def earlier(self, path: Path, name: str, first: bytes) -> str | None:
        """The name of an earlier file with the same content, if any.

        ``first`` are the file's first bytes, unpacked, and ``name`` is what messages call it.
        """
        begin = hashlib.blake2b(first).digest()
        if begin not in self._begun:
            self._begun[begin] = path, name
            return None
        if (alone := self._begun[begin]) is not None:
            self._whole[_content_sum(alone[0])] = alone[1]
            self._begun[begin] = None
        content = _content_sum(path)
        if content not in self._whole:
            self._whole[content] = name
            return None
        return self._whole[content]


def tells_times(kind: str, first: bytes) -> bool:
    """Whether equal files of a kind that begin so are copies: they say when they were written.

    Two short jobs may well have the same SAS log where it has no timestamps.
    """
    return kind != "saslog" or b"Timestamp" in first.replace(b"\0", b"")


def _content_sum(path: Path) -> bytes:
    """A sum of all bytes that can be read of a file, unpacked; one that is gone is like no other."""
    found = hashlib.blake2b()
    try:
        stream = FileStream(path, lambda _: None)
    except OSError:
        return str(path).encode()
    with stream:
        while part := stream.read(PART_BYTES):
            found.update(part)
    return found.digest()
