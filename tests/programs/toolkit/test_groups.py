"""Blocks of whole groups, whatever the batches; what lies between and within groups."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

from mawl.programs.toolkit.groups import (
    block_sizes,
    blocks,
    even_blocks,
    mean_of_group,
    previous,
    running_total,
)


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
    assert block_sizes(groups, 8) == sizes


@pytest.mark.parametrize("widths", [[100], [1] * 100, [30, 40, 30], [99, 1]])
@pytest.mark.parametrize("block_rows", [7, 30, 100, 1000])
def test_blocks_hold_the_same_rows_evenly(widths: list[int], block_rows: int) -> None:
    rows = np.arange(200.0).reshape(2, 100)
    pieces = np.split(rows, np.cumsum(widths)[:-1], axis=1)
    found = [block.copy() for block in even_blocks(pieces, 100, block_rows)]
    assert np.array_equal(np.concatenate(found, axis=1), rows)
    sizes = {block.shape[1] for block in found}
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= min(block_rows, 100)


def test_within_groups() -> None:
    values = np.array([1.0, 2.0, 6.0, 10.0, 20.0, 60.0])
    assert mean_of_group(values, 3).tolist() == [3.0, 3.0, 3.0, 30.0, 30.0, 30.0]
    assert previous(values, 3).tolist() == [1.0, 1.0, 2.0, 10.0, 10.0, 20.0]
    assert previous(values, 3, 0.0).tolist() == [0.0, 1.0, 2.0, 0.0, 10.0, 20.0]
    assert running_total(values, 3).tolist() == [1.0, 3.0, 9.0, 10.0, 30.0, 90.0]
