"""The bytes to draw from: data of regular files below a path, or of a block device; holes are none of it.

Nothing is opened for writing and no access time changed where that is ours to say (O_NOATIME).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from mawl.base.errors import MawlError, UsageError
from mawl.measure.compressibility.codecs import original_bytes
from mawl.records.model.compressibility import FilesLeftOut, StorageModel

MOST_REMARKS = 5
STAT_BLOCK_BYTES = 512
GONE = os.strerror(errno.ENOENT).lower()
CUT_SHORT = "it was cut short meanwhile"

Kind = Literal["folder", "file", "device"]


class BytePlace(NamedTuple):
    """A byte of the population: the segment that holds it, and where in its file it lies."""

    segment: int
    offset: int


class Population:
    """All data bytes below some paths, in segments (files less their holes), and what is left out."""

    def __init__(self, *, other_file_systems: bool = False, without: frozenset[str] = frozenset()) -> None:
        self._cross = other_file_systems
        self._without = without
        self.paths: list[str] = []
        self.bytes = 0
        self.hole_bytes = 0
        self._ends = array("q")
        self._whole = bytearray()
        self._files = array("q")
        self._offsets = array("q")
        self._links = self._special = self._other = 0
        self._seen: set[tuple[int, int]] = set()
        self._lost: set[int] = set()
        self._failed: set[int] = set()
        self._lost_bytes = 0
        self._lost_folders = 0
        self._remarks: list[str] = []

    # -- gathering ---------------------------------------------------------------------------

    def add(self, path: Path) -> Kind:
        """Add a file, a folder with all below it, or a block device; a link given by name is followed.

        Raises ``UsageError`` where there is none or it is something else, and
        ``MawlError`` where it may not be read.
        """
        try:
            status = path.stat()
            if stat.S_ISDIR(status.st_mode):
                os.scandir(path).close()
                self._walk(str(path), status.st_dev)
                return "folder"
            if stat.S_ISREG(status.st_mode):
                os.close(_open(str(path)))
                self._add_file(str(path), status)
                return "file"
            if stat.S_ISBLK(status.st_mode):
                self._add_device(str(path))
                return "device"
        except OSError as error:
            raise _cannot_read(path, error) from None
        raise UsageError(
            "is no file, folder or block device", where=str(path), cure="name one that holds data"
        )

    def _walk(self, top: str, device: int) -> None:
        pending = [top]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                if error.errno != errno.ENOENT:
                    self._lost_folders += 1
                    self._remark(f"{folder}: {(error.strerror or str(error)).lower()}")
                continue
            for entry in found:
                with contextlib.suppress(FileNotFoundError):
                    self._entry(entry, device, pending)

    def _entry(self, entry: os.DirEntry[str], device: int, pending: list[str]) -> None:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            self._links += 1
        elif status.st_dev != device and not self._cross:
            self._other += 1
        elif stat.S_ISDIR(status.st_mode):
            pending.append(entry.path)
        elif stat.S_ISREG(status.st_mode):
            if entry.path not in self._without:
                self._add_file(entry.path, status)
        else:
            self._special += 1

    def _add_file(self, path: str, status: os.stat_result) -> None:
        """A file, once whatever names it has; its holes are found where it has fewer blocks than bytes."""
        key = (status.st_dev, status.st_ino)
        if key in self._seen:
            return
        self._seen.add(key)
        self.paths.append(path)
        data = [(0, status.st_size)] if status.st_size else []
        if status.st_blocks * STAT_BLOCK_BYTES < status.st_size:
            with contextlib.suppress(OSError):
                data = list(_data_of(path, status.st_size))
        for offset, length in data:
            self._add_segment(offset, length, length == status.st_size)
        self.hole_bytes += status.st_size - sum(length for _, length in data)

    def _add_device(self, path: str) -> None:
        descriptor = _open(path)
        try:
            size = os.lseek(descriptor, 0, os.SEEK_END)
        finally:
            os.close(descriptor)
        self.paths.append(path)
        if size:
            self._add_segment(0, size, False)

    def _add_segment(self, offset: int, length: int, whole_file: bool) -> None:
        self._files.append(len(self.paths) - 1)
        self._offsets.append(offset)
        self.bytes += length
        self._ends.append(self.bytes)
        self._whole.append(whole_file)

    # -- drawing -----------------------------------------------------------------------------

    def original_ends(self, storage: StorageModel) -> array[int]:
        """Where each segment ends if every one takes what ``storage`` gives it before compression."""
        if storage == "plain":
            return self._ends
        ends, total = array("q"), 0
        for segment in range(len(self._ends)):
            first, last = self._span(segment)
            total += original_bytes(storage, last - first, bool(self._whole[segment]))
            ends.append(total)
        return ends

    def place(self, position: int, ends: array[int] | None = None) -> BytePlace | None:
        """Where byte ``position`` (0 up to ``bytes``) lies; None in a file that was lost.

        With the ``ends`` of ``original_ends`` the byte is one of those; what only fills up a sector
        belongs to the last byte before it.
        """
        ends = self._ends if ends is None else ends
        segment = bisect_right(ends, position)
        if self._files[segment] in self._lost:
            return None
        first, last = self._span(segment)
        return BytePlace(segment, min(first + position - (ends[segment - 1] if segment else 0), last - 1))

    def whole_file(self, place: BytePlace, size: int) -> bool:
        """Whether the block of ``size`` around a place is all of its file."""
        return bool(self._whole[place.segment]) and self._span(place.segment)[1] <= size

    def mean_block_bytes(self, size: int) -> float:
        """What the block of ``size`` around a byte drawn holds in the mean."""
        squares = 0
        for segment in range(len(self._ends)):
            first, last = self._span(segment)
            squares += (last - first) // size * size * size + ((last - first) % size) ** 2
        return squares / self.bytes if self.bytes else 0.0

    def block(self, place: BytePlace, size: int) -> tuple[int, int]:
        """Offset and length of the block of ``size`` that holds a place: a multiple of it in the file,
        cut where the segment begins or ends."""
        first, last = self._span(place.segment)
        aligned = place.offset // size * size
        start = max(aligned, first)
        return start, min(aligned + size, last) - start

    def blocks(self, size: int) -> Iterator[BytePlace]:
        """The first place of every block of ``size``, in order, of files that are not lost."""
        for segment in range(len(self._ends)):
            offset, last = self._span(segment)
            while offset < last and self._files[segment] not in self._lost:
                yield BytePlace(segment, offset)
                offset = (offset // size + 1) * size

    def path_of(self, place: BytePlace) -> str:
        return self.paths[self._files[place.segment]]

    def share(self, chosen: Callable[[str], bool]) -> float | None:
        """The share of the bytes that lie in files whose path is chosen; None where there are none."""
        held = sum(
            self._span(segment)[1] - self._span(segment)[0]
            for segment, file in enumerate(self._files)
            if chosen(self.paths[file])
        )
        return held / self.bytes if self.bytes else None

    def read(self, place: BytePlace, size: int) -> tuple[int, bytes] | None:
        """Offset and bytes of the block of ``size`` around a place; None where they cannot be had now.

        What failed is noted: a file that is gone, not ours to read or cut short is lost as a whole, of one
        with an error of its device the block.
        """
        offset, length = self.block(place, size)
        file = self._files[place.segment]
        try:
            descriptor = _open(self.paths[file])
        except OSError as error:
            self._lose(file, (error.strerror or str(error)).lower())
            return None
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
            found = _pread(descriptor, length, offset)
        except OSError as error:
            self._lost_bytes += length
            if file not in self._failed:
                self._failed.add(file)
                self._remark(f"{self.paths[file]}: {(error.strerror or str(error)).lower()} at byte {offset}")
            return None
        finally:
            os.close(descriptor)
        if offset + len(found) <= place.offset:
            self._lose(file, CUT_SHORT)
            return None
        return offset, found

    def left_out(self) -> FilesLeftOut:
        return FilesLeftOut(
            links=self._links,
            special_files=self._special,
            other_file_systems=self._other,
            lost_files=len(self._lost | self._failed),
            lost_bytes=self._lost_bytes,
            lost_folders=self._lost_folders,
            remarks=list(self._remarks),
        )

    def _span(self, segment: int) -> tuple[int, int]:
        length = self._ends[segment] - (self._ends[segment - 1] if segment else 0)
        return self._offsets[segment], self._offsets[segment] + length

    def _lose(self, file: int, why: str) -> None:
        if file not in self._lost:
            spans = (self._span(segment) for segment, of in enumerate(self._files) if of == file)
            self._lost.add(file)
            self._lost_bytes += sum(last - first for first, last in spans)
            self._remark(f"{self.paths[file]}: {why}")

    def _remark(self, text: str) -> None:
        if len(self._remarks) < MOST_REMARKS:
            self._remarks.append(text)


def _open(path: str) -> int:
    """Open for reading, without a new access time where the file is ours."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags | os.O_NOATIME)
    except PermissionError:
        return os.open(path, flags)


def _pread(descriptor: int, length: int, offset: int) -> bytes:
    """As many bytes as there are, up to ``length``: a read may be cut short anywhere."""
    found = os.pread(descriptor, length, offset)
    while 0 < len(found) < length:
        more = os.pread(descriptor, length - len(found), offset + len(found))
        if not more:
            break
        found += more
    return found


def _data_of(path: str, size: int) -> Iterator[tuple[int, int]]:
    """Offset and length of the data of a file, between its holes (lseek(2))."""
    descriptor = _open(path)
    try:
        at = 0
        while at < size:
            try:
                start = os.lseek(descriptor, at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return
                raise
            at = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
            if at > start:
                yield start, at - start
    finally:
        os.close(descriptor)


def _cannot_read(path: Path, error: OSError) -> MawlError:
    why = (error.strerror or str(error)).lower()
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return UsageError("cannot be looked at", where=str(path), why=why, cure="name one that is there")
    cure = "run as a user who may read it" if isinstance(error, PermissionError) else None
    return MawlError("cannot be read", where=str(path), why=why, cure=cure)
