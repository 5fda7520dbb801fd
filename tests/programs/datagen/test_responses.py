"""Responses follow the models that their declarations say.

Outcomes come as often as the hidden rules say.

Series: kinds with their shares, forecasts that nothing known can improve.

Responses of experiments: effects as often as declared, cells with the means that they give.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.plan.columns import (
    LOGIT_UNIT,
    Code,
    Column,
    Condition,
    Factor,
    HiddenRule,
    InputTable,
    Linear,
    Logistic,
    MonthlySeries,
    Outcome,
    Product,
    Response,
    SeriesKind,
    Uniform,
)
from mawl.programs.datagen.hashing import key
from mawl.programs.datagen.responses import (
    linear_predictor,
    logistic_chances,
    outcome_columns,
    term_columns,
    true_active,
    true_chances,
    true_forecasts,
    true_kinds,
    true_means,
)
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.factorial_design import FACTORS, RESPONSES, STUDY_ROWS
from mawl.programs.declarations.factorial_design import TABLE as FACTORIAL_DESIGN_TABLE
from mawl.programs.declarations.forecasting import MONTHS, SERIES
from mawl.programs.declarations.forecasting import TABLE as FORECASTING_TABLE
from mawl.programs.declarations.stepwise_selection import DEFECT_NAMES, DEFECTS
from mawl.programs.declarations.stepwise_selection import TABLE as DECLARE_TABLE
from mawl.programs.declarations.survey_logistic import TABLE as SURVEY_LOGISTIC_TABLE
from mawl.programs.declarations.survey_logistic import UNINSURED
from mawl.programs.declarations.tree_ensemble import OUTCOME, PREDICTORS, TABLE
from mawl.programs.forecasting import least_square

ROWS = 60_000
SMALL, LARGE = Column("small", Uniform(0, 9)), Column("large", Uniform(0, 99))
RULES = Outcome(
    base=1,
    rules=(
        HiddenRule(1, (Condition(SMALL, 5),)),
        HiddenRule(-1, (Condition(LARGE, 90),)),
        HiddenRule(2, (Condition(SMALL, 5), Condition(LARGE, 50))),
    ),
    chances=(100, 200, 300, 400),
)


def test_points_are_added_up_and_cut_to_the_chances_there_are() -> None:
    columns = {"small": np.array([4.0, 5.0, 4.0, 5.0]), "large": np.array([0.0, 49.0, 90.0, 60.0])}
    assert true_chances(RULES, columns).tolist() == [200, 300, 100, 400]
    assert [column.name for column in outcome_columns(RULES)] == ["small", "large"]


@pytest.mark.parametrize("seed", [1, 2])
def test_applications_default_as_often_as_their_rules_say(seed: int) -> None:
    made = {
        column.name: column_values(TABLE, column, seed=seed, replica=0, start=7, count=ROWS)
        for column in (Column("defaulted", OUTCOME), *PREDICTORS)
    }
    chances = true_chances(OUTCOME, made)
    for chance in np.unique(chances):
        inside = made["defaulted"][chances == chance].astype(np.float64)
        error = np.sqrt(0.25 / len(inside))
        assert inside.mean() == pytest.approx(chance / 65_536, abs=5 * error)


def test_the_rules_look_at_predictors() -> None:
    assert {column.name for column in outcome_columns(OUTCOME)} <= {column.name for column in PREDICTORS}


COUNT = 4_000
KNOWN = 60
UNITS = key(4, 1, FORECASTING_TABLE.name, "units")


def months(first: int) -> np.ndarray[Any, Any]:
    column = Column("units", SERIES)
    values = column_values(
        FORECASTING_TABLE, column, seed=4, replica=1, start=first * MONTHS, count=COUNT * MONTHS
    )
    return values.reshape(COUNT, MONTHS)


@pytest.mark.parametrize("first", [0, 2**32 // MONTHS])
def test_kinds_have_their_shares_and_errors_their_size(first: int) -> None:
    kinds = true_kinds(SERIES, UNITS, first, COUNT)
    shares = [kind.share / 256 for kind in SERIES.kinds]
    assert np.bincount(kinds) / COUNT == pytest.approx(np.array(shares), abs=0.03)
    best = true_forecasts(SERIES, UNITS, first, COUNT, known=KNOWN)
    errors = months(first)[:, KNOWN:] - best
    assert np.square(errors).mean() == pytest.approx(least_square(), rel=0.05)
    assert errors[:, 0].std() == pytest.approx(SERIES.noise, rel=0.05)
    assert abs(errors.mean()) < 1.0


def test_sales_are_whole_and_hardly_ever_below_nothing() -> None:
    found = months(0)
    assert (found == np.round(found)).all()
    assert (found < 0).mean() < 0.001


def test_shares_that_do_not_add_up_are_refused() -> None:
    odd = MonthlySeries(months=12, noise=1, kinds=(SeriesKind(name="only", share=200, level_weight=10),))
    with pytest.raises(ValueError, match="must add up to 256"):
        column_values(
            InputTable(name="odd", full_bytes=0), Column("x", odd), seed=1, replica=0, start=0, count=1
        )


STUDIES = 30


@pytest.mark.parametrize("column", RESPONSES, ids=lambda column: column.name)
@pytest.mark.parametrize("first", [0, 2**32 // STUDY_ROWS])
def test_responses_are_means_of_cells_and_noise(column: Column, first: int) -> None:
    values = column.values
    assert isinstance(values, Response)
    active = true_active(values, key(4, 1, FACTORIAL_DESIGN_TABLE.name, column.name), first, STUDIES)
    means = true_means(values, active)

    def made(column: Column) -> NDArray[Any]:
        rows = STUDIES * STUDY_ROWS
        return column_values(
            FACTORIAL_DESIGN_TABLE, column, seed=4, replica=1, start=first * STUDY_ROWS, count=rows
        )

    cells = np.ravel_multi_index([made(factor).astype(int) - 1 for factor in FACTORS], (3, 3, 3, 3))
    found = made(column)
    left = found - means[np.repeat(np.arange(STUDIES), STUDY_ROWS), cells]
    assert left.mean() == pytest.approx(0.0, abs=0.3)
    assert left.std() == pytest.approx(values.noise, rel=0.02)
    assert (found == np.round(found)).all()


def test_factors_have_effects_at_even_chances_and_pairs_at_a_quarter() -> None:
    values = RESPONSES[0].values
    assert isinstance(values, Response)
    active = true_active(values, key(1, 0, FACTORIAL_DESIGN_TABLE.name, "yield"), 5, 4_000)
    assert active[:, :4].mean(axis=0) == pytest.approx(np.full(4, 0.5), abs=0.04)
    assert active[:, 4:].mean(axis=0) == pytest.approx(np.full(6, 0.25), abs=0.04)
    for effects in values.effects:
        assert sum(effects) == 0
    none = true_means(values, np.zeros((1, 10), np.bool_))
    assert (none == values.mean).all()


SIZE, KIND = Column("size", Uniform(0, 9)), Column("kind", Code(("A", "B")), 8)
TERMS = (Product(3, (Factor(SIZE, 4), Factor(SIZE, 4))), Product(-7, (Factor(KIND, value="B"), Factor(SIZE))))
COLUMNS = {"size": np.array([4.0, 6.0, 1.0]), "kind": np.array([b"A       ", b"B       ", b"B       "])}


def test_terms_are_products_of_what_factors_see() -> None:
    assert linear_predictor(100, TERMS, COLUMNS).tolist() == [100, 100 + 12 - 42, 100 + 27 - 7]
    assert term_columns(TERMS) == [SIZE, KIND]
    assert [term.name for term in TERMS] == ["size*size", "kind=B*size"]


@pytest.mark.parametrize("logit", [-20.0, -3.0, -0.25, 0.0, 0.25, 3.0, 20.0])
def test_chances_are_those_of_the_logistic_curve(logit: float) -> None:
    values = Logistic(intercept=int(logit * LOGIT_UNIT), terms=())
    (found,) = logistic_chances(values, {"size": np.zeros(1)})
    cut = max(min(logit, 12.0), -12.0)
    assert found == pytest.approx(2**32 / (1 + math.exp(-cut)), abs=1)


def test_linear_responses_have_their_noise() -> None:
    table = InputTable(name="sample", full_bytes=0)
    values = Linear(intercept=50, terms=TERMS, noise=20)
    made = {
        column.name: column_values(table, column, seed=1, replica=0, start=3, count=ROWS)
        for column in (SIZE, KIND, Column("response", values))
    }
    noise = made["response"].astype(np.float64) - linear_predictor(50, TERMS, made)
    assert noise.mean() == pytest.approx(0.0, abs=0.5)
    assert noise.std() == pytest.approx(20.0, rel=0.02)


@pytest.mark.parametrize("name", DEFECT_NAMES)
def test_defects_come_as_often_as_their_chances(name: str) -> None:
    found = {
        column.name: column_values(DECLARE_TABLE, column, seed=1, replica=0, start=0, count=ROWS)
        for column in DECLARE_TABLE.columns
    }
    values = DEFECTS[DEFECT_NAMES.index(name)]
    chances = logistic_chances(values, found) / 2.0**32
    order = np.argsort(chances)
    for tenth in np.array_split(order, 10):
        expected = float(chances[tenth].mean())
        error = math.sqrt(expected * (1 - expected) / len(tenth))
        assert found[name][tenth].astype(np.float64).mean() == pytest.approx(expected, abs=5 * error)


def test_neighbours_are_alike_and_yet_each_has_its_chance() -> None:
    table, rows = SURVEY_LOGISTIC_TABLE, 32 * 4000
    values = UNINSURED
    made = {
        column.name: column_values(table, column, seed=1, replica=0, start=0, count=rows)
        for column in table.columns
    }
    chances = logistic_chances(values, made) / 2.0**32
    left = (made["uninsured"].astype(np.float64) - chances).reshape(-1, 32)
    assert left.mean() == pytest.approx(0.0, abs=0.01)
    among = left.sum(axis=1).var() / (32 * left.var())
    # Alone it would be 1; a quarter of all pairs share a draw.
    assert 4.0 < among < 9.0
