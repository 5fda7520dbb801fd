"""Least squares from normal equations that were added up in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.toolkit.regression import LeastSquares

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
