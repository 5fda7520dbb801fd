"""A short look at clocks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mawl.measure.clock import ClockWatch, kernel_synchronised


def clock(*readings: float) -> Iterator[float]:
    return iter(readings)


@pytest.mark.parametrize(
    ("wall", "drift"), [((100.0, 102.0), 0.0), ((100.0, 102.002), 1e-3), ((100.0, 92.0), -5.0)]
)
def test_drift_is_against_the_hardware_clock(wall: tuple[float, float], drift: float) -> None:
    walls, steadies = clock(*wall), clock(5.0, 7.0)
    look = ClockWatch(lambda: next(walls), lambda: next(steadies)).look()
    assert look.seconds == 2.0
    assert look.drift_ratio == pytest.approx(drift, abs=1e-9)


def test_a_look_of_no_length_has_no_drift() -> None:
    look = ClockWatch(lambda: 1.0, lambda: 1.0).look()
    assert look.drift_ratio == 0.0


def test_the_kernel_says_whether_the_clock_is_synchronised_or_why_it_is_not_known() -> None:
    state, reason = kernel_synchronised()
    assert state in ("yes", "no") or reason
    assert (state is None) == (reason is not None)
