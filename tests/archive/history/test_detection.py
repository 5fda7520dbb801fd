"""Rates of a history: changes that are found, and false alarms."""

from __future__ import annotations

from math import expm1, log1p

import numpy as np
import pytest

from mawl.archive.history.changes import found_in
from mawl.figures.statistics import WHOLE_LEVEL, change_points, smallest_change
from tests.fakes.synthetic_nights import series, whole

STEP = log1p(0.05)
BEFORE, WITHIN = 30, 3


def false_alarms(draws: int, nights: int, seed: int) -> float:
    """Changes of any series in a hundred nights without one."""
    draw = np.random.default_rng(seed)
    return sum(len(found_in(series(draw, nights))) for _ in range(draws)) / draws / nights * 100


def share_found(draws: int, seed: int) -> float:
    """Steps of 5 % that are noticed within three nights, at their place or a night off."""
    draw = np.random.default_rng(seed)
    found = 0
    for _ in range(draws):
        points = change_points(whole(draw, BEFORE + WITHIN, step=STEP, at=BEFORE), WHOLE_LEVEL)
        found += any(abs(point.place - BEFORE) <= 1 for point in points)
    return found / draws


def test_false_alarms_are_fewer_than_one_in_a_hundred_nights() -> None:
    assert false_alarms(12, 100, seed=1) <= 1.0


def test_four_of_five_steps_are_noticed_within_three_nights() -> None:
    assert share_found(150, seed=1) >= 0.8


@pytest.mark.parametrize("before", [10, 30])
def test_the_smallest_change_that_is_printed_is_noticed_in_four_of_five_cases(before: int) -> None:
    draw = np.random.default_rng(7)
    noticed, draws = 0, 300
    for _ in range(draws):
        values = [float(value) for value in draw.normal(0.0, 0.03, before)]
        smallest = smallest_change(values, WHOLE_LEVEL)
        assert smallest is not None and expm1(0.02) < smallest < expm1(0.4)
        values += [float(value) for value in draw.normal(log1p(smallest), 0.03, WITHIN)]
        noticed += any(point.noticed >= before for point in change_points(values, WHOLE_LEVEL))
    assert noticed / draws >= 0.8


@pytest.mark.long(minutes=4)
def test_rates_of_false_alarms_and_of_steps_that_are_found() -> None:
    assert false_alarms(100, 100, seed=2) <= 1.0
    assert share_found(2000, seed=2) >= 0.8
