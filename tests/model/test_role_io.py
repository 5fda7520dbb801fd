"""Sums, differences, quantiles, and how the time of a job is shared out."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.measure.preload.layout import lower_bound
from mawl.model.role_io import (
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
    waits_of,
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


@given(SECONDS, st.floats(0.0, 1.0), st.floats(0.0, 1.0), SECONDS, SECONDS, SECONDS)
def test_the_parts_of_one_thread_add_up_to_real_time(
    real: float, on_cpu: float, queued: float, data: float, work: float, other: float
) -> None:
    cpu = real * on_cpu
    queue = (real - cpu) * queued
    waits = waits_of(real, cpu, queue, waiting(data=data, work=work, other=other))
    assert total(waits) == pytest.approx(real, rel=1e-9, abs=1e-9)
    assert all(getattr(waits, name) >= 0 for name in WAIT_FIELDS)
    # Never more than was blocked, and in proportion to the waiting in calls.
    blocked = real - cpu - queue
    assert (waits.blocked_data_seconds or 0) <= min(data, blocked) * (1 + 1e-9) + 1e-9


def test_what_no_role_waited_for_is_other() -> None:
    waits = waits_of(10.0, 4.0, 1.0, waiting(data=2.0, work=1.0, other=0.5))
    assert waits == Waits(
        on_cpu_seconds=4.0,
        run_queue_seconds=1.0,
        blocked_data_seconds=2.0,
        blocked_work_seconds=1.0,
        blocked_util_seconds=0.0,
        blocked_other_seconds=2.0,
    )


def test_threads_that_wait_side_by_side_are_counted_in_thread_seconds() -> None:
    several = waits_of(10.0, 8.0, 1.0, waiting(data=6.0, util=3.0), one_thread=False)
    assert (several.blocked_data_seconds, several.blocked_util_seconds) == (6.0, 3.0)
    assert total(several) == 18.0
    one = waits_of(10.0, 8.0, 1.0, waiting(data=6.0, util=3.0))
    assert total(one) == pytest.approx(10.0)


def test_without_the_split_the_blocked_time_is_not_known() -> None:
    assert waits_of(10.0, 4.0, 1.0, None) == Waits(on_cpu_seconds=4.0, run_queue_seconds=1.0)
    assert waits_of(10.0, 4.0, None, waiting()) == Waits(on_cpu_seconds=4.0)


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
