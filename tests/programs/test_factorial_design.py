"""factorial_design rejects wrong answers that are planted in its tests, its designs and its passes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import studentized_range, tukey_hsd
from statsmodels.regression.linear_model import OLS, WLS

from mawl.programs import factorial_analysis as factorial
from mawl.programs import factorial_design
from mawl.programs.declarations.factorial_design import FACTORS
from mawl.programs.factorial_analysis import (
    CELL_LEVELS,
    CELLS,
    DESIGN,
    PAIRS,
    PLACES,
    Candidates,
    _ratios,
    _updated,
    analyse,
    critical_range,
    model_terms,
)
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result

Array = NDArray[Any]


SCALE = 0.0003


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorial_design, "_STARTS", 2)


def _scaled(factor: float) -> Callable[[Any], Any]:
    """Fits with another error variance."""

    def wrong(fit: Any) -> Any:
        def run(self: Any, **options: Any) -> Any:
            return fit(self, **{**options, "cov_kwds": {"scale": options["cov_kwds"]["scale"] * factor}})

        return run

    return wrong


def _without_effects(write: Any) -> Any:
    """A writer of effects that loses the first study of each batch."""
    return lambda self, batch: write(self, batch.slice(1) if "yield_found" in batch.schema.names else batch)


def _next_study(rows: Array, schema: Any) -> tuple[Array, Any]:
    return np.column_stack([rows[:, :1], np.roll(rows[:, 1:], 1, axis=0)]), schema


def _next_term(design: Array) -> Array:
    return np.column_stack([np.ones(len(design)), np.roll(design[:, 1:], 1, axis=1)])


FAULTS = {
    "factors are in another order": Fault(factorial_design, "FACTORS", instead(FACTORS[::-1]), "is wrong"),
    "tests find nothing": Fault(factorial, "SIGNIFICANCE", instead(0.0), "number of terms found"),
    "tests find anything": Fault(factorial, "SIGNIFICANCE", instead(0.5), "found that are not there"),
    "no levels differ": Fault(
        factorial, "critical_range", instead(lambda freedom: 50.0), "number of clear differences"
    ),
    "all levels differ": Fault(
        factorial, "critical_range", instead(lambda freedom: 0.3), "compared that have no effect"
    ),
    "errors are too small": Fault(WLS, "fit", _scaled(0.8), "square of standard errors"),
    "errors are too large": Fault(WLS, "fit", _scaled(1.3), "square of standard errors"),
    "cells are not weighted": Fault(
        factorial,
        "WLS",
        instead(lambda means, design, weights: WLS(means, design, weights=np.ones_like(weights))),
        "is wrong",
    ),
    "designs are not improved": Fault(
        Candidates, "_exchange", instead(lambda self, design: design), "best swap left"
    ),
    "determinants are of other designs": Fault(
        Candidates, "search", result(lambda found: (found[0], found[1] + 0.1)), "log determinant"
    ),
    "designs are one run": Fault(
        Candidates, "search", result(lambda found: (np.zeros_like(found[0]), found[1])), "log determinant"
    ),
    "designs lack a run": Fault(
        Candidates, "search", result(lambda found: (found[0][1:], found[1])), "number of next runs"
    ),
    "effects are the next study's": Fault(
        factorial_design, "as_batch", given(_next_study), "variance of the residuals"
    ),
    "studies have no effects": Fault(
        TableWriter, "write", _without_effects, "number of studies with effects"
    ),
    "a study has no next runs": Fault(
        factorial_design._FactorialDesign,
        "_effect_rows",
        result(lambda rows: iter(list(rows)[:-1])),
        "number of studies with next runs",
    ),
    "responses are the next run's": Fault(
        factorial_design,
        "_analyse_studies",
        given(lambda cell, response: (cell, np.roll(response, 1))),
        "number of terms found",
    ),
    "parameters are of the next term": Fault(factorial, "DESIGN", _next_term, "is wrong"),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


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
