"""The bound holds at least as often as its confidence says, whatever the data, although one stops by it.

Strata over a line that grows: one draw from each, wherever the line is cut into looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import pytest

from mawl.measure.compressibility.estimate import Rounds, Strata, interval_of_looks

SEEDS = 200
SLICES = 64
BLOCKS = 4096
FEWEST_OF_200 = 184
"""Fewer hits of 200 have a chance below 2 % where each hits with a chance of 0.95 (binomial)."""

DATA: dict[str, Callable[[float, Random], float]] = {
    "all alike": lambda _, random: 0.9,
    "all zero": lambda _, random: 1.0,
    "1 % that does not compress, in one file": lambda at, random: 0.0 if at > 0.99 else 0.9,
    "1 % that does, everywhere": lambda _, random: float(random.random() < 0.01),
    "two kinds, in two files": lambda at, random: float(at > 0.53),
    "two kinds, mixed": lambda _, random: float(random.random() < 0.5),
    "two kinds, mixed in one half only": lambda at, random: 0.8 if at < 0.5 else float(random.random() < 0.5),
    "of all sorts": lambda _, random: random.random(),
}


def sampled(values: list[float], seed: int, confidence: float = 0.95) -> Rounds:
    """Rounds of draws from values in slices, until the bound is 2 points."""
    random, bound = Random(seed), Rounds(confidence, 0.02)
    size = len(values) // SLICES
    while not bound.done:
        bound.add({number: values[number * size + random.randrange(size)] for number in range(SLICES)})
    return bound


@pytest.mark.parametrize("name", DATA)
def test_the_bound_is_honoured_in_200_seeds(name: str) -> None:
    made = Random(name)
    values = [DATA[name](place / BLOCKS, made) for place in range(BLOCKS)]
    truth = math.fsum(values) / BLOCKS
    found = [sampled(values, seed) for seed in range(SEEDS)]
    assert sum(abs(bound.centre - truth) <= bound.half_width for bound in found) >= FEWEST_OF_200
    assert all(bound.half_width <= 0.02 for bound in found)
    errors = [bound.centre - truth for bound in found]
    assert abs(math.fsum(errors) / SEEDS) < 0.003, "no bias that would matter beside 2 points"


def test_clustered_data_take_a_fraction_of_the_draws() -> None:
    mixed = sampled([float(Random(place).random() < 0.5) for place in range(BLOCKS)], 1)
    clustered = sampled([float(place > BLOCKS // 2) for place in range(BLOCKS)], 1)
    assert clustered.draws * 5 < mixed.draws


def test_more_confidence_takes_more_draws() -> None:
    values = [Random(place).random() for place in range(BLOCKS)]
    assert sampled(values, 1, 0.99).draws > sampled(values, 1, 0.95).draws


LOOKS = 40


def parts_at_looks(name: str) -> list[list[float]]:
    """What lies there at each look: a part of the data from a place of its own, of any length."""
    made = Random(name)
    values = [DATA[name](place / BLOCKS, made) for place in range(BLOCKS)]
    spans = [(made.randrange(BLOCKS - 64), made.expovariate(1.0)) for _ in range(LOOKS)]
    return [values[start : start + max(int(weight * 1000), 16)] for start, weight in spans]


def looked(parts: list[list[float]], draws: int, uneven: float, seed: int) -> list[tuple[float, list[float]]]:
    """Looks: weights, and ``draws`` in sum that weigh alike, or by ``uneven`` more than each other."""
    random, whole = Random(seed), sum(len(part) for part in parts)
    looks = []
    for number, part in enumerate(parts):
        count = max(round(draws * len(part) / whole / (1.0 + uneven * (number % 3))), 1)
        looks.append((float(len(part)), random.choices(part, k=count)))
    return looks


@pytest.mark.parametrize("uneven", [0.0, 2.0])
@pytest.mark.parametrize("name", DATA)
def test_the_interval_of_looks_is_honoured_in_200_seeds(name: str, uneven: float) -> None:
    parts = parts_at_looks(name)
    truth = math.fsum(map(math.fsum, parts)) / sum(len(part) for part in parts)
    hits, errors = 0, []
    for seed in range(SEEDS):
        found = interval_of_looks(looked(parts, 300, uneven, seed), 0.95)
        assert found is not None
        hits += abs(found[0] - truth) <= found[1]
        errors.append(found[0] - truth)
    assert hits >= FEWEST_OF_200
    assert abs(math.fsum(errors) / SEEDS) < 0.01


@pytest.mark.parametrize("name", DATA)
def test_a_thousand_even_draws_are_within_five_points_whatever_the_data(name: str) -> None:
    found = interval_of_looks(looked(parts_at_looks(name), 1000, 0.0, 1), 0.95)
    assert found is not None and found[1] <= 0.051


def test_one_look_that_outweighs_the_rest_is_as_sure_as_its_own_draws() -> None:
    many = [(1.0, [0.9] * 20)] * 50
    found = interval_of_looks([*many, (1000.0, [0.0, 1.0])], 0.95)
    assert found is not None and found[1] >= 0.5


def test_no_draw_no_interval() -> None:
    assert interval_of_looks([], 0.95) is None
    assert interval_of_looks([(0.0, [0.5]), (10.0, [])], 0.95) is None


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
