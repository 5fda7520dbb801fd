"""Intervals and decisions: against SciPy, by their symmetries, and by how often they err.

Student's t against SciPy.

Change points: found when they are there, and not by one bad night.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from mawl.figures.statistics import (
    FEWEST_AFTER,
    FEWEST_BEFORE,
    FEWEST_RUNS,
    LEVEL,
    POWER,
    ChangeFound,
    change_points,
    effect_of,
    holm,
    quantile,
    runs_needed,
    smallest_effect,
    two_sided,
    upper_tail,
)
from tests.fakes.compared_runs import NOISE

DEGREES = (1.0, 1.7, 4.0, 8.0, 33.3, 1000.0)


@pytest.mark.parametrize("degrees", DEGREES)
def test_tails_are_those_of_scipy(degrees: float) -> None:
    for t in (-7.0, -0.3, 0.0, 0.01, 1.0, 2.306, 9.0, 60.0):
        assert upper_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-9, abs=1e-14)
        assert two_sided(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantiles_are_those_of_scipy(degrees: float) -> None:
    for probability in (0.00125, 0.1, 0.5, 0.8, 0.975, 0.99875):
        expected = stats.t.ppf(probability, degrees)
        assert quantile(probability, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_beyond_everything() -> None:
    assert (upper_tail(math.inf, 4.0), upper_tail(-math.inf, 4.0)) == (0.0, 1.0)


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


DRAWS = 2000
TENTH = math.log(1.1)

values = st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=8)


def bound(rate: float) -> float:
    """Three binomial standard deviations of a rate over the draws."""
    return 3.0 * math.sqrt(rate * (1.0 - rate) / DRAWS)


def draws(shift: float, runs: int, noise: float = NOISE) -> Iterator[tuple[list[float], list[float]]]:
    """Two sides of runs, the candidate later by ``shift``, over and over."""
    generator = np.random.default_rng(7)
    for _ in range(DRAWS):
        before, after = generator.normal(0.0, noise, (2, runs))
        yield before.tolist(), (after + shift).tolist()


def found(shift: float, runs: int) -> float:
    """The share of draws that are called different."""
    return sum(effect_of(*sides).differs for sides in draws(shift, runs)) / DRAWS


@pytest.mark.parametrize("runs", [5, 12])
def test_alike_sides_are_called_different_in_one_of_twenty(runs: int) -> None:
    assert found(0.0, runs) == pytest.approx(LEVEL, abs=bound(LEVEL))


def test_the_smallest_effect_of_five_runs_is_found_as_often_as_stated() -> None:
    rate = found(smallest_effect(NOISE, FEWEST_RUNS), FEWEST_RUNS)
    assert rate == pytest.approx(POWER, abs=bound(POWER))


def test_a_tenth_more_is_found_as_often_as_stated_with_the_runs_that_it_takes() -> None:
    spread = [-NOISE, 0.0, NOISE]
    runs = runs_needed(spread, spread, TENTH)
    assert runs == 40
    assert found(TENTH, runs) == pytest.approx(POWER, abs=bound(POWER))


def test_the_printed_smallest_effect_is_true_of_typical_sides() -> None:
    printed = [effect_of(*sides).smallest for sides in draws(0.0, FEWEST_RUNS)]
    assert np.median(printed) == pytest.approx(smallest_effect(NOISE, FEWEST_RUNS), rel=0.05)


def test_of_twenty_programs_alike_hardly_any_family_names_one() -> None:
    generator = np.random.default_rng(11)
    wrong = 0
    for _ in range(DRAWS // 10):
        # Programs of one run share its luck.
        runs = generator.normal(0.0, NOISE, (2, 5, 1)) + generator.normal(0.0, NOISE, (2, 5, 20))
        effects = [effect_of(runs[0, :, at].tolist(), runs[1, :, at].tolist()) for at in range(20)]
        wrong += any(holm([effect.p_value for effect in effects]))
    assert wrong <= DRAWS / 10 * LEVEL + 3 * math.sqrt(DRAWS / 10 * LEVEL)


@given(values, values)
def test_against_scipy(before: list[float], after: list[float]) -> None:
    assume(min(np.std(before), np.std(after)) > 1e-3)
    effect = effect_of(before, after)
    expected = stats.ttest_ind(after, before, equal_var=False)
    assert effect.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
    interval = expected.confidence_interval(0.95)
    assert (effect.low, effect.high) == pytest.approx((interval.low, interval.high), rel=1e-6, abs=1e-9)


def test_the_standard_error_is_that_of_the_bootstrap() -> None:
    generator = np.random.default_rng(3)
    before, after = generator.normal(0.0, 1.0, 9), generator.normal(0.5, 2.0, 9)
    drawn = stats.bootstrap(
        (before, after),
        lambda one, other, axis: np.mean(other, axis) - np.mean(one, axis),
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(5),
    )
    effect = effect_of(before.tolist(), after.tolist())
    welch = stats.ttest_ind(after, before, equal_var=False)
    error = (effect.high - effect.difference) / stats.t.ppf(0.975, welch.df)
    assert error * math.sqrt(8 / 9) == pytest.approx(drawn.standard_error, rel=0.03)


@given(values, values)
def test_sides_exchanged_give_the_opposite(before: list[float], after: list[float]) -> None:
    one, other = effect_of(before, after), effect_of(after, before)
    assert one.difference == -other.difference
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert (one.p_value, one.smallest) == pytest.approx((other.p_value, other.smallest))


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(before: list[float], random: object) -> None:
    after = [value + 1.0 for value in before]
    mixed = list(after)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert effect_of(before, mixed).p_value == pytest.approx(effect_of(before, after).p_value)


@given(values)
def test_a_side_against_itself_is_no_difference(side: list[float]) -> None:
    effect = effect_of(side, side)
    assert effect.difference == 0.0
    assert not effect.differs
    assert effect.low <= 0.0 <= effect.high


def test_runs_without_a_spread_are_told_apart_by_what_they_are() -> None:
    assert not effect_of([1.0] * 5, [1.0] * 5).differs
    apart = effect_of([1.0] * 5, [2.0] * 5)
    assert (apart.differs, apart.low, apart.high, apart.smallest) == (True, 1.0, 1.0, 0.0)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == [True, False, False]
    assert holm([0.01, 0.02, 0.03]) == [True, True, True]
    assert holm([0.0126, 0.5, 0.5, 0.5]) == [False] * 4
    assert holm([]) == []


def test_noise_that_hides_everything_takes_more_runs_than_anybody_makes() -> None:
    assert runs_needed([0.0, 3.0], [0.0, 3.0], TENTH) is None
    assert runs_needed([0.0, 1e-6], [0.0, 1e-6], TENTH) == FEWEST_RUNS


def test_no_change_is_claimed_of_a_change_as_large_as_the_margin_in_one_of_twenty_at_most() -> None:
    """Two one-sided tests: the level holds at both ends of the margin."""
    margin = math.log(1.05)
    for shift in (margin, -margin):
        rate = sum(effect_of(*sides).within(margin) for sides in draws(shift, 5, noise=0.01)) / DRAWS
        assert rate == pytest.approx(LEVEL, abs=bound(LEVEL))
    alike = sum(effect_of(*sides).within(margin) for sides in draws(0.0, 5, noise=0.01)) / DRAWS
    assert alike > 0.99
    noisy = sum(effect_of(*sides).within(margin) for sides in draws(0.0, 5, noise=0.15)) / DRAWS
    assert noisy < 0.01


def test_the_narrow_interval_is_the_two_one_sided_tests_of_scipy() -> None:
    before, after = [0.01, -0.02, 0.005, 0.0, 0.013], [0.02, 0.01, -0.01, 0.03, 0.006]
    effect = effect_of(before, after)
    for margin in (0.01, 0.02, 0.03, 0.05):
        lower = stats.ttest_ind(np.add(after, margin), before, equal_var=False, alternative="greater").pvalue
        upper = stats.ttest_ind(
            np.subtract(after, margin), before, equal_var=False, alternative="less"
        ).pvalue
        assert effect.within(margin) is bool(max(lower, upper) < LEVEL)
