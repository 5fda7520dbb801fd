"""Every unit of computing is right on sound memory, and finds memory that changed.

The speed of a core, by a made-up clock and by this machine's.

The pace of a step, by a clock that units and requests move.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.derived_job.kernels import (
    CHUNK_WORDS,
    REFERENCE_SECONDS,
    Kernels,
    Memory,
    Pace,
    core_speed,
)
from mawl.records.model.derived import KERNELS, Kernel


@pytest.mark.parametrize("times", [1.0, 0.5, 4.0])
def test_a_core_that_takes_so_many_times_longer_is_slower_by_that(times: float) -> None:
    # One look before and one after each round; every third round was disturbed.
    lengths = itertools.cycle([REFERENCE_SECONDS * times, 9.0, REFERENCE_SECONDS * times])
    now = 0.0
    is_end = False

    def clock() -> float:
        nonlocal now, is_end
        if is_end:
            now += next(lengths)
        is_end = not is_end
        return now

    assert core_speed(clock) == pytest.approx(1 / times)


def test_this_core_has_a_speed() -> None:
    assert 0.02 < core_speed() < 50


class Clock:
    """CPU seconds, moved by whoever computes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.units = 0

    def __call__(self) -> float:
        return self.seconds

    def unit(self) -> None:
        self.seconds += 0.003
        self.units += 1


def test_units_fill_what_moving_left_of_the_cpu_seconds() -> None:
    clock = Clock()
    pace = Pace(3.0, [clock.unit], clock=clock)
    for request in range(100):
        pace.reach(request / 100)
        clock.seconds += 0.01  # moving takes a third of them
    pace.reach(1.0)
    assert clock.seconds == pytest.approx(3.0, abs=0.004)
    assert clock.units == pytest.approx(2.0 / 0.003, abs=3)


def test_at_each_share_of_a_step_so_much_has_been_computed() -> None:
    clock = Clock()
    pace = Pace(1.0, [clock.unit], clock=clock)
    for tenth in range(1, 11):
        pace.reach(tenth / 10)
        assert clock.seconds == pytest.approx(tenth / 10, abs=0.004)


def test_nothing_is_computed_where_moving_takes_more_than_the_step_had() -> None:
    clock = Clock()
    pace = Pace(0.1, [clock.unit], clock=clock)
    clock.seconds += 5.0
    pace.reach(1.0)
    assert clock.units == 0


def test_every_thread_computes_and_a_wrong_unit_fails_the_step() -> None:
    clock = Clock()
    done: list[int] = []

    def wrong() -> None:
        done.append(1)
        raise WrongAnswerError("planted")

    pace = Pace(1.0, [clock.unit, wrong], clock=clock)
    with pytest.raises(WrongAnswerError, match="planted"):
        pace.reach(1.0)
    pace.close()
    assert done == [1] and clock.units > 0


EVERY = pytest.mark.parametrize("kernel", KERNELS)


OVER_MEMORY = pytest.mark.parametrize("kernel", [name for name in KERNELS if name not in ("dense", "write")])


@EVERY
def test_units_are_right_on_memory_that_is_not_whole_chunks(kernel: Kernel) -> None:
    memory = Memory(3 * CHUNK_WORDS * 8 + 800, 5)
    held = memory.words.copy()
    one = Kernels(kernel, memory, 0, 1)
    for _ in range(8):
        one.unit()
    assert np.array_equal(memory.words, held)


@OVER_MEMORY
@pytest.mark.parametrize("chunk", range(3))
def test_a_changed_word_in_any_chunk_is_found_within_one_round(kernel: Kernel, chunk: int) -> None:
    memory = Memory(3 * CHUNK_WORDS * 8 + 800, 5)
    memory.words[chunk * CHUNK_WORDS + 7] ^= np.uint64(4)
    one = Kernels(kernel, memory, 0, 1)
    with pytest.raises(WrongAnswerError):
        for _ in range(3):
            one.unit()


class _Wrong:
    """A matrix whose products with matrices are wrong in one place."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def __matmul__(self, other: Any) -> Any:
        product = self._matrix @ other
        if product.ndim == 2:
            product[3, 5] += 1
        return product


def test_a_wrong_product_of_matrices_is_found() -> None:
    one = Kernels("dense", Memory(0, 5), 0, 1)
    one._left = _Wrong(one._left)  # type: ignore[assignment]
    with pytest.raises(WrongAnswerError, match="a product of matrices is wrong"):
        one.unit()


def test_a_block_that_was_made_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Kernels("write", Memory(0, 5), 0, 1)
    fill = one._block.fill
    monkeypatch.setattr(one._block, "fill", lambda first, size, salt: fill(first + 1, size, salt))
    with pytest.raises(WrongAnswerError, match="a block that was made"):
        one.unit()


def test_threads_take_turns_over_the_chunks() -> None:
    memory = Memory(4 * CHUNK_WORDS * 8, 5)
    memory.words[3 * CHUNK_WORDS] ^= np.uint64(1)
    first, second = (Kernels("hold", memory, number, 2) for number in range(2))
    for _ in range(4):
        first.unit()
    second.unit()
    with pytest.raises(WrongAnswerError):
        second.unit()
