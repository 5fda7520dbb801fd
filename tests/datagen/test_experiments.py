"""Responses of experiments: effects as often as declared, cells with the means that they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.datagen.experiments import true_active, true_means
from mawl.datagen.values import column_values
from mawl.plan.columns import Column, Response
from mawl.programs.factorial_design.inputs import FACTORS, RESPONSES, STUDY_ROWS, TABLE

STUDIES = 30


@pytest.mark.parametrize("column", RESPONSES, ids=lambda column: column.name)
@pytest.mark.parametrize("first", [0, 2**32 // STUDY_ROWS])
def test_responses_are_means_of_cells_and_noise(column: Column, first: int) -> None:
    values = column.values
    assert isinstance(values, Response)
    active = true_active(
        values, table=TABLE.name, column=column.name, seed=4, replica=1, first=first, studies=STUDIES
    )
    means = true_means(values, active)

    def made(column: Column) -> NDArray[Any]:
        rows = STUDIES * STUDY_ROWS
        return column_values(TABLE, column, seed=4, replica=1, start=first * STUDY_ROWS, count=rows)

    cells = np.ravel_multi_index([made(factor).astype(int) - 1 for factor in FACTORS], (3, 3, 3, 3))
    found = made(column)
    left = found - means[np.repeat(np.arange(STUDIES), STUDY_ROWS), cells]
    assert left.mean() == pytest.approx(0.0, abs=0.3)
    assert left.std() == pytest.approx(values.noise, rel=0.02)
    assert (found == np.round(found)).all()


def test_factors_have_effects_at_even_chances_and_pairs_at_a_quarter() -> None:
    values = RESPONSES[0].values
    assert isinstance(values, Response)
    active = true_active(values, table=TABLE.name, column="yield", seed=1, replica=0, first=5, studies=4_000)
    assert active[:, :4].mean(axis=0) == pytest.approx(np.full(4, 0.5), abs=0.04)
    assert active[:, 4:].mean(axis=0) == pytest.approx(np.full(6, 0.25), abs=0.04)
    for effects in values.effects:
        assert sum(effects) == 0
    none = true_means(values, np.zeros((1, 10), np.bool_))
    assert (none == values.mean).all()
