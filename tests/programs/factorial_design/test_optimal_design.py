"""D-optimal designs: known optima are found, updates are exact, the bound holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mawl.programs.factorial_design.optimal_design import Candidates, _ratios, _updated, model_terms

CORNERS = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
NONE = np.zeros(3, np.bool_)


def candidates(squares: bool = False, pairs: bool = False) -> Candidates:
    return Candidates(CORNERS, model_terms(CORNERS, np.full(3, squares), np.full(3, pairs)))


@pytest.mark.parametrize("pairs", [False, True])
def test_eight_runs_of_a_model_without_squares_are_the_corners(pairs: bool) -> None:
    model = candidates(pairs=pairs)
    design, value = model.search(8, 10, np.random.default_rng(1))
    terms = model.terms.shape[1]
    assert value == pytest.approx(terms * np.log(8))
    assert np.abs(CORNERS[design]).min() == 1.0
    assert model.best_swap(design) <= 1.0 + 1e-6
    # An orthogonal design is the best of all: its mean information has determinant one.
    assert model.bound() == pytest.approx(0.0, abs=0.02)
    assert model.bound() >= -1e-9


def test_the_bound_is_above_every_design() -> None:
    model = candidates(squares=True, pairs=True)
    random = np.random.default_rng(2)
    bound, terms = model.bound(), model.terms.shape[1]
    _, value = model.search(14, 5, random)
    assert 0.9 < np.exp((value - terms * np.log(14) - bound) / terms) <= 1.0
    for _ in range(50):
        assert model.log_determinant(random.integers(0, 27, 14)) - terms * np.log(14) < bound


def test_ratios_and_updates_are_those_of_determinants() -> None:
    model = candidates(squares=True)
    design = np.arange(0, 26, 2)
    rows = model.terms[design]
    inverse = np.linalg.inv(rows.T @ rows).astype(np.float64)
    others = model.neighbours[design[4]]
    ratios = _ratios(inverse, rows[4], model.terms[others])
    for ratio, other in zip(ratios, others, strict=True):
        swapped = design.copy()
        swapped[4] = other
        assert ratio == pytest.approx(np.exp(model.log_determinant(swapped) - model.log_determinant(design)))
    added = _updated(inverse, model.terms[1], 1.0)
    assert _updated(added, model.terms[1], -1.0) == pytest.approx(inverse)


def test_neighbours_differ_in_one_coordinate_and_are_allowed() -> None:
    allowed = CORNERS[CORNERS.sum(axis=1) <= 0]
    model = Candidates(allowed, model_terms(allowed, NONE, NONE))
    for place, others in enumerate(model.neighbours):
        assert ((allowed[others] != allowed[place]).sum(axis=1) == 1).all()


def test_runs_that_cannot_tell_terms_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="tells 10 terms apart"):
        candidates(squares=True, pairs=True).search(9, 1, np.random.default_rng(1))
