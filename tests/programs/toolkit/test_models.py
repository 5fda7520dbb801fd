"""Design matrices: their terms, whole or picked, and rows in blocks of even size.

Estimates of many blocks against the truth: right ones pass for many draws, wrong ones do not.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from mawl.base.errors import WrongAnswerError
from mawl.plan.columns import Code, Column, Factor, InputTable, Product, Uniform
from mawl.programs.datagen.parts import schema
from mawl.programs.datagen.values import column_values
from mawl.programs.stepwise_selection import Stepwise
from mawl.programs.tables import arrow
from mawl.programs.toolkit.estimates import check_coefficients
from mawl.programs.toolkit.models import (
    Design,
    NewtonProducts,
    RecombinedFit,
    chances,
    check_estimates,
    fit,
    indicator_names,
    prepare,
)

TRUTH = np.array([1.0, 0.0, -2.0, 0.5])


def drawn(seed: int, blocks: int) -> tuple[Numbers, Numbers]:
    errors = np.broadcast_to([0.1, 0.2, 0.3, 0.05], (blocks, 4)).copy()
    return TRUTH + errors * np.random.default_rng(seed).standard_normal((blocks, 4)), errors


def check(estimates: Numbers, errors: Numbers, bias: float = 0.0) -> float:
    return check_estimates("it", estimates, errors, TRUTH, bias=bias, error_slack=0.1)


@pytest.mark.parametrize("blocks", [1, 2, 40, 3000])
def test_right_estimates_pass(blocks: int) -> None:
    for seed in range(30):
        assert check(*drawn(seed, blocks)) < 6.0


def test_one_estimate_far_off_or_no_number_is_rejected() -> None:
    for wrong in (9.0, np.nan):
        estimates, errors = drawn(1, 40)
        estimates[7, 2] = wrong
        with pytest.raises(WrongAnswerError, match=r"coefficient of it farthest .* is wrong"):
            check(estimates, errors)


def test_a_mean_that_is_off_is_rejected_and_a_bias_allowed() -> None:
    estimates, errors = drawn(1, 3000)
    estimates[:, 3] += 0.02
    with pytest.raises(WrongAnswerError, match="mean over blocks of coefficient 3"):
        check(estimates, errors)
    check(estimates, errors, bias=0.02)


@pytest.mark.parametrize("factor", [0.5, 0.7, 1.5, 2.0])
def test_standard_errors_of_the_wrong_size_are_rejected(factor: float) -> None:
    estimates, errors = drawn(1, 300)
    with pytest.raises(WrongAnswerError, match="square of distances"):
        check(estimates, factor * errors)


SIZE, KIND = Factor(Column("size", Uniform(0, 9)), 4), Column("kind", Code(("A", "B", "C")), 8)
TABLE = InputTable(name="sample", full_bytes=0, columns=(SIZE.column, KIND))


def test_measures_are_centred_and_classes_become_indicators() -> None:
    columns = [column_values(TABLE, c, seed=1, replica=0, start=0, count=50) for c in TABLE.columns]
    batch = pa.RecordBatch.from_arrays([arrow.array(column) for column in columns], schema=schema(TABLE))
    found = prepare(batch.slice(7), [SIZE], [KIND])
    assert indicator_names([KIND]) == ["kind=B", "kind=C"]
    assert found[0].tolist() == (columns[0][7:].astype(np.float64) - 4).tolist()
    kinds = columns[1][7:].tolist()
    assert found[1].tolist() == [float(kind.strip() == b"B") for kind in kinds]
    assert found[2].tolist() == [float(kind.strip() == b"C") for kind in kinds]


def test_terms_are_the_same_whole_or_picked() -> None:
    design = Design(["a", "b", "c"], [("a", "a"), ("b", "c")])
    prepared = np.arange(12.0).reshape(3, 4)
    matrix = design.fill(prepared)
    assert design.terms == ("intercept", "a", "b", "c", "a*a", "b*c")
    assert matrix[0].tolist() == [1.0] * 4
    assert matrix[4].tolist() == (prepared[0] ** 2).tolist()
    assert matrix[5].tolist() == (prepared[1] * prepared[2]).tolist()
    places = np.array([5, 0, 2])
    assert np.array_equal(design.pick(places, prepared), matrix[places])


def test_the_truth_stands_at_its_terms() -> None:
    design = Design(["size", "kind=B"], [("size", "size")])
    terms = (Product(6, (SIZE, SIZE)), Product(-2, (Factor(KIND, value="B"),)))
    assert design.truth(8, terms, 2).tolist() == [4.0, 0.0, -1.0, 3.0]


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
    model = RecombinedFit(6)
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
