"""Both sides over time, over each other: which run stands out, one time axis, what cannot be drawn."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from mawl.figures.comparison.compare import Comparison, compare
from mawl.figures.comparison.sides import RunOverTime
from mawl.reports.comparison.over_time import THIN_ALPHA, charts_over_time, lines_over_time
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.colours import light
from tests.fakes.compared_runs import pair


def a_run(name: str, elapsed_seconds: float) -> RunOverTime:
    """Three rows; the device was not looked at in the second, the application never."""
    return RunOverTime(
        run_id=name,
        seconds=[0.5, 1.5, 2.5],
        device_bytes_per_second=[1e6, None, 3e6],
        application_bytes_per_second=None,
        jobs_running=[1.0, 2.0, 1.0],
        cpu_busy_ratio=[0.5, 0.6, 0.7],
        active_seconds=elapsed_seconds - 1.0,
        elapsed_seconds=elapsed_seconds,
    )


def compared(reference: list[RunOverTime], candidate: list[RunOverTime]) -> Comparison:
    """Two sides with these runs."""
    found = compare(*pair([1.0], [1.0]))
    return msgspec.structs.replace(
        found,
        reference=msgspec.structs.replace(found.reference, courses=reference),
        candidate=msgspec.structs.replace(found.candidate, courses=candidate),
    )


def drawn(charts: list[Chart]) -> list[Any]:
    """The figures of the charts that have one."""
    return [chart.figure for chart in charts if chart.figure is not None]


def test_the_run_of_median_elapsed_time_is_full_and_on_top_the_others_thin() -> None:
    sides = compared([a_run("r1", 9.0), a_run("r2", 3.0), a_run("r3", 4.0)], [a_run("c1", 5.0)])
    lines = lines_over_time(sides)
    assert [line.run.run_id for line in lines] == ["r1", "r2", "r3", "c1"]
    assert [line.stands for line in lines] == [False, False, True, True]
    device = charts_over_time(lines)[0]
    looks = [(one.glyph.line_color, one.glyph.line_alpha) for one in drawn([device])[0].renderers]
    blue, orange = light("reference"), light("candidate")
    assert looks == [(blue, THIN_ALPHA), (blue, THIN_ALPHA), (blue, 1.0), (orange, 1.0)]
    assert [key.name for key in device.keys] == [
        "reference, run r3",
        "reference, 2 more",
        "candidate, run c1",
    ]


def test_time_is_one_axis_and_a_run_one_source_with_gaps_as_gaps() -> None:
    figures = drawn(charts_over_time(lines_over_time(compared([a_run("r", 3.0)], [a_run("c", 7.0)]))))
    assert {figure.x_range.name for figure in figures} == {"time"}
    assert len({figure.x_range.id for figure in figures}) == 1
    assert figures[0].x_range.end == 7.0
    sources = {one.data_source for figure in figures for one in figure.renderers}
    assert {source.name for source in sources} == {"reference_0", "candidate_0"}
    for source in sources:
        assert np.isnan(source.data["device_bytes_per_second"]).tolist() == [False, True, False]


def test_what_neither_side_measured_says_why() -> None:
    charts = {
        chart.name: chart for chart in charts_over_time(lines_over_time(compared([a_run("r", 3.0)], [])))
    }
    assert charts["application"].figure is None
    assert charts["application"].reason == "no samples of either side hold such figures"
    assert [key.name for key in charts["cpu"].keys] == ["reference, run r"]
    assert all(chart.figure is None and chart.reason for chart in charts_over_time([]))
