"""Stepwise selection by sweeping: what it chooses, and that its figures are those of least squares."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.programs.stepwise_selection import run
from mawl.programs.stepwise_selection.run import Stepwise

Numbers = NDArray[np.float64]
ROWS = 3000


def data(seed: int = 1) -> tuple[Numbers, Numbers]:
    """Rows of an intercept and 20 candidates, some alike, and a response of three of them."""
    random = np.random.default_rng(seed)
    design = random.standard_normal((ROWS, 21)) * 10.0 ** random.integers(-3, 4, 21)
    design[:, 0] = 1.0
    design[:, 9] = design[:, 4] / design[:, 4].std() + design[:, 7] / design[:, 7].std()
    design[:, 9] += random.standard_normal(ROWS)
    truth = 5.0 + sum(0.4 * design[:, place] / design[:, place].std() for place in (4, 7, 12))
    return design, truth + random.standard_normal(ROWS)


def products(design: Numbers, response: Numbers) -> Numbers:
    rows = np.column_stack((design, response))
    return rows.T @ rows


def test_the_true_candidates_are_chosen_and_estimated_as_by_least_squares() -> None:
    design, response = data()
    given = products(design, response)
    before = given.copy()
    found = Stepwise(given, ROWS)
    found.select()
    assert found.chosen.tolist() == [4, 7, 12]
    assert np.array_equal(given, before)
    chosen = design[:, [0, 4, 7, 12]]
    expected, (squares,), _, _ = np.linalg.lstsq(chosen, response, rcond=None)
    variance = squares / (ROWS - 4)
    assert found.coefficients == pytest.approx(expected)
    assert found.squares == pytest.approx(squares)
    assert found.variance == pytest.approx(variance)
    errors = np.sqrt(np.diag(np.linalg.inv(chosen.T @ chosen)) * variance)
    assert found.errors == pytest.approx(errors)


def test_what_entered_for_others_leaves_when_they_are_in() -> None:
    design, response = data()
    found = Stepwise(products(design, response), ROWS)
    found.select()
    # Candidate 9 is the best at first; entered and left it makes two steps more than intercept and three.
    assert found.steps == 6


def test_a_candidate_that_others_make_up_never_enters() -> None:
    design, response = data()
    design[:, 5] = design[:, 4] + design[:, 7]
    found = Stepwise(products(design, response), ROWS)
    found.select()
    assert np.all(np.isfinite(found.coefficients))
    assert len({4, 5, 7} & set(found.chosen.tolist())) <= 2


def test_noise_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    design, _ = data()
    noise = np.random.default_rng(5).standard_normal(ROWS)
    found = Stepwise(products(design, noise), ROWS)
    found.select()
    assert not len(found.chosen)
    monkeypatch.setattr(run, "ENTER", 0.5)
    monkeypatch.setattr(run, "STAY", 0.4)
    easy = Stepwise(products(design, noise), ROWS)
    easy.select()
    assert len(easy.chosen) > 2


def test_without_rows_the_variance_is_one() -> None:
    design, response = data()
    found = Stepwise(products(design, response / 100.0))
    found.select()
    assert not len(found.chosen)
    found = Stepwise(products(design, response))
    found.select()
    assert found.variance == 1.0
    assert found.chosen.tolist() == [4, 7, 12]
