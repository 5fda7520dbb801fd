"""Rows of a derived job's own files: values that follow from the row number, so any block can be checked.

A row is 16 eight-byte words: its number, a key (number times an odd constant, plus the file's salt, modulo
2**64), and zeros.  The constant is that of Fibonacci hashing (Knuth, The Art of Computer Programming, volume
3, section 6.4): neighbouring rows have keys far apart.  Sums of such words are known without adding.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from mawl.programs.context import check_equal

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
    """first + (first + 1) + ..., ``count`` of them."""
    return count * first + count * (count - 1) // 2


class Block:
    """Room for one request: rows are made in it, or checked where they were read."""

    def __init__(self, size_bytes: int) -> None:
        rows = -(-size_bytes // ROW_BYTES)
        self.words: Words = np.zeros(rows * ROW_WORDS, np.uint64)
        self._view = self.words.view(np.uint8).data

    def view(self, size_bytes: int) -> memoryview:
        """The first bytes of it, for a request."""
        return self._view[:size_bytes]

    def fill(self, first: int, size_bytes: int, salt: int) -> memoryview:
        """Make the rows from ``first`` on; the last may be cut off."""
        count = -(-size_bytes // ROW_BYTES)
        rows = self.words[: count * ROW_WORDS].reshape(count, ROW_WORDS)
        rows[:, 0] = np.arange(first, first + count, dtype=np.uint64)
        np.multiply(rows[:, 0], _MULTIPLIER, out=rows[:, 1])
        rows[:, 1] += np.uint64(salt)
        return self.view(size_bytes)

    def check(self, first: int, size_bytes: int, salt: int, what: str) -> None:
        """Raise :class:`~mawl.errors.WrongAnswerError` unless it holds the rows from ``first`` on."""
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
