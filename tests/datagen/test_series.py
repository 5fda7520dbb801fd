"""Series: kinds with their shares, forecasts that nothing known can improve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mawl.datagen.series import true_forecasts, true_kinds
from mawl.datagen.values import column_values
from mawl.plan.columns import Column
from mawl.plan.series import MonthlySeries, SeriesKind
from mawl.plan.tables import InputTable
from mawl.programs.forecasting.checks import least_square
from mawl.programs.forecasting.inputs import MONTHS, SERIES, TABLE

COUNT = 4_000
KNOWN = 60
WHICH: dict[str, Any] = {"table": TABLE.name, "column": "units", "seed": 4, "replica": 1, "series": COUNT}


def months(first: int) -> np.ndarray[Any, Any]:
    column = Column("units", SERIES)
    values = column_values(TABLE, column, seed=4, replica=1, start=first * MONTHS, count=COUNT * MONTHS)
    return values.reshape(COUNT, MONTHS)


@pytest.mark.parametrize("first", [0, 2**32 // MONTHS])
def test_kinds_have_their_shares_and_errors_their_size(first: int) -> None:
    kinds = true_kinds(SERIES, **WHICH, first=first)
    shares = [kind.share / 256 for kind in SERIES.kinds]
    assert np.bincount(kinds) / COUNT == pytest.approx(np.array(shares), abs=0.03)
    best = true_forecasts(SERIES, **WHICH, first=first, known=KNOWN)
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
