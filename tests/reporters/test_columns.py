"""Columns that a narrow terminal does without, and lines that keep numbers with their units."""

from __future__ import annotations

from mawl.reporters.columns import aligned, fitting, wrapped

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
