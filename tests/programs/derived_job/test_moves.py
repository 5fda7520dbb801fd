"""Requests: how many, where, and in what order.

Rows whose sums are known: any changed word of a block is found.
"""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path

import numpy as np
import pytest

from mawl.base.errors import DamagedTableError, WrongAnswerError
from mawl.programs.derived_job.requests import (
    ROW_BYTES,
    Block,
    FileReader,
    FileWriter,
    OwnFile,
    Sizes,
    coprime_step,
    keys,
    places,
    salt_of,
    sizes_of,
    sum_of_keys,
)
from mawl.programs.derived_job.run import FIRST, SECOND, WHOLE, in_turn

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


@pytest.mark.parametrize("seed", [None, 0, 12345])
@pytest.mark.parametrize("held", [8, 128, 4096, 4104, 100_000])
def test_a_pass_moves_every_byte_once(held: int, seed: int | None) -> None:
    found = list(places(held, held, Sizes(512, seed)))
    assert sum(count for _, count in found) == held
    assert sorted(offset for offset, _ in found) == list(range(0, held, 512))


def test_random_places_are_in_no_order() -> None:
    offsets = [offset for offset, _ in places(512 * 1000, 512 * 1000, Sizes(512, 7))]
    following = sum(second == first + 512 for first, second in itertools.pairwise(offsets))
    assert following < 10


@pytest.mark.parametrize("slots", [1, 2, 3, 10, 97, 1024, 30030])
def test_a_step_meets_every_place(slots: int) -> None:
    step = coprime_step(slots)
    assert len({number * step % slots for number in range(slots)}) == slots


@pytest.mark.parametrize(
    ("moved", "requests", "bufsize", "size"),
    [(10**6, 0, 262144, 262144), (10**6, 0, 1000, 896), (10**6, 1000, 262144, 1024), (1000, 900, 4096, 128)],
)
def test_requests_are_whole_rows(moved: int, requests: int, bufsize: int, size: int) -> None:
    assert sizes_of(moved, requests, bufsize, 1).request_bytes == size


def written(path: Path, size_bytes: int, request_bytes: int) -> OwnFile:
    file = OwnFile(path, size_bytes, 77)
    with contextlib.ExitStack() as opened:
        stream = FileWriter(file, Sizes(request_bytes, 5), Block(request_bytes), opened)
        while stream.moved_bytes < stream.total_bytes:
            stream.move()
    assert path.stat().st_size == size_bytes
    return file


def test_files_are_read_pass_by_pass_until_the_bytes_are_moved(tmp_path: Path) -> None:
    files = [written(tmp_path / "a", 1000 * 8, 384), written(tmp_path / "b", 50 * 8, 128)]
    with contextlib.ExitStack() as opened:
        stream = FileReader(files, 3 * 8400 + 16, Sizes(512), Block(512), opened)
        moves = 0
        while stream.moved_bytes < stream.total_bytes:
            stream.move()
            moves += 1
    assert stream.moved_bytes == 3 * 8400 + 16
    assert moves == 3 * (16 + 1) + 1


def test_a_file_that_was_cut_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a", 80 * ROW_BYTES, ROW_BYTES)
    with file.path.open("r+b") as cut:
        cut.truncate(40 * ROW_BYTES)
    with contextlib.ExitStack() as opened:
        stream = FileReader([file], 80 * ROW_BYTES, Sizes(60 * ROW_BYTES), Block(60 * ROW_BYTES), opened)
        with pytest.raises(DamagedTableError, match="is shorter than it was made"):
            stream.move()


class Counted:
    """A stream that only counts."""

    def __init__(self, requests: int) -> None:
        self.total_bytes, self.moved_bytes = requests, 0

    def move(self) -> None:
        self.moved_bytes += 1


def test_streams_take_turns_evenly_over_their_windows() -> None:
    first, second, whole = Counted(10), Counted(30), Counted(400)
    shares: dict[Counted, list[float]] = {first: [], second: [], whole: []}
    looks, last = 0, 0.0
    for at, stream in in_turn([(FIRST, first), (SECOND, second), (WHOLE, whole)]):
        assert at >= last
        last = at
        if stream is None:
            looks += 1
        else:
            assert isinstance(stream, Counted)
            shares[stream].append(at)
            stream.move()
    assert [len(one) for one in shares.values()] == [10, 30, 400]
    assert max(shares[first]) < 0.5 <= min(shares[second])
    assert shares[whole] == pytest.approx([number / 400 for number in range(400)])
    assert looks == 63


def test_a_step_that_moves_nothing_computes_in_slices() -> None:
    assert [at for at, _ in in_turn([])] == [number / 64 for number in range(1, 64)]
