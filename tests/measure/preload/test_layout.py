"""The layout of counter files, from which the library's header is printed."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.measure.preload.counters import (
    CLASSES,
    FILE_BYTES,
    HEADER,
    HEADER_BYTES,
    HISTOGRAM_WORDS,
    KINDS,
    LATENCY_BUCKETS,
    SHARD_WORDS,
    SHARDS,
    SUM_WORDS,
    SUMS,
    SUMS_WORDS_PADDED,
    c_header,
    histogram_word,
    lower_bound,
    sum_word,
)
from mawl.records.model.role_io import FILE_ROLES, upper_bound


def test_no_word_has_two_meanings() -> None:
    sums = {sum_word(kind, name, figure) for kind in KINDS for name in CLASSES for figure in SUMS}
    assert sums == set(range(SUM_WORDS))
    starts = sorted(histogram_word(role, way) for role in FILE_ROLES for way in ("read", "write"))
    assert starts[0] >= SUMS_WORDS_PADDED >= SUM_WORDS
    assert all(later - first == HISTOGRAM_WORDS for first, later in pairwise(starts))
    assert starts[-1] + HISTOGRAM_WORDS <= SHARD_WORDS
    assert FILE_BYTES == HEADER_BYTES + SHARDS * SHARD_WORDS * 8
    assert len(HEADER) * 8 <= 256


@given(st.integers(0, LATENCY_BUCKETS - 2))
def test_buckets_touch_and_are_at_most_a_sixteenth_wide(bucket: int) -> None:
    lower = lower_bound(bucket)
    assert upper_bound(lower) == lower_bound(bucket + 1)
    assert lower < 16 or (upper_bound(lower) - lower) * 16 <= lower


@pytest.mark.parametrize("name", ["CLASS_STREAM", "KIND_SUBMIT_WRITE", "SUM_LONGEST", "HEADER_REAPER"])
def test_the_library_is_compiled_with_the_same_names(name: str) -> None:
    assert re.search(rf"\b{name}\b", c_header())
