"""Rows whose sums are known: any changed word of a block is found."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.errors import WrongAnswerError
from mawl.programs.derived_job.rows import ROW_BYTES, Block, keys, salt_of, sum_of_keys

SALT = salt_of("test")


@pytest.mark.parametrize(
    "size_bytes", [8, 16, 24, ROW_BYTES, ROW_BYTES + 8, 5 * ROW_BYTES + 16, 2048 * ROW_BYTES]
)
@pytest.mark.parametrize("first", [0, 7, 10**10])
def test_a_block_holds_what_was_made_in_it(size_bytes: int, first: int) -> None:
    block = Block(size_bytes)
    assert len(block.fill(first, size_bytes, SALT)) == size_bytes
    block.check(first, size_bytes, SALT, "a file")


@pytest.mark.parametrize("word", [0, 1, 2, 15, 16, 33])
def test_any_changed_word_is_found(word: int) -> None:
    block = Block(3 * ROW_BYTES)
    block.fill(4, 3 * ROW_BYTES, SALT)
    block.words[word] ^= np.uint64(1)
    with pytest.raises(WrongAnswerError, match="the word sum of 384 bytes from row 4 of a file"):
        block.check(4, 3 * ROW_BYTES, SALT, "a file")


@pytest.mark.parametrize(("first", "salt"), [(5, SALT), (4, SALT + 1)])
def test_rows_of_another_place_or_file_are_wrong(first: int, salt: int) -> None:
    block = Block(3 * ROW_BYTES)
    block.fill(4, 3 * ROW_BYTES, SALT)
    with pytest.raises(WrongAnswerError):
        block.check(first, 3 * ROW_BYTES, salt, "a file")


def test_the_sum_of_keys_is_theirs() -> None:
    found = np.empty(1000, np.uint64)
    keys(123, found, SALT)
    assert int(np.add.reduce(found)) == sum_of_keys(123, 1000, SALT)


def test_names_that_differ_give_other_salts() -> None:
    assert len({salt_of(1, "a"), salt_of(1, "b"), salt_of(2, "a"), salt_of("1a")}) == 4
