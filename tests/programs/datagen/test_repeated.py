"""Rows in groups: what a group shares, outcomes that hang together, responses with hidden effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.plan.columns import Column, GroupNumber, GroupPlace, InputTable, PerGroup, Uniform, Values
from mawl.programs.datagen.groups import time_of, true_effects
from mawl.programs.datagen.hashing import key
from mawl.programs.datagen.responses import true_chances
from mawl.programs.datagen.values import column_values
from mawl.programs.declarations.gee_repeated import COEFFICIENTS, KEPT, OUTCOME, TABLE
from mawl.programs.declarations.mixed_model import COEFFICIENTS as MIXED_MODEL_COEFFICIENTS
from mawl.programs.declarations.mixed_model import RESPONSE, VARYING, WEEKS
from mawl.programs.declarations.mixed_model import TABLE as MIXED_MODEL_TABLE

EMPTY = InputTable(name="sample", full_bytes=0)


def made(table: InputTable, names: list[str], rows: int, seed: int = 1) -> dict[str, NDArray[Any]]:
    columns = {column.name: column for column in table.columns}
    return {
        name: column_values(table, columns[name], seed=seed, replica=0, start=0, count=rows) for name in names
    }


@pytest.mark.parametrize("start", [0, 23, 24, 2**33 + 5])
def test_groups_are_numbered_and_their_rows_placed(start: int) -> None:
    def sample(values: Values) -> list[int]:
        column = Column("x", values)
        found = column_values(EMPTY, column, seed=1, replica=0, start=start, count=50)
        return [int(value) for value in found]

    rows = range(start, start + 50)
    assert sample(GroupNumber(24)) == [row // 24 for row in rows]
    assert sample(GroupPlace(24)) == [row % 24 for row in rows]
    shared = sample(PerGroup(24, Uniform(0, 10**6)))
    by_group: dict[int, set[int]] = {}
    for row, value in zip(rows, shared, strict=True):
        by_group.setdefault(row // 24, set()).add(value)
    assert all(len(values) == 1 for values in by_group.values())
    assert len(set.union(*by_group.values())) == len(by_group)


def test_repeated_outcomes_come_as_often_as_their_rules_say_at_every_visit() -> None:
    rows = 24 * 4000
    found = made(TABLE, ["relapsed", *visits_used()], rows)
    chances = true_chances(OUTCOME, found) / 65_536
    assert chances.min() > 0.01
    for chance in np.unique(chances):
        inside = found["relapsed"][chances == chance]
        assert inside.mean() == pytest.approx(chance, abs=10 * np.sqrt(0.25 / len(inside)))
    by_visit = (found["relapsed"] - chances).reshape(-1, 24).mean(axis=0)
    assert np.abs(by_visit).max() < 5 * np.sqrt(0.25 / 4000)


def test_the_coefficients_are_those_of_the_rules() -> None:
    found = made(TABLE, visits_used(), 5000)
    linear = np.full(5000, COEFFICIENTS[0])
    for rule, coefficient in zip(OUTCOME.rules, COEFFICIENTS[1:], strict=True):
        (condition,) = rule.conditions
        linear += coefficient * (found[condition.column.name] >= condition.at_least)
    expected = 1.0 / (1.0 + np.exp(-linear))
    assert true_chances(OUTCOME, found) / 65_536 == pytest.approx(expected, abs=2e-5)


def test_visits_correlate_the_less_the_farther_they_are_apart() -> None:
    found = made(TABLE, ["relapsed", *visits_used()], 24 * 4000)
    chances = true_chances(OUTCOME, found) / 65_536
    residuals = ((found["relapsed"] - chances) / np.sqrt(chances * (1 - chances))).reshape(-1, 24)
    lags = [float((residuals[:, apart:] * residuals[:, :-apart]).mean()) for apart in (1, 2, 4, 8)]
    kept = KEPT / 256
    # Below the chance that the draw is kept, since the chances of two visits differ.
    for apart, lag in zip((1, 2, 4, 8), lags, strict=True):
        assert 0.65 * kept**apart - 0.02 < lag < kept**apart + 0.02
    assert np.corrcoef(residuals[1:, 0], residuals[:-1, -1])[0, 1] == pytest.approx(0.0, abs=0.08)


def test_a_mixed_response_is_its_terms_its_effects_and_noise() -> None:
    weeks, stores = WEEKS, 600
    names = ["week", "sales", *(column.name for column in VARYING)]
    found = made(MIXED_MODEL_TABLE, names, stores * weeks)
    effects = hidden(stores)
    time = time_of(found["week"], weeks)
    expected = MIXED_MODEL_COEFFICIENTS[0] + MIXED_MODEL_COEFFICIENTS[1] * time
    for column, coefficient in zip(VARYING, MIXED_MODEL_COEFFICIENTS[2:], strict=True):
        expected = expected + coefficient * found[column.name]
    expected += np.repeat(effects[:, 0], weeks) + np.repeat(effects[:, 1], weeks) * time
    noise = found["sales"] - expected
    assert noise.mean() == pytest.approx(0.0, abs=0.5)
    assert noise.std() == pytest.approx(RESPONSE.noise, rel=0.02)
    assert np.array_equal(found["sales"], np.round(found["sales"]))
    assert np.corrcoef(noise, time)[0, 1] == pytest.approx(0.0, abs=0.02)


def test_hidden_effects_have_their_deviations_and_hang_together() -> None:
    effects = hidden(20_000)
    values = RESPONSE
    slope = values.shared / 16
    assert effects.mean(axis=0) == pytest.approx([0.0, 0.0], abs=0.5)
    assert effects[:, 0].std() == pytest.approx(values.level, rel=0.02)
    assert effects[:, 1].std() == pytest.approx(np.hypot(values.trend, slope * values.level), rel=0.02)
    assert np.cov(effects.T)[0, 1] == pytest.approx(slope * values.level**2, rel=0.1)


def test_time_goes_from_minus_one_to_one_about_its_middle() -> None:
    time = time_of(np.arange(104.0), 104)
    assert time.sum() == pytest.approx(0.0)
    assert -1.0 < time[0] == -time[-1] < -0.98


def visits_used() -> list[str]:
    return [rule.conditions[0].column.name for rule in OUTCOME.rules]


def hidden(stores: int) -> NDArray[np.float64]:
    return true_effects(RESPONSE, key(1, 0, "store_weeks", "sales"), 0, stores)
