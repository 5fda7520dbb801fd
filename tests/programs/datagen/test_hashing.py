from __future__ import annotations

import numpy as np
import pytest

from mawl.programs.datagen.hashing import hashes, key


def test_hashes_are_the_splitmix64_stream() -> None:
    # First outputs for seed 1234567, from the reference implementation (Vigna, splitmix64.c).
    assert hashes(1234567, 0, 3).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@pytest.mark.parametrize("start", [0, 2**31 - 3, 2**32 - 3, 2**40])
def test_any_rows_can_be_made_alone(start: int) -> None:
    whole = hashes(42, start, 10)
    assert hashes(42, start + 4, 3).tolist() == whole[4:7].tolist()
    assert len(np.unique(whole)) == 10


def test_keys_tell_words_apart() -> None:
    assert len({key(1, "ab", "c"), key(1, "a", "bc"), key(11, "ab", "c"), key(1, "abc")}) == 4
    assert key(1, "ab", "c") == 0x845D348FCFDCEDD6
