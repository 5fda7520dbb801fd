"""The pace of a step, by a clock that units and requests move."""

from __future__ import annotations

import pytest

from mawl.errors import WrongAnswerError
from mawl.programs.derived_job.pace import Pace


class Clock:
    """CPU seconds, moved by whoever computes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.units = 0

    def __call__(self) -> float:
        return self.seconds

    def unit(self) -> None:
        self.seconds += 0.003
        self.units += 1


def test_units_fill_what_moving_left_of_the_cpu_seconds() -> None:
    clock = Clock()
    pace = Pace(3.0, [clock.unit], clock=clock)
    for request in range(100):
        pace.reach(request / 100)
        clock.seconds += 0.01  # moving takes a third of them
    pace.reach(1.0)
    assert clock.seconds == pytest.approx(3.0, abs=0.004)
    assert clock.units == pytest.approx(2.0 / 0.003, abs=3)


def test_at_each_share_of_a_step_so_much_has_been_computed() -> None:
    clock = Clock()
    pace = Pace(1.0, [clock.unit], clock=clock)
    for tenth in range(1, 11):
        pace.reach(tenth / 10)
        assert clock.seconds == pytest.approx(tenth / 10, abs=0.004)


def test_nothing_is_computed_where_moving_takes_more_than_the_step_had() -> None:
    clock = Clock()
    pace = Pace(0.1, [clock.unit], clock=clock)
    clock.seconds += 5.0
    pace.reach(1.0)
    assert clock.units == 0


def test_every_thread_computes_and_a_wrong_unit_fails_the_step() -> None:
    clock = Clock()
    done: list[int] = []

    def wrong() -> None:
        done.append(1)
        raise WrongAnswerError("planted")

    pace = Pace(1.0, [clock.unit, wrong], clock=clock)
    with pytest.raises(WrongAnswerError, match="planted"):
        pace.reach(1.0)
    pace.close()
    assert done == [1] and clock.units > 0
