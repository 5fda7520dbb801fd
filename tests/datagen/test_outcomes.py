"""Outcomes come as often as the hidden rules say."""

from __future__ import annotations

import numpy as np
import pytest

from mawl.datagen.outcomes import columns_of, true_chances
from mawl.datagen.values import column_values
from mawl.plan.columns import Column, Condition, HiddenRule, Outcome, Uniform
from mawl.programs.tree_ensemble.inputs import OUTCOME, PREDICTORS, TABLE

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
    assert [column.name for column in columns_of(RULES)] == ["small", "large"]


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
    assert {column.name for column in columns_of(OUTCOME)} <= {column.name for column in PREDICTORS}
