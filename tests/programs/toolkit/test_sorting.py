"""Partitions and sorts, against NumPy's sort of the whole, with keys as skewed as they come."""

from __future__ import annotations

import errno
import io
import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from mawl.base.errors import DamagedTableError
from mawl.measure.step import StepRecorder
from mawl.programs.context import JobContext
from mawl.programs.tables import arrow
from mawl.programs.toolkit import partitions
from mawl.programs.toolkit.partitions import (
    Distributor,
    Number,
    partition_count,
    read_ahead,
    read_chunks,
    read_rows,
    room_rows,
)
from mawl.programs.toolkit.rows import Records, Words, memory
from mawl.programs.toolkit.sorting import KeyRanges, KeySample, distribute, paired, sorted_batches
from mawl.records.spec.program_options import MIB, Options
from tests.contract.jobs import assign

SCHEMA = pa.schema(
    [
        ("row", pa.float64()),
        ("a", pa.float64()),
        ("b", pa.float64()),
        *((f"x{n}", pa.float64()) for n in range(37)),
    ]
)
RECORDS = Records(SCHEMA)
KEYS = ("a", "b", "row")
SORTSIZE = 64 * 1024


@pytest.fixture(params=[1, 2])
def context(tmp_path: Path, request: pytest.FixtureRequest) -> JobContext:
    options = Options(
        sortsize_bytes=SORTSIZE, memsize_bytes=MIB, bufsize_bytes=16 * 1024, cpucount=request.param
    )
    assignment = assign("wide_sort", 0.0001, options, {}, tmp_path, volumes=2)
    return JobContext(assignment, StepRecorder("job", lambda _: None))


def table(rows: int, first: np.ndarray, second: np.ndarray) -> list[pa.RecordBatch]:
    numbers = np.arange(rows, dtype=np.float64)
    columns = [numbers, first.astype(np.float64), second.astype(np.float64)]
    columns += [numbers * (place + 2) for place in range(37)]
    whole = pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=SCHEMA)
    return [whole.slice(start, 100) for start in range(0, rows, 100)]


def sort(context: JobContext, batches: list[pa.RecordBatch], partitions: int, every: int = 7) -> pa.Table:
    sample = KeySample()
    for batch in batches:
        sample.add(*(arrow.numbers(batch.column(key))[::every] for key in KEYS))
    parts = distribute(context, iter(batches), RECORDS, KEYS, KeyRanges(sample, partitions), "t")
    assert parts.rows.sum() == sum(batch.num_rows for batch in batches)
    return pa.Table.from_batches(sorted_batches(context, parts.paths, RECORDS, KEYS), schema=SCHEMA)


def expected(batches: list[pa.RecordBatch]) -> pa.Table:
    whole = pa.Table.from_batches(batches)
    order = np.lexsort([whole.column(key).to_numpy() for key in reversed(KEYS)])
    return whole.take(pa.array(order))


@pytest.mark.parametrize("span", [2**31, 50, 1])
def test_sorts_as_one_sort_of_the_whole(context: JobContext, span: int) -> None:
    chance = np.random.default_rng(span)
    rows = 3000
    batches = table(rows, chance.integers(0, span, rows), chance.integers(0, 3, rows))
    partitions = partition_count(rows * RECORDS.bytes, SORTSIZE)
    assert partitions > 20
    found = sort(context, batches, partitions)
    assert found.combine_chunks().equals(expected(batches).combine_chunks())
    assert not [left for place in context.assignment.util for left in Path(place).iterdir()]


def test_partitions_far_too_large_are_distributed_again(context: JobContext) -> None:
    rows = 3000
    batches = table(rows, np.zeros(rows), np.zeros(rows))
    # Two partitions for what needs thirty: each is fifteen times sort memory.
    found = sort(context, batches, 2)
    assert found.combine_chunks().equals(expected(batches).combine_chunks())


def test_rows_that_cannot_be_told_apart_are_a_damaged_table(context: JobContext) -> None:
    batches = table(1000, np.zeros(1000), np.zeros(1000))
    same = [batch.set_column(0, SCHEMA.field(0), pa.array(np.zeros(len(batch)))) for batch in batches]
    with pytest.raises(DamagedTableError, match="cannot be split: row repeats"):
        sort(context, same, 1)


def test_a_key_that_is_no_whole_number_in_range_is_a_damaged_table() -> None:
    for wrong in (-1.0, 2.0**32, float("nan")):
        with pytest.raises(DamagedTableError, match="sort key"):
            paired(np.array([wrong]), np.array([0.0]))


def test_pairs_sort_as_their_keys_do() -> None:
    first, second = np.array([1.0, 1.0, 2.0, 0.0]), np.array([5.0, 2.0**32 - 1, 0.0, 9.0])
    assert np.argsort(paired(first, second)).tolist() == np.lexsort((second, first)).tolist()


def test_boundaries_with_the_rows_own_keys_are_decided_by_the_unique_key() -> None:
    sample = KeySample()
    sample.add(np.array([1.0, 1.0, 1.0, 2.0]), np.zeros(4), np.array([10.0, 20.0, 30.0, 5.0]))
    ranges = KeyRanges(sample, 4)
    numbers = ranges.number(
        paired(np.array([1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 0.0]), np.zeros(7)),
        np.array([19.0, 20.0, 29.0, 30.0, 4.0, 5.0, 99.0]),
    )
    assert numbers.tolist() == [0, 1, 1, 2, 2, 3, 0]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_distributor_keeps_order_and_stays_within_its_requests(tmp_path: Path, threads: int) -> None:
    paths = [tmp_path / name for name in ("even", "odd", "none")]
    distributor = Distributor(
        paths,
        lambda rows: rows[:, 0] % np.uint64(2),
        2,
        sortsize_bytes=4096,
        bufsize_bytes=64,
        threads=threads,
    )
    numbers = np.arange(1000, dtype=np.uint64)
    distributor.add_rows(np.stack([numbers, numbers * np.uint64(3)], axis=1) for numbers in [numbers])
    assert distributor.rows.tolist() == [500, 500, 0]
    even = read_rows(paths[0], memory(500, 2), bufsize_bytes=100)
    assert even[:, 0].tolist() == list(range(0, 1000, 2))
    assert len(read_rows(paths[2], memory(1, 2), bufsize_bytes=100)) == 0
    chunks = [len(chunk) for chunk in read_chunks(paths[1], memory(150, 2), bufsize_bytes=64)]
    assert chunks == [150, 150, 150, 50]


def three_partitions(place: Path, number: Number | None = None, threads: int = 1) -> Distributor:
    return Distributor(
        [place / str(number) for number in range(3)],
        number or (lambda rows: rows[:, 0] % np.uint64(3)),
        2,
        sortsize_bytes=4096,
        bufsize_bytes=64,
        threads=threads,
    )


def pairs(count: int) -> Words:
    numbers = np.arange(count, dtype=np.uint64)
    return np.stack([numbers, numbers], axis=1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("soft", "stay"), [(8, 2), (1024, 3), (resource.RLIM_INFINITY, 3)])
def test_partition_files_stay_open_up_to_a_quarter_of_the_descriptors(
    soft: int, stay: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = os.open

    def counted(path: str, flags: int, mode: int) -> int:
        opened.append(Path(path).name)
        return real(path, flags, mode)

    monkeypatch.setattr(resource, "getrlimit", lambda which: (soft, soft))
    distributor = three_partitions(tmp_path, threads=threads)
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "open", counted)
    distributor.add_rows([pairs(1000)])
    assert [opened.count(name) == 1 for name in "012"] == [number < stay for number in range(3)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert distributor.rows.tolist() == [334, 333, 333]


def test_no_more_than_256_partition_files_stay_open(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(300)]
    before = len(os.listdir("/proc/self/fd"))
    distributor = Distributor(
        paths, lambda rows: rows[:, 0] % np.uint64(300), 2, sortsize_bytes=2**16, bufsize_bytes=64
    )
    rows = pairs(600)
    for start in range(0, 600, 300):
        space = distributor.space(300)
        space[...] = rows[start : start + len(space)]
        distributor.commit(len(space))
    distributor.space(1)
    distributor.close()
    assert distributor.rows.tolist() == [2] * 300
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_error_leaves_no_partition_file_open(tmp_path: Path) -> None:
    flushes = []

    def fails_later(rows: Words) -> Words:
        flushes.append(len(rows))
        if len(flushes) == 3:
            raise OSError(errno.ENOSPC, "no space")
        return rows[:, 0] % np.uint64(3)

    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="no space"):
        three_partitions(tmp_path, fails_later).add_rows([pairs(1000)])
    assert len(flushes) == 3
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_that_cannot_be_closed_is_named_and_the_others_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributor = three_partitions(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    space = distributor.space(3)
    space[...] = pairs(3)
    distributor.commit(3)
    closed: list[str] = []

    class Refusing(io.FileIO):
        def close(self) -> None:
            super().close()
            closed.append(str(self.name))
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(
        partitions, "_appended", lambda path: Refusing(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "ab")
    )
    with pytest.raises(OSError, match="Input/output error") as raised:
        distributor.close()
    assert Path(raised.value.filename).parent == tmp_path
    assert len(closed) == 3
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_partition_file_with_part_of_a_row_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(bytes(50))
    with pytest.raises(DamagedTableError, match="no whole number of rows"):
        read_rows(tmp_path / "cut", memory(10, 2), bufsize_bytes=64)


def test_at_full_scale_one_round_with_requests_near_bufsize_is_enough() -> None:
    options = Options()
    partitions = partition_count(145 * 10**9, options.sortsize_bytes)
    assert partitions == 1081
    assert room_rows(640, options.sortsize_bytes) * 640 / partitions > 0.7 * options.bufsize_bytes


def job(threads: int) -> Any:
    return SimpleNamespace(threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
def test_items_come_in_order(threads: int) -> None:
    assert list(read_ahead(job(threads), iter(range(50)))) == list(range(50))
    assert list(read_ahead(job(threads), iter([]))) == []


def test_the_next_item_is_made_while_one_is_worked_on() -> None:
    made = [threading.Event() for _ in range(3)]

    def items() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    found = read_ahead(job(2), items())
    assert next(found) == 0
    assert made[1].wait(timeout=30)
    assert not made[2].is_set()
    assert list(found) == [1, 2]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_in_its_turn(threads: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("the device is gone")

    found = read_ahead(job(threads), items())
    assert next(found) == 1
    with pytest.raises(OSError, match="the device is gone"):
        next(found)
