"""The data of the charts: names, base units, marks that are the summary's, peaks that stay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bokeh.models.renderers import GlyphRenderer

from mawl.figures.series import MOST_POINTS
from mawl.figures.view import StoredView
from mawl.records.model.role_io import WAIT_FIELDS
from mawl.records.store import Run, open_run
from mawl.reports.html.charts.every import charts_of
from mawl.reports.html.charts.frame import TIME_RANGE, Columns
from mawl.reports.html.charts.over_time import MEANINGS
from mawl.reports.html.sources import ChartData, chart_data, sources
from tests.fakes.synthetic_run import write_synthetic_run
from tests.fakes.views import as_summary, judged

Made = tuple[Run, dict[str, Any], dict[str, Columns], ChartData]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder: Path = write_synthetic_run(
        tmp_path_factory.mktemp("long") / "run", jobs=60, nodes=1, seconds=3000
    )
    run = open_run(folder)
    summary = judged(StoredView(run))
    return run, summary, sources(StoredView(run), as_summary(summary)), chart_data(StoredView(run))


def test_long_series_are_short_and_keep_their_peaks(long: Made) -> None:
    _, _, found, whole = long
    assert len(whole.over_time.seconds) > MOST_POINTS
    for name in ("device", "application", "latency", "jobs", "cpu", "memory", "network"):
        columns = found[name]
        assert len(columns["seconds"]) <= MOST_POINTS
        for column, values in columns.items():
            if column in whole.over_time.columns:
                assert np.nanmax(values) == pytest.approx(np.nanmax(whole.over_time.columns[column]))
                assert np.nanmin(values) == pytest.approx(np.nanmin(whole.over_time.columns[column]))


def test_columns_of_a_source_are_equally_long(long: Made) -> None:
    for name, columns in long[2].items():
        assert len({len(column) for column in columns.values()}) == 1, name


def test_marks_are_the_figures_of_the_summary(long: Made) -> None:
    _, summary, found, _ = long
    for side in ("device", "application"):
        marks = found[f"{side}_marks"]
        values = {
            str(label).split()[0]: value for label, value in zip(marks["label"], marks["value"], strict=True)
        }
        assert values == {
            name: summary["io"][side][name]["total_bytes_per_second"]
            for name in ("initial", "peak", "sustained")
        }


def test_the_mark_of_the_peak_is_not_at_a_short_tail(long: Made) -> None:
    run, summary, found, _ = long
    last = summary["windows"][-1]
    start = last["start_seconds"] + last["length_seconds"]
    rates = {name: 1e12 for name in last if name.endswith("_bytes_per_second")}
    seconds = summary["io"]["device"]["window_seconds"]
    for length, marked in ((0.4 * seconds, False), (0.6 * seconds, True)):
        tail = {**last, **rates, "phase": "tail", "start_seconds": start, "length_seconds": length}
        marks = sources(StoredView(run), as_summary({**summary, "windows": [*summary["windows"], tail]}))[
            "device_marks"
        ]
        assert (start in marks["left"]) is marked
        assert marked or list(marks["left"]) == list(found["device_marks"]["left"])


def test_shares_of_calls_and_jobs_add_up(long: Made) -> None:
    run, summary, found, _ = long
    latencies = found["latency_distribution"]
    assert sum(latencies["work_read_latency_seconds"]) == pytest.approx(1.0)
    ratios = found["cpu_real"]
    counts = sum(float(np.sum(ratios[name])) for name in ("compute", "memory", "io"))
    assert counts == summary["jobs"]["counted"] == len(run.job_records())
    assert np.array_equal(ratios["compute_top"], ratios["memory_bottom"])


def test_a_job_is_split_into_its_waits(long: Made) -> None:
    bars = long[2]["sessions"]
    assert len(bars["job"]) == 60
    shares = [re.findall(r"\(([0-9.]+) %\)", str(bars[field][0])) for field in WAIT_FIELDS]
    assert sum(float(share) for (share,) in shares) == pytest.approx(100, abs=3)
    mostly = dict(zip(bars["job"], bars["mostly"], strict=True))
    assert set(mostly.values()) <= set(MEANINGS)
    assert all(right > left for left, right in zip(bars["left"], bars["right"], strict=True))


def test_figures_and_sources_have_names_and_those_over_time_one_axis(long: Made) -> None:
    run, summary, found, whole = long
    charts = {chart.name: chart for chart in charts_of(whole, found, as_summary(summary))}
    ranges = set()
    for name, chart in charts.items():
        assert chart.figure is not None and chart.figure.name == name and chart.reason == ""
        drawn = [one for one in chart.figure.renderers if isinstance(one, GlyphRenderer)]
        names = {one.data_source.name for one in drawn}
        assert names <= set(found), name
        if name not in ("latency_distribution", "cpu_real"):
            ranges.add(chart.figure.x_range)
    assert len(ranges) == 1 and ranges.pop().name == TIME_RANGE
    assert run.facts.workload.sessions == 30
