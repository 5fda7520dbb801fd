"""A series as one line.

Columns that a narrow terminal does without, and lines that keep numbers with their units.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mawl.reports.layout import (
    BLOCKS,
    PLAIN_LEVELS,
    UNKNOWN_LEVEL,
    aligned,
    columns_of,
    fitting,
    sparkline,
    wrapped,
)

ROWS = [["role", "read", "p50", "max"], ["data", "1.00 GB", "24 us", "14.1 ms"]]


def test_columns_go_in_the_order_in_which_they_can_be_spared() -> None:
    width = max(map(len, aligned(ROWS)))
    assert fitting(ROWS, width, ("p50", "max")) == ROWS
    assert fitting(ROWS, width - 1, ("p50", "max")) == [
        ["role", "read", "max"],
        ["data", "1.00 GB", "14.1 ms"],
    ]
    assert fitting(ROWS, 5, ("p50", "none", "max")) == [["role", "read"], ["data", "1.00 GB"]]
    assert fitting([], 5, ("p50",)) == []


def test_a_number_and_its_unit_stay_in_one_line() -> None:
    text = "storage 70 %, work 14.1 ms, read 1.2 GB/s, held 2 GiB, 5 sessions"
    for width in range(12, 40):
        lines = wrapped(text, width, "")
        assert " ".join(lines) == text and max(map(len, lines)) <= width
        assert not any(line.split()[0].strip(",") in ("%", "ms", "GB/s", "GiB") for line in lines)
    assert wrapped("one two", 5, "  ") == ["one", "  two"]


VALUES = st.lists(st.none() | st.floats(0, 1e12), min_size=1, max_size=300)


def test_levels_go_from_nothing_to_the_highest() -> None:
    assert sparkline([float(level) for level in range(8)], 80) == BLOCKS
    assert sparkline([0.0, None, 7.0], 80) == "▁ █"
    assert sparkline([0.0, 7.0], 80, PLAIN_LEVELS) == "_#"


def test_nothing_at_all_is_drawn_as_nothing() -> None:
    assert sparkline([0.0, 0.0], 80) == "▁▁"
    assert sparkline([None, None], 80) == UNKNOWN_LEVEL * 2
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
