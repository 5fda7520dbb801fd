"""Samples that are no number: of the time between their neighbours nothing is known."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from mawl.figures.series import RunSamples
from mawl.records.store.columns import SCHEMAS

NOTHING = float("nan")


def samples(points: list[tuple[float, float]], name: str = "device.sda.read_bytes") -> RunSamples:
    rows = {
        "node": ["n"] * len(points),
        "sampled_at": [round(at * 1e6) for at, _ in points],
        "series": [name] * len(points),
        "value": [value for _, value in points],
    }
    return RunSamples(
        pa.table({key: pa.array(column, SCHEMAS["samples"].field(key).type) for key, column in rows.items()})
    )


GAP = [(0.0, 0.0), (10.0, 100.0), (15.0, NOTHING), (20.0, 100.0), (30.0, 400.0)]


def test_a_counter_gains_nothing_in_a_gap_and_its_rate_is_that_of_the_known_time() -> None:
    whole = samples(GAP).changes("n", "device.sda.read_bytes", [0.0, 30.0])[0]
    assert whole is not None
    assert (whole.amount, whole.seconds) == (400.0, 20.0)
    assert whole.per_second == 20.0


def test_a_window_within_a_gap_has_no_figure_and_one_with_too_little_known_neither() -> None:
    found = samples(GAP).changes("n", "device.sda.read_bytes", [0.0, 10.0, 20.0, 30.0])
    assert [None if change is None else change.amount for change in found] == [100.0, None, 300.0]
    edges = [0.0, 5.0, 16.0, 27.0]  # 5 of 11 seconds known, 7 of 11 known
    found = samples(GAP).changes("n", "device.sda.read_bytes", edges)
    assert [None if change is None else change.amount for change in found] == pytest.approx(
        [50.0, None, 210.0]
    )


def test_without_the_mark_the_time_between_two_samples_is_known() -> None:
    points = [point for point in GAP if not math.isnan(point[1])]
    found = samples(points).changes("n", "device.sda.read_bytes", [0.0, 10.0, 20.0, 30.0])
    assert [None if change is None else change.amount for change in found] == [100.0, 0.0, 300.0]


def test_a_gauge_has_the_mean_of_the_known_time() -> None:
    points = [(0.0, 10.0), (10.0, 10.0), (15.0, NOTHING), (20.0, 40.0), (30.0, 40.0)]
    gauge = samples(points, "host.runnable")
    assert gauge.means("n", "host.runnable", [0.0, 30.0]) == [pytest.approx(25.0)]
    assert gauge.means("n", "host.runnable", [10.0, 20.0]) == [None]
    assert gauge.means("n", "host.runnable", [5.0, 11.0]) == [pytest.approx(10.0)]
    assert gauge.means("n", "host.runnable", [19.0, 30.0]) == [pytest.approx(40.0)]


def test_marks_before_the_first_and_after_the_last_sample_change_nothing() -> None:
    marked = [(-1.0, NOTHING), (0.0, 0.0), (10.0, 100.0), (11.0, NOTHING)]
    change = samples(marked).changes("n", "device.sda.read_bytes", [0.0, 10.0])[0]
    assert change is not None
    assert (change.amount, change.seconds) == (100.0, 10.0)
