"""What threads waited for a CPU, and what the kernel only takes for waiting."""

from __future__ import annotations

import threading

import pytest

from mawl.measure.processes import LONGEST_TURN_NANOSECONDS, own_run_delay_seconds, plausible_run_delay


@pytest.mark.parametrize(
    ("schedstat", "nanoseconds"),
    [
        (b"31029634 1785984952 361\n", 1_785_984_952),
        # Slept for 9 s in between, which the kernel took for waiting.
        (b"2845121 9174790473 3\n", 3 * LONGEST_TURN_NANOSECONDS),
        (b"0 0 0\n", 0),
    ],
)
def test_a_thread_is_believed_so_much_for_each_turn(schedstat: bytes, nanoseconds: int) -> None:
    assert plausible_run_delay(schedstat) == nanoseconds


@pytest.mark.parametrize("text", [b"", b"1 2"])
def test_what_is_no_schedstat_is_an_error(text: bytes) -> None:
    with pytest.raises(IndexError):
        plausible_run_delay(text)


def test_own_threads_are_added_up() -> None:
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    try:
        found = own_run_delay_seconds()
    finally:
        done.set()
        other.join()
    assert found is not None
    assert found >= 0.0
