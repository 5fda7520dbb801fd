"""The tables and bars of the papers, of a pair."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bokeh.models.renderers import GlyphRenderer

from mawl.commands.compare import as_block
from mawl.figures.comparison.compare import Comparison, compare
from mawl.figures.comparison.sides import published_side
from mawl.records.model.published import published_result
from mawl.reports.comparison.charts import pair_charts
from mawl.reports.comparison.papers import paper_tables
from tests.fakes.compared_runs import pair


@pytest.fixture
def flash() -> Comparison:
    """The two results of dl980-ioscale-2014: disks, and flash."""
    sides = (as_block(published_result(name)) for name in ("dl980-spinning-30", "dl980-flash-30"))
    return compare(*map(published_side, sides))


def test_a_paper_s_own_results_give_its_tables(flash: Comparison) -> None:
    """Tables 2 and 3 of dl980-ioscale-2014, in its units; the mean of flash is printed as 1.047."""
    times, ratios = paper_tables(flash)
    assert times.head[1:] == ("real time (min)", "user CPU (min)", "system CPU (min)", "memory (GB)")
    assert times.rows[:3] == [
        ("dl980-spinning-30", "3066", "1841", "905", "56.0"),
        ("dl980-flash-30", "1134", "965", "221", "55.0"),
        ("difference", "-1932", "-876", "-684", "-1.00"),
    ]
    assert ratios.head[1:] == ("mean", "standard deviation", "range")
    assert [row[1:] for row in ratios.rows[:2]] == [("0.79", "0.31", "2.60"), ("1.05", "0.16", "1.44")]


def test_runs_have_every_table_and_their_ratio_is_that_of_the_comparison() -> None:
    quiet = [0.98, 1.01, 1.0, 1.02, 0.99]
    found = compare(*pair(quiet, [1.2 * factor for factor in quiet]))
    tables = paper_tables(found)
    assert [table.name for table in tables] == ["paper-times", "paper-ratios", "paper-throughput"]
    change = next(row.change_ratio for row in found.figures if row.name == "time.real_time_seconds")
    assert change is not None
    assert tables[0].rows[3][1] == f"{1 + change:.2f}"
    assert all(len(row) == len(table.head) for table in tables for row in table.rows)


def test_figures_that_do_not_compare_have_no_difference_and_say_why() -> None:
    quiet = [0.98, 1.01, 1.0, 1.02, 0.99]
    found = compare(*pair(quiet, quiet[::-1]))
    why = "the sides count CPU time differently"
    unlike = [msgspec.structs.replace(row, change_ratio=None, reason=why) for row in found.figures]
    times = paper_tables(msgspec.structs.replace(found, figures=unlike))[0]
    assert times.rows[2][1:] == ("-", "-", "-", "-")
    assert times.note.endswith(f"; {why}")


def test_a_figure_that_is_small_in_the_unit_of_its_table_is_not_0() -> None:
    """1.5 MB and 1.8 MB of memory, in GB; CPU time that is 0 is 0."""
    small = {"time.memory_bytes": (1.5e6, 1.8e6), "time.system_cpu_seconds": (0.0, 0.0)}
    found = compare(*pair([1.0], [1.0]))
    figures = [
        msgspec.structs.replace(row, reference=one, candidate=other)
        for row in found.figures
        for one, other in (small.get(row.name, (row.reference, row.candidate)),)
    ]
    times = paper_tables(msgspec.structs.replace(found, figures=figures))[0]
    assert [row[3:] for row in times.rows[:3]] == [
        ("0.00", "0.0015"),
        ("0.00", "0.0018"),
        ("0.00", "+0.0003"),
    ]


def test_bars_are_in_the_unit_of_their_axis(flash: Comparison) -> None:
    (times,) = pair_charts(flash)
    assert times.figure is not None
    assert times.figure.xaxis[0].axis_label == "sum over the jobs (min)"
    renderers: list[Any] = list(times.figure.select({"type": GlyphRenderer}))
    data = renderers[0].data_source.data
    assert list(data["figure"]) == ["real time", "user CPU", "system CPU"]
    assert [round(value) for value in data["reference"]] == [3066, 1841, 905]
    assert [round(value) for value in data["candidate"]] == [1134, 965, 221]
