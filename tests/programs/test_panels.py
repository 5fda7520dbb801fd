"""Blocks of whole groups, whatever the batches; what lies between and within groups."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from mawl.programs.panels import before, between, blocks, sizes_of, so_far


def batches(rows: int, size: int) -> list[pa.RecordBatch]:
    numbers = np.arange(rows, dtype=np.float64)
    return [
        pa.record_batch({"a": numbers[start : start + size], "b": -numbers[start : start + size]})
        for start in range(0, rows, size)
    ]


@pytest.mark.parametrize("size", [1, 3, 7, 8, 50])
@pytest.mark.parametrize("sizes", [[12, 12, 16], [40], [39, 1]])
def test_blocks_have_the_sizes_asked_for_whatever_the_batches(size: int, sizes: list[int]) -> None:
    found = list(blocks(batches(40, size), ["b", "a"], sizes))
    assert [len(block["a"]) for block in found] == sizes
    assert np.concatenate([block["a"] for block in found]).tolist() == list(range(40))
    assert np.concatenate([block["b"] for block in found]).tolist() == [-row for row in range(40)]


def test_sizes_that_go_on_leave_the_last_block_shorter() -> None:
    assert [len(block["a"]) for block in blocks(batches(40, 9), ["a"], itertools.repeat(16))] == [16, 16, 8]


@pytest.mark.parametrize(
    ("groups", "sizes"), [(5, [5]), (8, [8]), (15, [15]), (16, [8, 8]), (31, [8, 8, 15])]
)
def test_the_last_block_takes_what_is_left(groups: int, sizes: list[int]) -> None:
    assert sizes_of(groups, 8) == sizes


def test_within_groups() -> None:
    values = np.array([1.0, 2.0, 6.0, 10.0, 20.0, 60.0])
    assert between(values, 3).tolist() == [3.0, 3.0, 3.0, 30.0, 30.0, 30.0]
    assert before(values, 3).tolist() == [1.0, 1.0, 2.0, 10.0, 10.0, 20.0]
    assert before(values, 3, 0.0).tolist() == [0.0, 1.0, 2.0, 0.0, 10.0, 20.0]
    assert so_far(values, 3).tolist() == [1.0, 3.0, 9.0, 10.0, 30.0, 90.0]
