"""Analysis of variance from sums by cell, as statsmodels has it from all rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import studentized_range, tukey_hsd
from statsmodels.regression.linear_model import OLS

from mawl.programs.factorial_design.analysis import (
    CELL_LEVELS,
    CELLS,
    DESIGN,
    PAIRS,
    PLACES,
    analyse,
    critical_range,
)


def study(effect: float, rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    cells = random.integers(0, CELLS, rows)
    levels = CELL_LEVELS[cells]
    response = 50.0 + effect * levels[:, 1] + effect * (levels[:, 0] - 1) * (levels[:, 2] - 1)
    return cells, np.round(response + random.normal(0.0, 2.0, rows))


def test_sums_by_cell_give_what_all_rows_give() -> None:
    cells, response = study(2.0)
    counts = np.bincount(cells, minlength=CELLS).astype(np.float64)
    sums = np.bincount(cells, response, CELLS).astype(np.float64)
    found = analyse(counts, sums, float(response @ response))
    fitted = OLS(response, DESIGN[cells]).fit()
    assert found.parameters == pytest.approx(fitted.params)
    within = sum(
        np.square(response[cells == cell] - response[cells == cell].mean()).sum() for cell in set(cells)
    )
    assert found.variance == pytest.approx(within / (len(cells) - len(set(cells))))
    assert found.errors == pytest.approx(fitted.bse * np.sqrt(found.variance / fitted.scale))
    # The second factor and the pair of the first and the third.
    assert np.flatnonzero(found.found).tolist() == [1, 5]
    assert found.differing.tolist() == [[False] * 3, [True] * 3, [False] * 3, [False] * 3]


def test_an_empty_cell_is_left_out() -> None:
    cells, response = study(3.0)
    kept = cells != 40
    cells, response = cells[kept], response[kept]
    counts = np.bincount(cells, minlength=CELLS).astype(np.float64)
    found = analyse(
        counts, np.bincount(cells, response, CELLS).astype(np.float64), float(response @ response)
    )
    assert found.parameters == pytest.approx(OLS(response, DESIGN[cells]).fit().params)


def test_the_limit_is_the_studentised_range() -> None:
    assert critical_range(900) == pytest.approx(studentized_range.ppf(0.95, 3, 900), rel=1e-3)


def test_comparisons_of_a_balanced_factor_are_tukeys() -> None:
    random = np.random.default_rng(8)
    cells = np.repeat(np.arange(CELLS), 12)
    response = random.normal(0.0, 1.0, len(cells)) + np.array([0.0, 0.22, 0.5])[CELL_LEVELS[cells][:, 0]]
    sums, squares = np.bincount(cells, response, CELLS).astype(np.float64), float(response @ response)
    found = analyse(np.full(CELLS, 12.0), sums, squares)
    peer = tukey_hsd(*[response[CELL_LEVELS[cells][:, 0] == level] for level in range(3)])
    assert found.differing[0].tolist() == [bool(peer.pvalue[pair] < 0.05) for pair in PAIRS]


def test_the_model_has_thirty_three_parameters_of_ten_terms() -> None:
    assert DESIGN.shape == (81, 33)
    assert [place.stop - place.start for place in PLACES] == [2] * 4 + [4] * 6
    assert np.linalg.matrix_rank(DESIGN) == 33
