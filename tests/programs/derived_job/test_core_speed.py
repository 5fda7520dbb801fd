"""The speed of a core, by a made-up clock and by this machine's."""

from __future__ import annotations

import itertools

import pytest

from mawl.programs.derived_job.core_speed import REFERENCE_SECONDS, core_speed


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
