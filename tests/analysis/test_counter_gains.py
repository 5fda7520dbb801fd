"""Sums over a run whose samples do not cover all of it: the known part, with its seconds."""

from __future__ import annotations

from typing import Any

import pytest

from mawl.analysis.series import RunSamples
from mawl.model.records import SampleRecord
from mawl.store.columns import to_table
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
