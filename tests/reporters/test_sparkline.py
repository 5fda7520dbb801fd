"""A series as one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mawl.reporters.sparkline import BLOCKS, GAP, PLAIN, columns_of, sparkline

VALUES = st.lists(st.none() | st.floats(0, 1e12), min_size=1, max_size=300)


def test_levels_go_from_nothing_to_the_highest() -> None:
    assert sparkline([float(level) for level in range(8)], 80) == BLOCKS
    assert sparkline([0.0, None, 7.0], 80) == "▁ █"
    assert sparkline([0.0, 7.0], 80, PLAIN) == "_#"


def test_nothing_at_all_is_drawn_as_nothing() -> None:
    assert sparkline([0.0, 0.0], 80) == "▁▁"
    assert sparkline([None, None], 80) == GAP * 2
    assert sparkline([], 80) == ""


@given(VALUES, st.integers(1, 80))
def test_no_peak_is_lost_and_the_line_is_no_wider(values: list[float | None], width: int) -> None:
    columns = columns_of(values, width)
    assert len(columns) == min(len(values), width)
    known = [value for value in values if value is not None]
    assert max((value for value in columns if value is not None), default=None) == max(known, default=None)
    drawn = sparkline(values, width)
    assert len(drawn) == len(columns)
    if known and max(known) > 0:
        assert BLOCKS[-1] in drawn
