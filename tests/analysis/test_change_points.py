"""Change points: found when they are there, and not by one bad night."""

from __future__ import annotations

import numpy as np

from mawl.analysis.change_points import FEWEST_AFTER, FEWEST_BEFORE, ChangeFound, change_points


def test_a_clear_step_is_found_at_its_place_and_noticed_soon() -> None:
    values = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.0, 1.1, 0.9, 1.0, 3.0, 3.1, 2.9, 3.0]
    assert change_points(values, 0.007) == [ChangeFound(place=10, noticed=11)]


def test_every_level_of_several_is_found() -> None:
    draw = np.random.default_rng(3)
    values = [float(level + draw.normal(0.0, 0.1)) for level in (0, 3, 1) for _ in range(12)]
    assert [point.place for point in change_points(values, 0.007)] == [12, 24]


def test_one_bad_night_is_no_new_level() -> None:
    draw = np.random.default_rng(4)
    values = [float(value) for value in draw.normal(0.0, 1.0, 30)]
    values[20] += 40.0
    assert change_points(values, 0.007) == []


def test_too_few_nights_and_equal_nights_have_no_change() -> None:
    assert change_points([1.0] * 5 + [9.0] * (FEWEST_BEFORE + FEWEST_AFTER - 6), 0.007) == []
    assert change_points([2.0] * 40, 0.007) == []
    assert change_points([0.0] * 40, 0.007) == []


def test_equal_nights_before_a_step_do_not_hide_it() -> None:
    assert change_points([2.0] * 20 + [3.0] * 3, 0.007) == [ChangeFound(place=20, noticed=21)]
