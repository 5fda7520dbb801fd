"""Columns that are packed give back every value."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.packed_columns import CHUNK_VALUES, PackedColumn

KERNEL_VALUES: tuple[Callable[[int], float], ...] = (
    float,
    lambda whole: whole * 1e-3,
    lambda whole: whole / 1000,
    lambda whole: whole / 100,
    lambda whole: whole / 1e6,
    lambda whole: whole * 1e-9,
)


def column(*parts: list[float]) -> PackedColumn:
    found = PackedColumn()
    for part in parts:
        found.extend(np.array(part, dtype=np.float64))
    return found


@given(st.lists(st.lists(st.floats()), max_size=5))
def test_any_floats_come_back(parts: list[list[float]]) -> None:
    found = column(*parts)
    whole = [value for part in parts for value in part]
    for _ in range(2):
        assert len(found) == len(whole)
        assert np.array_equal(found.values(), whole, equal_nan=True)
        found.pack()
    assert found.is_finite == bool(np.isfinite(whole).all())


@given(
    st.sampled_from(KERNEL_VALUES),
    st.integers(0, 2**52),
    st.lists(st.integers(-(2**33), 2**33), min_size=1, max_size=50),
)
def test_what_the_kernel_counts_comes_back(
    kind: Callable[[int], float], start: int, steps: list[int]
) -> None:
    values = [kind(start + sum(steps[:number])) for number in range(len(steps))]
    found = column(values)
    found.pack()
    assert found.values().tolist() == values


def test_chunks_of_unlike_kinds_follow_each_other() -> None:
    kinds = [
        [float(number) for number in range(CHUNK_VALUES)],
        [number / 1000 for number in range(CHUNK_VALUES)],
        [math.sqrt(number) for number in range(CHUNK_VALUES)],
        [1e300, -1e300] * (CHUNK_VALUES // 2),
        [7.0],
    ]
    assert column(*kinds).values().tolist() == [value for kind in kinds for value in kind]


@pytest.mark.parametrize("kind", KERNEL_VALUES)
@pytest.mark.parametrize("step", [1, 1000, 100_000])
def test_what_the_kernel_counts_takes_at_most_half_of_its_bytes(
    kind: Callable[[int], float], step: int
) -> None:
    found = column([kind(number * step) for number in range(3 * CHUNK_VALUES)])
    found.pack()
    assert found.nbytes <= 4 * len(found)


def test_bytes_of_a_fast_device_take_half_of_their_bytes() -> None:
    found = column([float(number * 20 * 2**30) for number in range(CHUNK_VALUES)])
    assert found.nbytes <= 4 * len(found)
    assert found.values()[-1] == (CHUNK_VALUES - 1) * 20 * 2**30
