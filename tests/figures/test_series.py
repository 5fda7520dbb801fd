"""Series from samples, gains of counters and means of gauges per window.

Sums over a run whose samples do not cover all of it: the known part, with its seconds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.series import (
    MILLISECONDS_WRAP_SECONDS,
    CounterChange,
    NodeSeries,
    RunSamples,
    changes,
    increases,
    means,
    quotients,
)
from mawl.records.model.records import SampleRecord
from mawl.records.store.columns import SCHEMAS, to_table
from tests.fakes.host_run import host_facts
from tests.fakes.measured_run import four_jobs
from tests.fakes.stored_run import START
from tests.fakes.views import summary_of

BYTES_PER_SECOND = 1e9


def imported(points: list[tuple[float, float]], kind: str = "imported") -> dict[str, Any]:
    """The summary of a run of 20 s with these samples of the device's written bytes."""
    rows = [
        SampleRecord(node="bench1", sampled_at=START + at, series=name, value=value)
        for at, value in points
        for name in ("device.sda.written_bytes", "device.sda.busy_seconds")
    ]
    rows += [
        SampleRecord(node="bench1", sampled_at=START + at, series="host.cpu_user_seconds", value=float(at))
        for at in range(21)
    ]
    return summary_of(host_facts(kind=kind), four_jobs(20.0), samples=RunSamples(to_table("samples", rows)))


def growing(seconds: range) -> list[tuple[float, float]]:
    return [(float(at), at * BYTES_PER_SECOND) for at in seconds]


def test_a_device_known_for_15_of_20_seconds_has_the_bytes_of_15_and_says_so() -> None:
    summary = imported(growing(range(16)))
    device = summary["host"]["device"]["sda"]
    assert device["written_bytes"] == pytest.approx(15 * BYTES_PER_SECOND)
    assert device["known_seconds"] == pytest.approx(15.0)
    assert summary["host"]["known_seconds"] == pytest.approx(20.0)
    assert summary["host"]["role_devices"]["written_bytes"] == pytest.approx(15 * BYTES_PER_SECOND)
    assert [remark for remark in summary["remarks"] if "sda 15" in remark and "20" in remark]


def test_a_gap_within_a_recording_is_not_filled() -> None:
    gap = [
        *growing(range(8)),
        (9.5, float("nan")),
        *((at + 4.0, value) for at, value in growing(range(8, 17))),
    ]
    device = imported(gap)["host"]["device"]["sda"]
    assert device["known_seconds"] == pytest.approx(15.0)
    assert device["written_bytes"] == pytest.approx(15 * BYTES_PER_SECOND)


def test_a_measured_run_holds_its_rate_for_one_interval_at_each_end_at_most() -> None:
    device = imported(growing(range(1, 20)), "measured")["host"]["device"]["sda"]
    assert device["written_bytes"] == pytest.approx(20 * BYTES_PER_SECOND)
    late = imported(growing(range(5, 20)), "measured")["host"]["device"]["sda"]
    assert late["known_seconds"] == pytest.approx(16.0)
    assert late["written_bytes"] == pytest.approx(16 * BYTES_PER_SECOND)


def test_a_run_that_samples_cover_has_no_such_remark() -> None:
    assert not [remark for remark in imported(growing(range(21)))["remarks"] if "do not cover" in remark]


T0 = 1_767_254_400.0


def table(*rows: tuple[str, float, str, float]) -> pa.Table:
    return to_table(
        "samples",
        [
            SampleRecord(node=node, sampled_at=T0 + at, series=name, value=value)
            for node, at, name, value in rows
        ],
    )


def series(times: list[float], values: list[float]) -> NodeSeries:
    return NodeSeries(np.array(times), np.array(values))


def listed(found: NodeSeries | None) -> tuple[list[float], list[float]]:
    assert found is not None
    return found.times.tolist(), found.values.tolist()


def test_rows_in_any_order_become_series_in_order_of_time() -> None:
    some = table(("b", 2, "x", 5), ("a", 1, "y", 7), ("b", 1, "x", 3), ("b", 1, "w", 9))
    samples = RunSamples(pa.concat_tables([some.slice(0, 1), some.slice(1, 2), some.slice(3)]))
    assert samples.nodes == ["a", "b"]
    assert samples.names("b") == ["w", "x"]
    assert listed(samples.series("b", "x")) == ([T0 + 1, T0 + 2], [3.0, 5.0])
    assert listed(samples.series("a", "y")) == ([T0 + 1], [7.0])
    assert samples.series("a", "x") is None
    assert samples.names("c") == []


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(0, 5),
            st.sampled_from("xyz"),
            st.one_of(st.integers(0, 9), st.just(float("nan"))),
        ),
        max_size=40,
    ),
    cuts=st.lists(st.integers(0, 40), max_size=4),
)
def test_parts_of_a_table_give_the_series_of_the_whole(
    rows: list[tuple[str, float, str, float]], cuts: list[int]
) -> None:
    whole = table(*rows)
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    parts = [whole.slice(start, end - start) for start, end in pairwise(edges)]
    one, other = RunSamples(whole, apart="b"), RunSamples.of_parts(iter(parts), apart="b")
    assert other.nodes == one.nodes
    for node in "ab":
        assert other.names(node) == one.names(node)
        for name in one.names(node):
            mine, theirs = one.series(node, name), other.series(node, name)
            assert listed(mine) == listed(theirs)
            assert mine is not None and theirs is not None
            assert (mine.known is None) == (theirs.known is None)
            assert mine.known is None or mine.known.tolist() == theirs.known.tolist()  # type: ignore[union-attr]


def test_series_that_were_sampled_together_share_their_times() -> None:
    parts = [
        table(*(("n", float(at), name, at) for at in range(start, start + 5) for name in ("x", "y", "z")))
        for start in (0, 5)
    ]
    late = table(("n", 11, "z", 1))
    samples = RunSamples.of_parts([*parts, late])
    x, y, z = (samples.series("n", name) for name in "xyz")
    assert x is not None and y is not None and z is not None
    assert x.times is y.times
    assert not x.times.flags.writeable
    assert listed(z)[0] == [*x.times.tolist(), T0 + 11]


def test_what_is_no_number_is_no_sample_and_leaves_the_time_about_it_unknown() -> None:
    rows = (("n", 1, "x", 3), ("n", 2, "x", float("nan")), ("n", 3, "x", 7), ("n", 5, "x", 9))
    samples = RunSamples(table(*rows))
    series = samples.series("n", "x")
    assert series is not None
    assert (series.times.tolist(), series.values.tolist()) == ([T0 + 1, T0 + 3, T0 + 5], [3.0, 7.0, 9.0])
    assert samples.changes("n", "x", [T0 + 1, T0 + 3, T0 + 5]) == [None, CounterChange(2, 2)]


def test_a_run_without_samples_has_no_series() -> None:
    samples = RunSamples(SCHEMAS["samples"].empty_table())
    assert samples.nodes == []
    assert samples.changes("n", "x", [0.0, 1.0, 2.0]) == [None, None]
    assert samples.means("n", "x", [0.0, 1.0]) == [None]


def test_a_counter_grows_evenly_between_two_samples() -> None:
    some = series([0.0, 1.0, 3.0], [100.0, 110.0, 150.0])
    assert changes(some, [0.0, 1.0, 2.0, 3.0]) == [
        CounterChange(10, 1),
        CounterChange(20, 1),
        CounterChange(20, 1),
    ]
    assert changes(some, [0.5, 2.5]) == [CounterChange(35, 2)]


def test_a_window_is_rated_by_the_part_that_samples_cover() -> None:
    some = series([1.0, 2.0, 6.0], [0.0, 8.0, 40.0])
    first, second = changes(some, [0.0, 5.0, 10.0])
    assert first == CounterChange(32, 4) and first.per_second == 8
    assert second is None, "1 s of 5 is not enough"
    assert changes(some, [20.0, 30.0]) == [None]


def test_falls_are_wraps_new_beginnings_or_rounding() -> None:
    assert increases([5.0, 8.0, 2.0, 4.0]).tolist() == [3, 2, 2]
    assert increases([1000.0, 999.9, 1001.0]).tolist() == [0, pytest.approx(1.1)]
    top = MILLISECONDS_WRAP_SECONDS
    assert increases([top - 1, 2.0], top).tolist() == [3]
    assert increases([10.0, 2.0], top).tolist() == [2], "far below the width it did not wrap"


def test_device_times_wrap_at_32_bits_by_their_name() -> None:
    rows = [(1, MILLISECONDS_WRAP_SECONDS - 1), (2, 1.0)]
    samples = RunSamples(
        table(*(("n", at, name, value) for at, value in rows for name in ("device.sda.read_seconds", "z")))
    )
    edges = [T0 + 1, T0 + 2]
    assert samples.changes("n", "device.sda.read_seconds", edges) == [CounterChange(2, 1)]
    assert samples.changes("n", "z", edges) == [CounterChange(1, 1)], "any other counter began anew"


def test_a_gauge_is_weighted_by_time() -> None:
    some = series([0.0, 1.0, 5.0], [4.0, 4.0, 8.0])
    assert means(some, [0.0, 5.0]) == [pytest.approx((4 + 4 * 6) / 5)]
    assert means(some, [2.0, 4.0, 20.0]) == [6.0, None]


def test_quotients_are_missing_where_nothing_happened() -> None:
    parts, wholes = (
        [CounterChange(6, 1), CounterChange(0, 1), None],
        [CounterChange(3, 1), CounterChange(0, 1), CounterChange(1, 1)],
    )
    assert quotients(parts, wholes) == [2, None, None]


@given(
    st.lists(st.tuples(st.floats(0.1, 5), st.floats(0, 1e9)), min_size=2, max_size=30),
    st.lists(st.floats(0, 1), max_size=6),
)
def test_windows_add_up_to_the_whole(steps: list[tuple[float, float]], cuts: list[float]) -> None:
    times, values = [0.0], [0.0]
    for seconds, gained in steps:
        times.append(times[-1] + seconds)
        values.append(values[-1] + gained)
    edges = sorted({0.0, times[-1], *(cut * times[-1] for cut in cuts)})
    found = changes(series(times, values), edges)
    assert sum(change.amount for change in found if change) == pytest.approx(values[-1])
    assert all(
        change and change.seconds == b - a for change, (a, b) in zip(found, pairwise(edges), strict=True)
    )
