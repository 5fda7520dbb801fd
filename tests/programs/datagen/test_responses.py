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
    Logistic,
    MonthlySeries,
    Outcome,
    Product,
    SeriesKind,
    Uniform,
)
from mawl.programs.datagen.groups import time_of
from mawl.programs.datagen.responses import (
    linear_predictor,
    logistic_chances,
    outcome_columns,
    term_columns,
    true_chances,
)
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations import gee_repeated
from mawl.programs.declarations.tree_ensemble import OUTCOME, PREDICTORS

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


def test_the_rules_look_at_predictors() -> None:
    assert {column.name for column in outcome_columns(OUTCOME)} <= {column.name for column in PREDICTORS}


def test_shares_that_do_not_add_up_are_refused() -> None:
    odd = MonthlySeries(months=12, noise=1, kinds=(SeriesKind(name="only", share=200, level_weight=10),))
    with pytest.raises(ValueError, match="must add up to 256"):
        column_values(
            InputTable(name="odd", full_bytes=0), Column("x", odd), seed=1, replica=0, start=0, count=1
        )


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


EMPTY = InputTable(name="sample", full_bytes=0)


def made(table: InputTable, names: list[str], rows: int, seed: int = 1) -> dict[str, NDArray[Any]]:
    columns = {column.name: column for column in table.columns}
    return {
        name: column_values(table, columns[name], seed=seed, replica=0, start=0, count=rows) for name in names
    }


def test_the_coefficients_are_those_of_the_rules() -> None:
    found = made(gee_repeated.TABLE, visits_used(), 5000)
    linear = np.full(5000, gee_repeated.COEFFICIENTS[0])
    for rule, coefficient in zip(gee_repeated.OUTCOME.rules, gee_repeated.COEFFICIENTS[1:], strict=True):
        (condition,) = rule.conditions
        linear += coefficient * (found[condition.column.name] >= condition.at_least)
    expected = 1.0 / (1.0 + np.exp(-linear))
    assert true_chances(gee_repeated.OUTCOME, found) / 65_536 == pytest.approx(expected, abs=2e-5)


def test_time_goes_from_minus_one_to_one_about_its_middle() -> None:
    time = time_of(np.arange(104.0), 104)
    assert time.sum() == pytest.approx(0.0)
    assert -1.0 < time[0] == -time[-1] < -0.98


def visits_used() -> list[str]:
    return [rule.conditions[0].column.name for rule in gee_repeated.OUTCOME.rules]
