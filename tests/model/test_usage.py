"""Usages as sums and differences: peaks are maxima, all else adds up."""

from __future__ import annotations

from mawl.model.usage import Usage, difference, total


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
