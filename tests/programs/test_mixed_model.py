"""The model of one product line: figures by theory against simulation, and the fit against both."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.programs.declarations.mixed_model import COEFFICIENTS, RESPONSE, VARYING, WEEKS
from mawl.programs.mixed_model import (
    RANDOM_DESIGN,
    TERMS,
    LineModel,
    design,
    expected,
    leftover,
    true_errors,
)

STORES = 48
COVARIANCE = np.array([[100.0, 37.5], [37.5, 158.0625]])
NOISE = RESPONSE.noise**2


def line(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Terms, hidden effects and sales of one line."""
    generator = np.random.default_rng(seed)
    block = {column.name: generator.integers(0, 30, STORES * WEEKS).astype(float) for column in VARYING}
    block |= {"week": np.tile(np.arange(float(WEEKS)), STORES), "sales": np.zeros(STORES * WEEKS)}
    effects = generator.multivariate_normal([0.0, 0.0], COVARIANCE, STORES)
    terms = design(block)
    sales = expected(terms, np.array(COEFFICIENTS, np.float64), effects)
    return terms, effects, sales + generator.normal(0.0, RESPONSE.noise, len(sales))


def test_terms_are_a_one_time_and_what_varies() -> None:
    block = {column.name: np.full(WEEKS, float(place)) for place, column in enumerate(VARYING)}
    terms = design({"week": np.arange(float(WEEKS)), "sales": np.zeros(WEEKS), **block})
    assert terms.shape == (WEEKS, TERMS)
    assert terms[0].tolist() == [1.0, -(WEEKS - 1) / WEEKS, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.array_equal(terms[:, :2], RANDOM_DESIGN)


def test_expected_sales_add_each_stores_level_and_trend() -> None:
    terms = np.zeros((2 * WEEKS, TERMS))
    found = expected(terms, np.zeros(TERMS), np.array([[1.0, 0.0], [0.0, 2.0]]))
    assert found[:WEEKS].tolist() == [1.0] * WEEKS
    assert found[WEEKS:].tolist() == (2.0 * RANDOM_DESIGN[:, 1]).tolist()


def test_a_fit_recovers_what_was_hidden_with_the_errors_of_theory() -> None:
    terms, effects, sales = line(3)
    model = LineModel(sales, terms)
    errors = true_errors(terms)
    assert np.abs((model.coefficients - COEFFICIENTS) / errors).max() < 4.0
    assert model.errors[2:] == pytest.approx(errors[2:], rel=0.1)
    assert model.errors[:2] == pytest.approx(errors[:2], rel=0.4)
    assert model.noise == pytest.approx(NOISE, rel=0.1)
    assert model.covariance == pytest.approx(np.cov(effects.T), rel=0.5)
    missed = model.effects - effects + (effects.mean(axis=0) - model.effects.mean(axis=0))
    assert np.square(missed).mean(axis=0) == pytest.approx(np.diag(leftover(COVARIANCE, NOISE)), rel=0.8)


def test_what_is_left_is_less_than_measured_and_less_than_hidden() -> None:
    left = leftover(COVARIANCE, NOISE)
    measured = NOISE * np.linalg.inv(RANDOM_DESIGN.T @ RANDOM_DESIGN)
    assert (np.diag(left) < np.diag(measured)).all()
    assert leftover(1e9 * COVARIANCE, NOISE) == pytest.approx(measured, rel=1e-3, abs=1e-3)
    assert leftover(COVARIANCE, 1e12) == pytest.approx(COVARIANCE, rel=1e-3)
