"""Requests: how many, where, and in what order."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path

import pytest

from mawl.errors import DamagedTableError
from mawl.programs.derived_job.moves import (
    FileReader,
    FileWriter,
    OwnFile,
    Sizes,
    coprime_step,
    places,
    sizes_of,
)
from mawl.programs.derived_job.rows import ROW_BYTES, Block
from mawl.programs.derived_job.run import FIRST, SECOND, WHOLE, in_turn


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
