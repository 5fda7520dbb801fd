"""Logistic models in blocks and by Newton steps agree with one fit to all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.base.errors import WrongAnswerError
from mawl.programs.stepwise_selection import Stepwise
from mawl.programs.toolkit.models import NewtonProducts, Recombined, chances, check_coefficients, fit

Numbers = NDArray[np.float64]
ROWS = 12_000


@pytest.fixture(scope="module")
def rows() -> tuple[Numbers, Numbers]:
    random = np.random.default_rng(3)
    design = random.standard_normal((ROWS, 6))
    design[:, 0] = 1.0
    outcome = random.random(ROWS) < chances(design @ np.array([-0.5, 0.8, 0.0, -0.6, 0.4, 0.0]))
    return design, outcome.astype(np.float64)


def test_a_newton_step_from_near_by_gives_the_fit(rows: tuple[Numbers, Numbers]) -> None:
    design, outcome = rows
    _, expected, covariance = fit(design, outcome)
    newton = NewtonProducts(expected[[0, 1, 3]] * 0.97, np.array([0, 1, 3]), 6)
    for some in np.array_split(np.arange(ROWS), 7):
        newton.add(newton.of(np.ascontiguousarray(design[some].T), outcome[some]), len(some))
    assert newton.rows == ROWS
    whole = np.linalg.solve(newton.products[:-1, :-1], newton.products[:-1, -1])
    assert whole == pytest.approx(expected, abs=0.06)
    again = NewtonProducts(expected, np.arange(6), 6)
    again.add(again.of(design.T, outcome), ROWS)
    selection = Stepwise(again.products)
    selection.select()
    assert selection.chosen.tolist() == [1, 3, 4]
    errors = np.sqrt(np.diag(covariance))[[0, 1, 3, 4]]
    assert selection.errors == pytest.approx(errors, rel=0.01)


def test_blocks_put_together_are_near_one_fit(rows: tuple[Numbers, Numbers]) -> None:
    design, outcome = rows
    _, expected, covariance = fit(design, outcome)
    model = Recombined(6)
    for some in np.array_split(np.arange(ROWS), 4):
        model.add(fit(design[some], outcome[some]))
    assert (model.rows, model.blocks) == (ROWS, 4)
    assert model.coefficients == pytest.approx(expected, abs=0.01)
    assert np.diag(np.linalg.inv(model.information)) == pytest.approx(np.diag(covariance), rel=0.01)


def test_weights_count_rows(rows: tuple[Numbers, Numbers]) -> None:
    design, outcome = rows
    weights = np.tile([1.0, 2.0], ROWS // 2)
    twice = np.repeat(np.arange(ROWS), weights.astype(np.int64))
    weighted = fit(design, outcome, weights).coefficients
    repeated = fit(design[twice], outcome[twice]).coefficients
    assert weighted == pytest.approx(repeated, rel=1e-5)


def test_coefficients_far_from_the_truth_or_no_numbers_are_rejected() -> None:
    errors = np.full(3, 0.1)
    truth = np.array([0.0, 1.0, 2.0])
    assert check_coefficients("x", truth + 0.2, truth, errors, 6.0) == pytest.approx(2.0)
    for wrong in (truth + 0.7, truth * np.nan):
        with pytest.raises(WrongAnswerError, match="coefficient of x farthest from the truth"):
            check_coefficients("x", wrong, truth, errors, 6.0)
