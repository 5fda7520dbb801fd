"""Listings: columns that line up, short whatever the number of classes."""

from __future__ import annotations

import pytest

from mawl.programs.toolkit.listing import MOST_CLASSES, print_frequencies, print_moments, print_table


def test_a_table_has_a_title_and_columns_that_line_up(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("means", ("kind", "count", "mean"), [(b"CASH    ", 7, 1 / 3), (b"FEE     ", 1200, None)])
    assert capsys.readouterr().out == "\nmeans\nkind count    mean\nCASH     7 0.33333\nFEE   1200       .\n"


def test_moments_have_a_table_for_each_class(capsys: pytest.CaptureFixture[str]) -> None:
    age = {"count": 7, "avg": 41.5, "p50": 40.0}
    other = {"count": 7, "avg": None}
    print_moments("kind/sex", {(b"B", 1.0): {"age": age, "wages": other}, (b"A", 2.0): {"age": age}})
    assert capsys.readouterr().out.split("\n\n")[1].splitlines() == [
        "kind/sex B/1, 7 rows",
        "variable  avg p50",
        "age      41.5  40",
        "wages       .",
    ]


def test_many_classes_are_summed_up_by_their_extremes(capsys: pytest.CaptureFixture[str]) -> None:
    found = {branch: {"age": {"avg": float(branch), "skewness": None}} for branch in range(400)}
    print_moments("branch", found)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "400 values of branch",
        "variable avg from avg to skewness from skewness to",
        "age             0    399",
    ]
    print_moments("branch", {branch: found[branch] for branch in range(MOST_CLASSES)})
    assert capsys.readouterr().out.count("branch") == MOST_CLASSES


def test_frequencies_have_a_column_for_each_class(capsys: pytest.CaptureFixture[str]) -> None:
    print_frequencies("sex", {2.0: {"moved": {0.0: 5}}, 1.0: {"moved": {1.0: 12, 0.0: 3}}})
    assert capsys.readouterr().out.splitlines()[1:] == [
        "frequencies by sex",
        "code  value  1 2",
        "moved     0  3 5",
        "moved     1 12 0",
    ]
