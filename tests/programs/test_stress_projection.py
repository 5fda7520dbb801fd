"""The basis of the projection: what it promises about itself."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.programs.declarations.stress_projection import MONTHS, SHOCKS
from mawl.programs.stress_projection import (
    FACTORS,
    YOUNGEST,
    lapse,
    lapse_table,
    mortality,
    mortality_table,
    present_value,
)

POLICY = {
    "age": 40.0, "duration_months": 12.0, "term_months": 240.0, "sum_assured": 100_000.0,
    "annual_premium": 1200.0, "paying": 1.0, "product": 2.0, "sex": 0.0, "smoker": 0.0,
    "expense_class": 0.0, "lapse_class": 0.0, "mortality_class": 0.0,
}  # fmt: skip


def test_there_are_as_many_shocks_as_declared_and_the_first_is_the_base() -> None:
    assert {len(values) for values in FACTORS.values()} == {SHOCKS}
    assert {name: values[0] for name, values in FACTORS.items()} == {
        "mortality": 1.0, "lapse": 1.0, "mass_lapse": 0.0, "expense": 1.0, "interest": 0.0,
    }  # fmt: skip
    shocks = {tuple(values[shock] for values in FACTORS.values()) for shock in range(SHOCKS)}
    assert len(shocks) == SHOCKS


def test_tables_cover_every_policy_and_are_probabilities() -> None:
    deaths, lapses = mortality_table(), lapse_table()
    assert deaths.shape[1] > (79 - YOUNGEST) * 12 + MONTHS - 1
    assert lapses.shape[1] > 239 + MONTHS - 1
    for table in (deaths, lapses):
        assert table.min() > 0.0
        assert table.max() <= 1.0
    assert (np.diff(deaths, axis=1) >= 0).all()


def test_a_policy_past_its_term_is_worth_nothing() -> None:
    assert present_value({**POLICY, "term_months": 12.0}, 0) == 0.0


def test_one_month_is_the_first_months_cash_flow_discounted() -> None:
    death, lapsed = mortality(0, 22 * 12), lapse(2, 12)
    expected = 10_000.0 - death * 10_000_000.0 - lapsed * 0.5 * 10_000.0 * 12 - 350.0
    assert present_value({**POLICY, "term_months": 13.0}, 0) == pytest.approx(expected * 1.03 ** (-1 / 12))


def test_shocks_that_cost_money_do() -> None:
    paid_up = {**POLICY, "paying": 0.0}
    values = [present_value(paid_up, shock) for shock in range(SHOCKS)]
    more_deaths, higher_expense = values[1], values[10]
    assert more_deaths < values[0]
    assert higher_expense < values[0]
