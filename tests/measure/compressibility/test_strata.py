"""Strata over a line that grows: one draw from each, wherever the line is cut into looks."""

from __future__ import annotations

import math
from random import Random

import pytest

from mawl.measure.compressibility.estimate import Strata


def drawn(lengths: list[float], width: float, seed: int) -> tuple[Strata, list[float]]:
    """Places of the draws on the whole line, from looks of these lengths."""
    strata = Strata(Random(seed))
    places: list[float] = []
    for length in lengths:
        start = strata.total
        for of_stratum, share in strata.over(length, lambda _: width):
            assert of_stratum == pytest.approx(width) and 0.0 <= share < 1.0
            places.append(start + share * length)
    return strata, places


@pytest.mark.parametrize("lengths", [[100.0], [0.3] * 400, [37.0, 0.001, 60.0, 3.0, 0.2]])
def test_each_stratum_has_one_draw_however_the_line_grows(lengths: list[float]) -> None:
    strata, places = drawn(lengths, 7.0, 1)
    assert strata.total == pytest.approx(math.fsum(lengths))
    assert strata.whole == int(strata.total / 7.0)
    assert [int(place / 7.0) for place in places[: strata.whole]] == list(range(strata.whole))
    assert strata.open_ratio == pytest.approx(strata.total % 7.0 / strata.total)


def test_every_place_of_a_stratum_has_the_same_chance() -> None:
    places = [drawn([10.0], 10.0, seed)[1][0] for seed in range(2000)]
    assert sum(places) / len(places) == pytest.approx(5.0, abs=0.3)
    assert sum(place < 1.0 for place in places) == pytest.approx(200, abs=60)


def test_the_width_is_asked_with_what_is_left_and_a_draw_may_come_looks_later() -> None:
    strata = Strata(Random(3))
    asked: list[float] = []

    def width(left: float) -> float:
        asked.append(left)
        return 10.0

    found = [list(strata.over(4.0, width)) for _ in range(6)]
    assert asked == [4.0, 2.0, 4.0]
    assert sum(len(draws) for draws in found) in (2, 3) and strata.whole == 2
    assert Strata(Random(1)).open_ratio == 0.0


def test_the_mean_over_strata_is_the_mean_of_the_line_without_bias() -> None:
    """A line whose first third is 1: looks and strata are cut elsewhere."""
    means = []
    for seed in range(400):
        _, places = drawn([11.0, 5.0, 13.0, 1.0], 3.0, seed)
        means.append(sum(place < 10.0 for place in places[:10]) / 10)
    assert sum(means) / len(means) == pytest.approx(1 / 3, abs=0.01)
    assert max(means) - min(means) <= 0.11, "one stratum alone can differ"
