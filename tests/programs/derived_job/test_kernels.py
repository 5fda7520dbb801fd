"""Every unit of computing is right on sound memory, and finds memory that changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mawl.errors import WrongAnswerError
from mawl.model.derived import KERNELS, Kernel
from mawl.programs.derived_job.kernels import CHUNK_WORDS, Kernels, Memory

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
