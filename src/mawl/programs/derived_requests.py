"""Input and output of derived jobs: the requests of each role and direction, their bytes checked.

A row of a job's own file is 16 eight-byte words: its number, a key (number times an odd constant, plus the
file's salt, modulo 2**64), and zeros.  The constant is that of Fibonacci hashing (Knuth, The Art of Computer
Programming, volume 3, section 6.4): neighbouring rows have keys far apart.  Sums of such words are known
without adding, so any block can be checked.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import itertools
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import DamagedTableError
from mawl.programs.context import JobTable, check_equal

Words = NDArray[np.uint64]

ROW_WORDS = 16
ROW_BYTES = 8 * ROW_WORDS
MULTIPLIER = 0x9E3779B97F4A7C15
_MODULUS = 2**64
_MULTIPLIER = np.uint64(MULTIPLIER)


def salt_of(*names: object) -> int:
    """A number for a file that no other file of the run has, from names that say which it is."""
    text = "\0".join(map(str, names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def keys(first: int, into: Words, salt: int) -> None:
    """Write the keys of rows ``first`` on."""
    into[:] = np.arange(first, first + len(into), dtype=np.uint64)
    into *= _MULTIPLIER
    into += np.uint64(salt)


def sum_of_keys(first: int, count: int, salt: int) -> int:
    """The sum of the keys of ``count`` rows from ``first`` on, modulo 2**64."""
    return (MULTIPLIER * sum_of_numbers(first, count) + count * salt) % _MODULUS


def sum_of_numbers(first: int, count: int) -> int:
    return count * first + count * (count - 1) // 2


class Block:
    """Room for one request: rows are made in it, or checked where they were read."""

    def __init__(self, size_bytes: int) -> None:
        rows = -(-size_bytes // ROW_BYTES)
        self.words: Words = np.zeros(rows * ROW_WORDS, np.uint64)
        self._view = self.words.view(np.uint8).data

    def view(self, size_bytes: int) -> memoryview:
        return self._view[:size_bytes]

    def fill(self, first: int, size_bytes: int, salt: int) -> memoryview:
        count = -(-size_bytes // ROW_BYTES)
        rows = self.words[: count * ROW_WORDS].reshape(count, ROW_WORDS)
        rows[:, 0] = np.arange(first, first + count, dtype=np.uint64)
        np.multiply(rows[:, 0], _MULTIPLIER, out=rows[:, 1])
        rows[:, 1] += np.uint64(salt)
        return self.view(size_bytes)

    def check(self, first: int, size_bytes: int, salt: int, what: str) -> None:
        """Raise ``WrongAnswerError`` unless it holds the rows from ``first`` on."""
        count, rest = divmod(size_bytes // 8, ROW_WORDS)
        found = int(np.add.reduce(self.words[: size_bytes // 8], dtype=np.uint64))
        expected = sum_of_numbers(first, count) + sum_of_keys(first, count, salt)
        if rest >= 1:
            expected += first + count
        if rest >= 2:
            expected += sum_of_keys(first + count, 1, salt)
        check_equal(
            f"the word sum of {size_bytes} bytes from row {first} of {what}", found, expected % _MODULUS
        )


_GOLDEN = 0.6180339887
_CHECKED_ROWS = 8
"""One row of so many of a table has its number compared: all of them would cost as much as reading."""

_NUMBER = slice(1, 15)
"""Where the row number stands in a record, in digits (``plan.derived_program``)."""

_ZERO = 0x30
_POWERS = 10.0 ** np.arange(13, -1, -1)


class OwnFile(NamedTuple):
    """A file that the job wrote, or is to write."""

    path: Path
    size_bytes: int
    salt: int


class Request(NamedTuple):
    """Where a request goes: bytes ``offset`` to ``offset + size_bytes`` of a file."""

    descriptor: int
    file: int
    offset: int
    size_bytes: int


class Stream(Protocol):
    """Requests of one role and direction, one behind the other."""

    total_bytes: int
    moved_bytes: int

    def move(self) -> None:
        """Do the next request."""


class _Moving:
    """What streams have in common: requests from an iterator, and how far they are."""

    def __init__(self, total_bytes: int, requests: Iterator[Request], block: Block) -> None:
        self.total_bytes, self.moved_bytes = total_bytes, 0
        self._requests, self._block = requests, block

    def move(self) -> None:
        """Do the next request; raises OSError, or WrongAnswerError where what it read was not made."""
        request = next(self._requests)
        self._do(request)
        self.moved_bytes += request.size_bytes

    def _do(self, request: Request) -> None:
        raise NotImplementedError


class FileWriter(_Moving):
    """A new file, in sequence or at places in random order."""

    def __init__(self, file: OwnFile, size: Sizes, block: Block, opened: contextlib.ExitStack) -> None:
        requests = places(file.size_bytes, file.size_bytes, size)
        descriptor = _opened(file.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, opened)
        super().__init__(file.size_bytes, (Request(descriptor, 0, *place) for place in requests), block)
        self._file = file

    def _do(self, request: Request) -> None:
        view = self._block.fill(request.offset // ROW_BYTES, request.size_bytes, self._file.salt)
        done = 0
        while done < len(view):
            done += os.pwrite(request.descriptor, view[done:], request.offset + done)


class FileReader(_Moving):
    """Files that the job wrote, pass by pass, each opened afresh."""

    def __init__(
        self,
        files: Sequence[OwnFile],
        total_bytes: int,
        size: Sizes,
        block: Block,
        opened: contextlib.ExitStack,
    ) -> None:
        self._files = files
        sizes = [file.size_bytes for file in files]
        requests = passes([file.path for file in files], sizes, total_bytes, size, opened)
        super().__init__(total_bytes, requests, block)

    def _do(self, request: Request) -> None:
        file = self._files[request.file]
        _read_into(self._block.view(request.size_bytes), request, file.path)
        self._block.check(request.offset // ROW_BYTES, request.size_bytes, file.salt, file.path.name)


class TableReader(_Moving):
    """An input table: fixed-width text.

    Some row numbers of each request are compared; a part that was read in sequence also by its word sum.
    """

    def __init__(
        self, table: JobTable, total_bytes: int, size: Sizes, block: Block, opened: contextlib.ExitStack
    ) -> None:
        ((name, held),) = table.manifest.files.items()
        self._path = table.directory / name
        self._parts = table.manifest.parts
        self._starts = [part.offset for part in self._parts]
        self._until, self._sum = -1, 0
        """Up to where the part that a request continues was read, and the word sum of it."""
        super().__init__(total_bytes, passes([self._path], [held], total_bytes, size, opened), block)

    def _do(self, request: Request) -> None:
        _read_into(self._block.view(request.size_bytes), request, self._path)
        self._check_numbers(request)
        done = 0
        while done < request.size_bytes:
            done = self._add(request, done)

    def _check_numbers(self, request: Request) -> None:
        rows = request.size_bytes // ROW_BYTES
        text = self._block.view(rows * ROW_BYTES)
        records = np.frombuffer(text, np.uint8).reshape(rows, ROW_BYTES)[::_CHECKED_ROWS, _NUMBER]
        found = (records - np.uint8(_ZERO)) @ _POWERS
        first = request.offset // ROW_BYTES
        expected = np.arange(first, first + rows, _CHECKED_ROWS, dtype=np.float64)
        check_equal(f"rows from {first} of {self._path.name}", bool(np.array_equal(found, expected)), True)

    def _add(self, request: Request, done: int) -> int:
        """Add the words up to the end of a part or of the request; how much of it is done then."""
        offset = request.offset + done
        number = bisect.bisect_right(self._starts, offset) - 1
        part = self._parts[number]
        end = min(part.offset + part.bytes, request.offset + request.size_bytes)
        words = self._block.words[done // 8 : (end - request.offset) // 8]
        if offset == part.offset:
            self._until, self._sum = offset, 0
        if offset == self._until:
            self._sum += int(np.add.reduce(words, dtype=np.uint64))
            self._until = end
            if end == part.offset + part.bytes:
                check_equal(
                    f"the word sum of part {number} of {self._path.name}", self._sum % 2**64, part.words
                )
        return end - request.offset


class Sizes(NamedTuple):
    """How requests go: ``request_bytes`` each; ``random_seed`` is None for requests in sequence."""

    request_bytes: int
    random_seed: int | None = None


def sizes_of(moved_bytes: int, random_requests: int, bufsize_bytes: int, seed: int) -> Sizes:
    """The requests of a stream: by bufsize, or about as many at random places as its step had."""
    if not random_requests:
        return Sizes(max(bufsize_bytes // ROW_BYTES, 1) * ROW_BYTES)
    return Sizes(max(round(moved_bytes / random_requests / ROW_BYTES), 1) * ROW_BYTES, seed)


def places(held_bytes: int, moved_bytes: int, size: Sizes) -> Iterator[tuple[int, int]]:
    """Offset and bytes of each request of one pass over ``held_bytes``, until ``moved_bytes`` are moved.

    At random every place comes once, in steps that have no divisor in common with the number of places.
    """
    slots = -(-held_bytes // size.request_bytes)
    step, number = 1, 0
    if size.random_seed is not None:
        step, number = coprime_step(slots), size.random_seed % slots
    left = moved_bytes
    for _ in range(slots):
        offset = number * size.request_bytes
        count = min(size.request_bytes, held_bytes - offset, left)
        yield offset, count
        left -= count
        if left <= 0:
            return
        number = (number + step) % slots


def coprime_step(slots: int) -> int:
    """A step near the golden section of so many places that meets each of them once."""
    step = max(int(slots * _GOLDEN), 1)
    while math.gcd(step, slots) != 1:
        step += 1
    return step


def passes(
    paths: Sequence[Path], held: Sequence[int], total_bytes: int, size: Sizes, opened: contextlib.ExitStack
) -> Iterator[Request]:
    """Requests over files one after another, and again from the first, until ``total_bytes`` are moved."""
    left = total_bytes
    for number in itertools.cycle(range(len(paths))):
        with contextlib.ExitStack() as one:
            opened.push(one)
            descriptor = _opened(paths[number], os.O_RDONLY, one)
            for offset, count in places(held[number], left, size):
                yield Request(descriptor, number, offset, count)
                left -= count
        if left <= 0:
            return


def _opened(path: Path, flags: int, opened: contextlib.ExitStack) -> int:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    opened.callback(os.close, descriptor)
    return descriptor


def _read_into(view: memoryview, request: Request, path: Path) -> None:
    done = 0
    while done < len(view):
        got = os.preadv(request.descriptor, [view[done:]], request.offset + done)
        if got == 0:
            raise DamagedTableError("is shorter than it was made", where=str(path))
        done += got
