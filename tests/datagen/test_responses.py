"""Responses follow the models that their declarations say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mawl.datagen.responses import columns_of, logistic_chances, predictor
from mawl.datagen.values import column_values
from mawl.plan.columns import LOGIT_UNIT, Code, Column, Factor, Linear, Logistic, Product, Uniform
from mawl.plan.tables import InputTable
from mawl.programs.stepwise_selection import inputs as measurements
from mawl.programs.survey_logistic import inputs as respondents

ROWS = 60_000
SIZE, KIND = Column("size", Uniform(0, 9)), Column("kind", Code(("A", "B")), 8)
TERMS = (Product(3, (Factor(SIZE, 4), Factor(SIZE, 4))), Product(-7, (Factor(KIND, value="B"), Factor(SIZE))))
COLUMNS = {"size": np.array([4.0, 6.0, 1.0]), "kind": np.array([b"A       ", b"B       ", b"B       "])}


def test_terms_are_products_of_what_factors_see() -> None:
    assert predictor(100, TERMS, COLUMNS).tolist() == [100, 100 + 12 - 42, 100 + 27 - 7]
    assert columns_of(TERMS) == [SIZE, KIND]
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
    noise = made["response"].astype(np.float64) - predictor(50, TERMS, made)
    assert noise.mean() == pytest.approx(0.0, abs=0.5)
    assert noise.std() == pytest.approx(20.0, rel=0.02)


@pytest.mark.parametrize("name", measurements.DEFECT_NAMES)
def test_defects_come_as_often_as_their_chances(name: str) -> None:
    found = {
        column.name: column_values(measurements.TABLE, column, seed=1, replica=0, start=0, count=ROWS)
        for column in measurements.TABLE.columns
    }
    values = measurements.DEFECTS[measurements.DEFECT_NAMES.index(name)]
    chances = logistic_chances(values, found) / 2.0**32
    order = np.argsort(chances)
    for tenth in np.array_split(order, 10):
        expected = float(chances[tenth].mean())
        error = math.sqrt(expected * (1 - expected) / len(tenth))
        assert found[name][tenth].astype(np.float64).mean() == pytest.approx(expected, abs=5 * error)


def test_neighbours_are_alike_and_yet_each_has_its_chance() -> None:
    table, rows = respondents.TABLE, 32 * 4000
    values = respondents.UNINSURED
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
