"""Spark lines: values keep their order and height, gaps stay gaps, and what is not known draws nothing."""

from __future__ import annotations

import math
import re

import pytest

from mawl.reports.html.sections.nights import EDGE, HEIGHT, MOST_POINTS, WIDTH, spark


def lines(drawn: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'points="([^"]*)"', drawn)
    return [[tuple(map(float, point.split(","))) for point in one.split()] for one in found]  # type: ignore[misc]


def test_the_highest_value_is_at_the_top_and_the_lowest_at_the_bottom() -> None:
    [points] = lines(spark([1.0, 3.0, 2.0], "x"))
    assert points == [(EDGE, HEIGHT - EDGE), (WIDTH / 2, EDGE), (WIDTH - EDGE, HEIGHT / 2)]


def test_a_missing_value_is_a_gap_and_one_alone_is_a_dot() -> None:
    drawn = lines(spark([1.0, 2.0, None, 3.0, math.nan, 1.0, 2.0], "x"))
    assert [len(one) for one in drawn] == [2, 2, 2]
    assert drawn[1][0] == drawn[1][1]


@pytest.mark.parametrize("values", [[], [None, None], [math.nan], [1.0], [1.0, None, 3.0]])
def test_fewer_than_three_known_values_draw_nothing(values: list[float | None]) -> None:
    assert spark(values, "x") == ""


def test_equal_values_lie_in_the_middle_and_small_changes_look_small() -> None:
    [points] = lines(spark([5.0, 5.0, 5.0], "x"))
    assert {y for _, y in points} == {HEIGHT / 2}
    [points] = lines(spark([0.0, 0.1, 0.1], "x", least_span=1.0))
    assert abs(points[0][1] - points[1][1]) < (HEIGHT - 2 * EDGE) * 0.11


def test_from_zero_shows_the_size_of_the_lowest() -> None:
    [points] = lines(spark([1.0, 2.0, 2.0], "x", from_zero=True))
    assert points[0][1] == pytest.approx(HEIGHT / 2)


def test_many_values_are_put_together_and_marks_stay_at_their_place() -> None:
    drawn = spark([float(at) for at in range(366)], "x", marks=[183])
    [points] = lines(drawn)
    assert len(points) <= MOST_POINTS
    [mark] = map(float, re.findall(r"M([\d.]+) 0V", drawn))
    assert mark == pytest.approx(WIDTH / 2, abs=1.0)


def test_words_are_escaped() -> None:
    drawn = spark([1.0, 2.0, 1.0], '<a">')
    assert '<a"' not in drawn and "&lt;a" in drawn
