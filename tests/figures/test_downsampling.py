"""No peak, no trough and no gap is lost where a chart shows fewer rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.series import MOST_POINTS, kept_rows

FIGURES = st.one_of(st.floats(-1e12, 1e12), st.just(float("nan")))


@given(
    st.integers(1, 3).flatmap(
        lambda columns: st.lists(st.tuples(*[FIGURES] * columns), min_size=1, max_size=200)
    ),
    st.integers(12, 60),
)
def test_every_column_keeps_its_extremes_and_its_gaps(rows: list[tuple[float, ...]], most: int) -> None:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    kept = kept_rows(columns, most)
    assert len(kept) <= most or len(kept) == len(rows) <= most
    assert (np.diff(kept) > 0).all() and kept[0] == 0 and kept[-1] == len(rows) - 1
    for column in columns:
        chosen = column[kept]
        assert np.isnan(chosen).any() == np.isnan(column).any()
        if not np.isnan(column).all():
            assert np.nanmax(chosen) == np.nanmax(column) and np.nanmin(chosen) == np.nanmin(column)


def test_two_hours_keep_a_peak_of_one_second_anywhere() -> None:
    quiet = np.random.default_rng(1).uniform(10.0, 11.0, 7200)
    for second in range(0, 7200, 97):
        column = quiet.copy()
        column[second] = 500.0
        assert second in kept_rows([column, quiet]).tolist()


def test_each_stretch_of_time_keeps_its_own_peak() -> None:
    column = np.random.default_rng(2).uniform(0.0, 1.0, 7200)
    kept = kept_rows([column])
    assert len(kept) <= MOST_POINTS
    bounds = np.linspace(0, 7200, (MOST_POINTS - 2) // 3 + 1).astype(int)
    for start, end in pairwise(bounds.tolist()):
        assert column[start:end].max() in column[kept[(kept >= start) & (kept < end)]]


def test_short_series_stay_whole_and_too_few_rows_are_refused() -> None:
    assert kept_rows([np.zeros(MOST_POINTS)]).tolist() == list(range(MOST_POINTS))
    with pytest.raises(ValueError, match="cannot keep the peaks of 4 columns"):
        kept_rows([np.zeros(100)] * 4, 12)
