"""The share of a job's time in each state: what the thread did on which its end depends.

Usages as sums and differences: peaks are maxima, all else adds up.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.records.model.records import (
    STATES,
    Look,
    Usage,
    between,
    difference,
    share_of,
    spent,
    total,
    waits_of,
    waits_without_io,
)
from mawl.records.model.role_io import WAIT_FIELDS, Waits


def test_a_sum_adds_times_and_bytes_and_takes_the_larger_peak() -> None:
    one = Usage(user_cpu_seconds=1.0, application_read_bytes=10, memory_bytes=300, os_memory_bytes=50)
    other = Usage(user_cpu_seconds=2.5, application_read_bytes=5, memory_bytes=200)
    found = total([one, other])
    assert (found.user_cpu_seconds, found.application_read_bytes) == (3.5, 15)
    assert (found.memory_bytes, found.os_memory_bytes) == (300, 50)
    assert found.page_faults is None


def test_a_difference_keeps_the_peak_and_never_falls_below_zero() -> None:
    whole = Usage(user_cpu_seconds=2.0, memory_bytes=300, page_faults=4)
    found = difference(whole, Usage(user_cpu_seconds=2.01, memory_bytes=100), Usage(page_faults=1))
    assert (found.user_cpu_seconds, found.memory_bytes, found.page_faults) == (0.0, 300, 3)
    assert found.application_read_bytes is None


SECONDS = st.floats(0.0, 1e6)
SPENT = st.fixed_dictionaries(dict.fromkeys(STATES, SECONDS))


def waits_sum(waits: Waits) -> float:
    return sum(getattr(waits, name) or 0.0 for name in WAIT_FIELDS)


@given(SPENT, SPENT, st.floats(1.0, 1e3))
def test_states_add_up_to_real_time_whatever_others_do(
    first: dict[str, float], others: dict[str, float], longer: float
) -> None:
    real = sum(first.values()) * longer + 1e-3
    waits = waits_of(real, first, {state: first[state] + others[state] for state in STATES})
    assert waits_sum(waits) == pytest.approx(real, rel=1e-9)
    assert min(getattr(waits, name) for name in WAIT_FIELDS) >= 0.0


@pytest.mark.parametrize("helpers", range(1, 8))
def test_helpers_that_spin_do_not_hide_a_first_thread_that_waits(helpers: int) -> None:
    first = spent(0.05, 0.0, {"work": 0.95})
    waits = waits_of(1.0, first, {**first, "on_cpu": 0.05 + helpers})
    assert waits.blocked_work_seconds == pytest.approx(0.95)
    assert waits.on_cpu_seconds == pytest.approx(0.05)


@pytest.mark.parametrize("helpers", range(1, 8))
def test_readers_beside_do_not_make_a_first_thread_that_computes_look_blocked(helpers: int) -> None:
    first = spent(1.0, 0.0, {})
    waits = waits_of(1.0, first, {**first, "data": 0.9 * helpers})
    assert (waits.on_cpu_seconds, waits.blocked_data_seconds) == (1.0, 0.0)


def test_a_shell_that_waits_for_its_children_does_what_they_do() -> None:
    waits = waits_of(10.0, spent(0.01, 0.0, {}), spent(4.01, 1.0, {"util": 3.99}))
    assert (waits.on_cpu_seconds, waits.run_queue_seconds) == pytest.approx((4.01, 1.0))
    assert waits.blocked_util_seconds == pytest.approx(3.99)
    assert waits.blocked_other_seconds == pytest.approx(1.0)


def test_a_pool_that_the_first_thread_waits_for_is_asked_in_proportion() -> None:
    waits = waits_of(1.0, spent(0.0, 0.0, {}), spent(1.0, 0.0, {"data": 3.0}))
    assert (waits.on_cpu_seconds, waits.blocked_data_seconds) == pytest.approx((0.25, 0.75))


def test_a_pool_that_sleeps_counts_nowhere() -> None:
    share = share_of(1.0, spent(0.2, 0.0, {"data": 0.3}), spent(0.2, 0.0, {"data": 0.3}), helpers=0)
    assert sum(share.joined.values()) == 0.0


def test_one_helper_leaves_nothing_open_and_two_that_differ_leave_bounds() -> None:
    alone = share_of(1.0, spent(0.0, 0.0, {}), spent(0.5, 0.0, {"work": 0.5}), helpers=1)
    assert alone.bounds["io"] == (0.5, 0.5)
    two = share_of(1.0, spent(0.0, 0.0, {}), spent(1.0, 0.0, {"work": 0.95}), helpers=2)
    assert two.bounds["io"] == (0.0, 0.95)
    alike = share_of(1.0, spent(0.0, 0.0, {}), spent(0.1, 0.0, {"work": 3.9}), helpers=4)
    assert alike.bounds["io"] == pytest.approx((0.9, 1.0))


@given(SPENT, SPENT, st.integers(1, 16))
def test_what_was_shared_out_lies_within_the_bounds(
    first: dict[str, float], others: dict[str, float], helpers: int
) -> None:
    busy = sum(others.values())
    real = sum(first.values()) + busy / helpers
    share = share_of(real, first, {state: first[state] + others[state] for state in STATES}, helpers)
    least, most = share.bounds["io"]
    told = sum(share.joined[role] for role in ("data", "work", "util"))
    assert least <= told * (1 + 1e-6) + 1e-6 and told <= most * (1 + 1e-6) + 1e-6


def test_clocks_that_ran_ahead_of_real_time_tell_nothing() -> None:
    assert waits_of(1.0, spent(1.2, 0.0, {}), spent(1.2, 0.0, {})) == Waits()
    assert waits_sum(waits_of(1.0, spent(1.005, 0.0, {}), spent(1.005, 0.0, {}))) == pytest.approx(1.0)


def test_without_the_calls_only_a_job_of_one_thread_is_told() -> None:
    assert waits_without_io((4.0, 1.0), 4.0, 1.0) == Waits(on_cpu_seconds=4.0, run_queue_seconds=1.0)
    assert waits_without_io((4.0, 1.0), 8.0, 1.0) == Waits()
    assert waits_without_io(None, 8.0, 1.0) == Waits()


def test_between_two_looks_only_what_was_gained_counts() -> None:
    first, later = spent(1.0, 0.0, {}), spent(1.25, 0.25, {"util": 0.25})
    share = between(Look(at=5.0, first=first, tree=first), Look(at=6.0, first=later, tree=later))
    assert (share.first["on_cpu"], share.first["util"]) == (0.25, 0.25)


def test_a_first_thread_that_sleeps_on_a_timer_may_wait_for_nobody() -> None:
    """A helper that spins while the first thread sleeps for 10 s once made "limit cpu 100 %"."""
    nothing, spins = spent(0.0, 0.0, {}), spent(6.0, 4.0, {})
    for on_timer, least in ((False, 4.0), (True, 0.0)):
        before = Look(at=0.0, first=nothing, tree=nothing)
        found = between(before, Look(at=10.0, first=nothing, tree=spins, first_sleeps_on_timer=on_timer))
        assert found.bounds["run_queue"] == pytest.approx((least, 4.0))
