"""Whole groups of a table that comes in batches of any size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from mawl.programs.groups import whole_groups


@pytest.mark.parametrize("sizes", [[24], [5, 5, 5, 5, 4], [1] * 24, [20, 4]])
def test_blocks_have_the_rows_asked_and_the_rest_at_the_end(sizes: list[int]) -> None:
    numbers = np.arange(24.0)
    starts = np.cumsum([0, *sizes])
    batches = [
        pa.record_batch({"one": numbers[start:][:size], "other": -numbers[start:][:size]})
        for start, size in zip(starts, sizes, strict=False)
    ]
    blocks = list(whole_groups(iter(batches), ["other", "one"], 9))
    assert [len(block["one"]) for block in blocks] == [9, 9, 6]
    assert np.concatenate([block["one"] for block in blocks]).tolist() == numbers.tolist()
    assert np.concatenate([block["other"] for block in blocks]).tolist() == (-numbers).tolist()


def test_no_rows_are_no_blocks() -> None:
    assert list(whole_groups(iter([]), ["one"], 9)) == []
