"""Published results per core and in shape; the signature's ranges follow from them."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.figures.published import adjusted_cpu_seconds, published_block, published_input_bytes
from mawl.records.model.published import paper_of, papers, published, published_result, thread_shares
from mawl.records.model.signature import SIGNATURE
from tests.fakes.views import plain

RANGES = {row.name: row for row in SIGNATURE}


def block(name: str) -> dict[str, Any]:
    """The block of a shipped result."""
    result = published_result(name)
    inputs = published_input_bytes(papers())
    return plain(published_block(result, paper_of(result), input_bytes=inputs, thread_shares=thread_shares()))


def test_per_core_figures_are_of_all_physical_cores() -> None:
    core = block("s822-xiv-20")["per_core"]
    assert core["cores"] == 16 and core["core_basis"] == "physical core"
    assert core["sustained_bytes_per_second"] == pytest.approx(168.75e6)
    assert core["peak_bytes_per_second"] == pytest.approx(281.25e6)
    assert core["memory_bytes"] == 4 * 2**30
    four = block("e880-ess-40gbe-4x30")["per_core"]
    assert four["cores"] == 62
    assert four["peak_bytes_per_second"] == pytest.approx(14e9 / 62)
    assert four["sessions"] == pytest.approx(120 / 62)
    assert block("e980-fs9150-4")["per_core"]["cores"] == 72


def test_processors_that_may_be_threads_give_nothing_per_core() -> None:
    core = block("dl980-flash-30")["per_core"]
    assert set(core.values()) == {None}


def test_shapes() -> None:
    shape = block("s822-xiv-20")["shape"]
    assert shape["read_ratio"] == pytest.approx(5.5 / 7.5)
    assert shape["cpu_real_ratio"] == pytest.approx(821 / 1175)
    assert shape["peak_per_sustained"] == pytest.approx(4.5 / 2.7)
    assert shape["initial_per_peak"] == pytest.approx(4.0 / 4.5)
    assert shape["jobs_per_session"] == pytest.approx(3.55)
    assert shape["active_ratio"] is None
    assert block("s822-hybrid-20")["shape"]["read_ratio"] == 0.80
    assert block("s822-hybrid-20")["shape"]["work_util_ratio"] == {"low": 0.85, "high": 0.95}
    assert block("e880-ess-40gbe-4x30")["shape"]["active_ratio"] == pytest.approx(60 / 69)


def test_raw_times_of_a_scaled_accounting_have_an_adjusted_range_and_others_have_not() -> None:
    adjusted = adjusted_cpu_seconds(published_result("e880-xiv-plain-30"), thread_shares())
    assert adjusted is not None
    assert adjusted.low == pytest.approx(1444 * 60 / 0.63)
    assert adjusted.high == pytest.approx(1444 * 60 / 0.59)
    for name in ("s822-xiv-20", "dl980-spinning-30", "e980-fs9150-4"):
        assert block(name)["time"]["adjusted_cpu_seconds"] is None


def test_blocks_hold_what_no_paper_gives_as_null() -> None:
    for result in published().values():
        one = block(result.id)
        assert one["kind"] == "published" and one["source"]["citation"]
        assert 0 not in one["shape"].values() and 0 not in one["per_core"].values()
    untuned = block("dl980-flash-untuned-30")
    assert untuned["time"]["real_time_seconds"] is None
    assert untuned["cpu_real_ratio"]["of_sums"] is None


def test_the_ranges_of_the_signature_hold_what_is_published_and_no_more() -> None:
    """The ranges of ``records.model.signature`` are these figures, rounded outwards by a tenth at most."""
    shapes = {result.id: block(result.id)["shape"] for result in published().values()}
    found = {
        "device_read_ratio": [shape["read_ratio"] for shape in shapes.values()],
        "work_util_ratio": list(shapes["s822-hybrid-20"]["work_util_ratio"].values()),
        "device_bytes_per_input_byte": [s["device_bytes_per_input_byte"] for s in shapes.values()],
        "plateau_bytes_per_core_second": [s["plateau_bytes_per_core_second"] for s in shapes.values()],
        "bytes_per_cpu_second": [s["bytes_per_cpu_second"] for s in shapes.values()],
    }
    for name, values in found.items():
        given = [value for value in values if value is not None]
        low, high = RANGES[name].low, RANGES[name].high
        assert low is not None and high is not None
        assert 0.9 * min(given) <= low <= min(given) and max(given) <= high <= 1.1 * max(given), name
    nineteen = next(paper.workload for paper in papers() if paper.source.key == "dl980-ioscale-2014")
    assert nineteen is not None and nineteen.longest_job_seconds and nineteen.shortest_job_seconds
    longest = nineteen.longest_job_seconds / nineteen.shortest_job_seconds
    row = RANGES["longest_per_shortest"]
    assert row.low is not None and row.high is not None
    assert (row.low + row.high) / 2 == pytest.approx(22) and int(longest) == 22
    assert row.high - 22 == pytest.approx(22 / 5)
    assert shapes["dl980-spinning-30"]["memory_per_job_bytes"] == pytest.approx(0.55e9, rel=0.01)
