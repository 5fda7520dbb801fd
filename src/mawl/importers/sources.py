"""The files of an import: found in directories, opened safely, decompressed in bounds."""

from __future__ import annotations

import io
import os
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from mawl.base.errors import UsageError
from mawl.base.foreign import open_regular
from mawl.records.store.files import KEPT_LOG, OWN_LOG
from mawl.records.store.parquet import reading_seconds

INPUT_BYTES = 16 * 1024
"""Read at once; what one such part expands to (a thousandfold at most) bounds the memory."""
_GZIP = 31
"""zlib's window bits for gzip's header and checksum."""


class Gzipped:
    """The members of a gzip file one after another, decompressed; zeros behind a member are padding.

    It gives all that stands before a damage, which ``GzipFile`` loses.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(_GZIP)
        self._packed = b""
        self._damage: EOFError | zlib.error | None = None

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer before an end or damage; EOFError or zlib.error once all is read."""
        if self._damage is not None:
            raise self._damage
        found = bytearray()
        while len(found) < size and self._damage is None:
            packed, self._packed = self._packed or self._file.read(INPUT_BYTES), b""
            if self._unpacker.eof:
                packed = packed.lstrip(b"\0")
                if packed:
                    self._unpacker = zlib.decompressobj(_GZIP)
                elif not self._file.peek(1):  # type: ignore[attr-defined]
                    break
                else:
                    continue
            if packed:
                found += self._unpacked(packed, size - len(found))
            else:
                self._damage = EOFError("the file ends before its end was marked")
        if self._damage is not None and not found:
            raise self._damage
        return bytes(found)

    def _unpacked(self, packed: bytes, most: int) -> bytes:
        before = self._unpacker.copy()
        try:
            part = self._unpacker.decompress(packed, most)
        except zlib.error as error:
            self._damage = error
            return _up_to_damage(before, packed)
        self._packed = self._unpacker.unused_data if self._unpacker.eof else self._unpacker.unconsumed_tail
        return part


def _up_to_damage(unpacker: zlib._Decompress, packed: bytes) -> bytes:
    """What zlib gives of a part byte by byte: of the whole part it gives nothing where it is damaged."""
    found = bytearray()
    try:
        for at in range(len(packed)):
            found += unpacker.decompress(packed[at : at + 1])
    except zlib.error:
        pass
    return bytes(found)


GZIP_MAGIC = b"\x1f\x8b"
MOST_EXPANDED_RATIO = 50
"""Logs and recordings expand 5 to 30 times; gzip's utmost is a thousandfold, and 750 MB of nmon out of 3 MB
took 170 s."""
LEAST_EXPANDED_BYTES = 16 * 2**20
"""What may be expanded at any ratio."""
MOST_FILES = 200_000

Tell = Callable[[str, str], None]
"""Told the file and the reason why it was not read."""


def find_files(paths: list[str], tell: Tell) -> Iterator[tuple[Path, str]]:
    """Every file of the paths and the name that messages use; directories by name, depth first.

    Links to directories are not followed.  Raises ``UsageError`` for a path that is
    not there, and for more than MOST_FILES files.
    """
    count = 0
    for text in paths:
        path = Path(text)
        if not os.path.lexists(path):
            raise UsageError(
                "there is no such file or directory", where=text, cure="name what is to be imported"
            )
        found = _below(path, tell) if path.is_dir() else iter([path])
        for file in found:
            count += 1
            if count > MOST_FILES:
                raise UsageError(
                    f"holds more than {MOST_FILES} files", where=text, cure="import a part of it"
                )
            yield file, os.path.relpath(file, path) if path.is_dir() else file.name


def _below(directory: Path, tell: Tell) -> Iterator[Path]:
    def refused(error: OSError) -> None:
        tell(str(error.filename), (error.strerror or str(error)).lower())

    for folder, folders, files in os.walk(directory, onerror=refused, followlinks=False):
        folders.sort()
        for name in [name for name in folders if Path(folder, name).is_symlink()]:
            tell(
                os.path.relpath(os.path.join(folder, name), directory),
                "a link to a directory is not followed",
            )
        for name in sorted(files):
            ours = name.removesuffix(KEPT_LOG) + OWN_LOG
            if name.endswith(KEPT_LOG) and ours in files:
                # A run folder's logs: one job twice, and ours knows the session and the waits, too.
                tell(os.path.relpath(os.path.join(folder, name), directory), f"{ours} tells the same job")
            else:
                yield Path(folder, name)


class FileStream(io.RawIOBase):
    """A regular file as a stream of bytes, decompressed where it is gzip; what is wrong with it is told once.

    Making one raises OSError where it cannot be opened, or is no regular file.
    """

    def __init__(
        self, path: Path, tell: Callable[[str], None], clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._file = open_regular(path)
        self._tell, self._clock = tell, clock
        try:
            self.size_bytes = os.fstat(self._file.fileno()).st_size
            self._stream: BinaryIO | Gzipped = self._file
            if self._file.peek(2)[:2] == GZIP_MAGIC:  # type: ignore[attr-defined]
                self._stream = Gzipped(self._file)
        except BaseException:
            self._file.close()
            raise
        self._expanded = 0
        self._most_seconds = reading_seconds(self.size_bytes)
        self._began = clock()
        self._ended = False
        self._first = b""

    @property
    def is_plain(self) -> bool:
        """Whether its bytes are those of the file: it is not compressed."""
        return self._stream is self._file

    def first(self, size: int) -> bytes:
        """The first bytes, which a later ``read`` gives again; before any of them."""
        self._first = self._next(size)
        return self._first

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes; nothing at the end, or where the file is damaged from here on."""
        if size < 0:
            raise io.UnsupportedOperation("a source is read in parts")
        if self._first:
            part, self._first = self._first[:size], self._first[size:]
            return part
        return self._next(size)

    def _next(self, size: int) -> bytes:
        if self._ended:
            return b""
        try:
            part = self._stream.read(size)
        except (OSError, EOFError, zlib.error) as error:
            self._stop(f"damaged after {self._expanded} bytes ({str(error)[:80]}): the rest is not read")
            return b""
        self._expanded += len(part)
        bound = max(LEAST_EXPANDED_BYTES, self.size_bytes * MOST_EXPANDED_RATIO)
        if self._stream is not self._file and self._expanded > bound:
            self._stop(
                f"expands to over {MOST_EXPANDED_RATIO} times its size: the rest is not read; unpack it with "
                "gunzip to have all of it read"
            )
        elif self._clock() - self._began > self._most_seconds:
            self._stop(
                f"reading it takes more than the {self._most_seconds:.0f} s of CPU time that mawl allows for "
                "a file of this size: the rest is not read"
            )
        return part

    def _stop(self, why: str) -> None:
        self._ended = True
        self._tell(why)

    def close(self) -> None:
        self._file.close()
        super().close()
