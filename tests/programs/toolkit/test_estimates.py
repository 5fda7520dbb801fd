"""Least squares from normal equations that were added up in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mawl.base.errors import WrongAnswerError
from mawl.programs.toolkit.estimates import LeastSquares, ScoreBins, check_calibration

TRUTH = np.array([5.0, -3.0, 0.5])


def fitted(seed: int = 1, rows: int = 2000) -> tuple[LeastSquares, np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    design = np.column_stack([np.ones(rows), chance.normal(size=rows), chance.integers(0, 1000, rows)])
    response = design @ TRUTH + chance.normal(size=rows)
    fit = LeastSquares(3)
    for start in range(0, rows, 333):
        fit.add(design[start : start + 333], response[start : start + 333])
    fit.solve()
    for start in range(0, rows, 500):
        fit.add_residuals(design[start : start + 500], response[start : start + 500])
    return fit, design, response


def test_coefficients_are_those_of_least_squares() -> None:
    fit, design, response = fitted()
    expected, squares, _, _ = np.linalg.lstsq(design, response)
    assert fit.coefficients == pytest.approx(expected, rel=1e-9)
    assert fit.variance == pytest.approx(float(squares[0]) / (len(response) - 3), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_the_truth_is_near(seed: int) -> None:
    assert fitted(seed)[0].check("the fit", TRUTH) < 6


@pytest.mark.parametrize("place", range(3))
def test_a_coefficient_far_from_the_truth_is_seen(place: int) -> None:
    fit = fitted()[0]
    fit.coefficients[place] += 1.0
    with pytest.raises(WrongAnswerError, match="farthest from the truth"):
        fit.check("the fit", TRUTH)


def test_a_coefficient_that_is_no_number_is_seen_and_an_unknown_truth_is_not_asked() -> None:
    fit = fitted()[0]
    fit.coefficients[0] = np.nan
    with pytest.raises(WrongAnswerError):
        fit.check("the fit", TRUTH)
    fit.check("the fit", np.array([np.nan, -3.0, 0.5]))


def test_residuals_of_other_rows_are_seen() -> None:
    fit, design, response = fitted()
    fit.add_residuals(design[:1], response[:1])
    with pytest.raises(WrongAnswerError, match="number of residuals"):
        fit.check("the fit", TRUTH)


def test_area_and_accuracy_are_those_of_their_definitions() -> None:
    chance = np.random.default_rng(1)
    scores = chance.random(5000)
    happened = chance.random(5000) < scores
    ranking = ScoreBins()
    for start in range(0, 5000, 700):
        ranking.add(scores[start : start + 700], happened[start : start + 700])
    assert ranking.rows == 5000
    assert ranking.area() == pytest.approx(roc_auc_score(happened, scores), abs=1e-4)
    assert ranking.accuracy() == pytest.approx(((scores >= 0.5) == happened).mean())


def test_parts_are_of_equal_size_and_known_by_their_scores() -> None:
    chance = np.random.default_rng(2)
    scores = chance.random(10_000) ** 2
    happened = chance.random(10_000) < scores
    ranking = ScoreBins()
    ranking.add(scores, happened)
    sizes, observed, foretold = ranking.by_part(10)
    assert sizes == pytest.approx(np.full(10, 1000), abs=60)
    assert (int(sizes.sum()), int(observed.sum())) == (10_000, int(happened.sum()))
    in_order = np.argsort(scores)
    for part in np.split(np.arange(10_000), np.cumsum(sizes)[:-1]):
        number = int(np.searchsorted(np.cumsum(sizes), part[0], side="right"))
        assert foretold[number] == pytest.approx(scores[in_order[part]].mean(), abs=2e-4)
        # Rows of a bin are not in the order of their scores, but parts end where bins do.
        assert observed[number] == happened[in_order[part]].sum()


def test_equal_scores_rank_nothing_and_the_ends_of_the_range_count() -> None:
    ranking = ScoreBins()
    ranking.add(np.array([0.0, 0.0, 1.0, 1.0]), np.array([False, True, False, True]))
    assert ranking.area() == 0.5
    assert ScoreBins().area() == 0.0


def test_what_does_not_happen_as_foretold_is_rejected() -> None:
    chance = np.random.default_rng(3)
    scores = chance.random(20_000)
    foretold, squared = ScoreBins(), ScoreBins()
    foretold.add(scores, chance.random(20_000) < scores)
    squared.add(scores, chance.random(20_000) < scores**2)
    check_calibration("rains", foretold, parts=10, slack=0.0, deviations=5.0)
    with pytest.raises(WrongAnswerError, match="the share of rains"):
        check_calibration("rains", squared, parts=10, slack=0.0, deviations=5.0)
