"""Sums, differences, quantiles, and how the time of a job is shared out."""

from __future__ import annotations

import random

import pytest
from hypothesis import strategies as st

from mawl.measure.preload.counters import lower_bound
from mawl.records.model.role_io import (
    WAIT_FIELDS,
    FileRole,
    Histogram,
    RoleIo,
    Waits,
    io_between,
    quantile,
    sum_of,
    typical,
    upper_bound,
)

SECONDS = st.floats(0.0, 1e5, allow_nan=False)


def histogram(values: list[int]) -> Histogram:
    """Values in their buckets."""
    bounds = sorted({lower_bound(bucket) for bucket in range(592)})
    found: Histogram = {}
    for value in values:
        lower = max(bound for bound in bounds if bound <= value)
        assert lower <= value < upper_bound(lower)
        found[lower] = found.get(lower, 0) + 1
    return found


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_a_quantile_out_of_buckets_is_right_within_six_percent(share: float) -> None:
    source = random.Random(7)
    values = sorted(int(source.lognormvariate(11, 1)) for _ in range(2000))
    truth = values[int(share * len(values))]
    assert quantile(histogram(values), share) == pytest.approx(truth, rel=0.06)


def test_a_quantile_of_nothing_is_none() -> None:
    assert quantile({}, 0.5) is None


def waiting(**seconds: float) -> dict[FileRole, RoleIo]:
    """Roles that waited so long in reads."""
    return {role: RoleIo(read_waited_seconds=value) for role, value in seconds.items()}  # type: ignore[misc]


def total(waits: Waits) -> float:
    """All of a job's time."""
    return float(sum(getattr(waits, name) for name in WAIT_FIELDS))


def test_a_difference_takes_the_start_off_everything() -> None:
    start = RoleIo(reads=2, read_bytes=20, read_nanoseconds_histogram={16: 1, 64: 1})
    end = RoleIo(
        reads=5,
        read_bytes=80,
        read_seconds=0.5,
        longest_read_seconds=2.0,
        read_nanoseconds_histogram={16: 1, 64: 3, 128: 1},
    )
    between = io_between({"data": start}, {"data": end})["data"]
    assert (between.reads, between.read_bytes, between.read_seconds) == (3, 60, 0.5)
    assert between.read_nanoseconds_histogram == {64: 2, 128: 1}
    # The longest call of all was before; the bucket of the longest one since bounds it.
    assert between.longest_read_seconds == upper_bound(128) / 1e9


def test_a_sum_has_the_longest_of_all() -> None:
    parts = [RoleIo(writes=n, longest_write_seconds=n, write_size_bytes_histogram={n: 1}) for n in (1, 3, 2)]
    whole = sum_of(parts)
    assert (whole.writes, whole.longest_write_seconds) == (6, 3)
    assert whole.write_size_bytes_histogram == {1: 1, 2: 1, 3: 1}


def test_the_typical_size_is_a_bucket_s_lower_bound() -> None:
    assert typical({}, 0.5) is None
    assert typical({4096: 3, 262144: 1}, 0.5) == 4096
    assert typical({4096: 3, 262144: 1}, 0.99) == 262144
    assert typical({0: 2, 4096: 2}, 0.5) == 0
