"""stepwise_selection rejects wrong answers that are planted in its models and its passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.programs import stepwise_selection
from mawl.programs import stepwise_selection as run
from mawl.programs.stepwise_selection import Stepwise
from mawl.programs.stepwise_selection import _StepwiseSelection as Selection
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit import models
from mawl.programs.toolkit.models import Design, NewtonProducts, RecombinedFit
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault

SCALE = 0.00006


def _of_the_next_row(prepare: Any) -> Any:
    return lambda *arguments: np.roll(prepare(*arguments), 1, axis=1)


def _other_level(levels: Any) -> Any:
    return lambda column: (*levels(column)[1:], levels(column)[0])


def _not_centred(measures: Any) -> Any:
    return tuple(msgspec.structs.replace(measure, less=0) for measure in measures)


def _other_defects(split: Any) -> Any:
    def confused(columns: Any) -> Any:
        responses, terms = split(columns)
        return responses[[0, 2, 3, 1]], terms

    return confused


def _without_a_row(add: Any) -> Any:
    return lambda self, products, rows: add(self, products, rows - 1)


def _next_rows(pick: Any) -> Any:
    return lambda self, places, terms: np.roll(pick(self, places, terms), 1, axis=1)


def _times(factor: float) -> Callable[[Any], Any]:
    return lambda figures: property(lambda self: factor * figures.fget(self))


def _eager(select: Any) -> Any:
    def selected(self: Stepwise) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "ENTER", 4.0)
            patch.setattr(run, "STAY", 3.5)
            select(self)

    return selected


FAULTS = {
    "measures of the next case": Fault(
        stepwise_selection, "prepare", _of_the_next_row, "selection for yield"
    ),
    "indicators of other values": Fault(models, "class_levels", _other_level, "no machine=M3"),
    "measures are not centred": Fault(stepwise_selection, "MEASURES", _not_centred, "selection for"),
    "nothing enters": Fault(run, "ENTER", lambda _: 1e9, "expected every true term"),
    "noise enters": Fault(Stepwise, "select", _eager, "besides"),
    "defects are confused": Fault(stepwise_selection, "_split", _other_defects, "selection for defect_1"),
    "coefficients too large": Fault(Stepwise, "coefficients", _times(1.3), "residuals of yield"),
    "errors too small": Fault(Stepwise, "errors", _times(0.05), "the coefficient of yield"),
    "errors of rows too few": Fault(Stepwise, "variance", _times(1.4), "variance of the residuals of yield"),
    "refits of the opposite": Fault(RecombinedFit, "coefficients", _times(-1.0), "refitted,"),
    "a case is not weighed": Fault(
        NewtonProducts, "add", _without_a_row, "cases in the weighted cross-products"
    ),
    "refits of the next case": Fault(Design, "pick", _next_rows, "sum of squared residuals"),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "prepared table"),
    "rows are not refitted": Fault(Selection, "_columns", lambda columns: _lost(columns), "is wrong"),
}


def _lost(columns: Any) -> Any:
    def some(self: Any) -> Any:
        for batch in columns(self):
            yield batch[:, ::2]

    return some


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
