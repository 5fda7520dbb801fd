"""A run over time beside others."""

from __future__ import annotations

import msgspec
import pytest

from mawl.figures.comparison.sides import RunOverTime, middle, run_over_time
from mawl.figures.series import MOST_POINTS
from mawl.figures.view import RunView
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.stored_run import facts


def course_of(seconds: int, rates: dict[str, Rate] | None = None) -> RunOverTime:
    """A run over time, of so many seconds."""
    found = run_over_time(RunView(facts(), four_jobs(float(seconds)), samples(seconds, rates or IDLE)))
    assert found is not None
    return found


def test_a_row_a_second_with_both_directions_together() -> None:
    found = course_of(20)
    assert found.seconds == pytest.approx([second + 0.5 for second in range(20)])
    assert found.application_bytes_per_second == pytest.approx([150e6] * 20)
    assert found.device_bytes_per_second == pytest.approx([135e6] * 20)
    assert found.jobs_running == pytest.approx([4.0] * 20)
    assert found.cpu_busy_ratio == pytest.approx([0.5] * 20)
    assert found.elapsed_seconds == 20


def test_a_burst_of_one_second_in_an_hour_is_still_there() -> None:
    burst = {**IDLE, "device.sda.read_bytes": lambda second: 9e9 if second == 2345 else 1e6}
    found = course_of(3600, burst)
    assert len(found.seconds) <= MOST_POINTS
    assert found.device_bytes_per_second is not None
    assert max(rate for rate in found.device_bytes_per_second if rate is not None) > 8e9


def test_what_was_not_measured_is_none() -> None:
    plain = {name: rate for name, rate in IDLE.items() if not name.startswith(("application_", "host.cpu_"))}
    found = course_of(20, plain)
    assert found.application_bytes_per_second is None
    assert found.cpu_busy_ratio is None
    gap = samples(40, IDLE, skip=range(10, 30))
    whole = run_over_time(RunView(facts(), four_jobs(40.0), gap))
    assert whole is not None and whole.device_bytes_per_second is not None
    assert whole.device_bytes_per_second[5] is not None
    assert None in whole.device_bytes_per_second


def test_without_samples_or_times_there_is_no_course() -> None:
    assert run_over_time(RunView(facts(), four_jobs(20.0))) is None
    assert run_over_time(RunView(facts(), [], samples(10, IDLE))) is None


def test_the_run_of_median_elapsed_time_stands_for_its_side() -> None:
    plain = course_of(20)
    runs = [
        msgspec.structs.replace(plain, run_id=name, elapsed_seconds=elapsed)
        for name, elapsed in (("slow", 90.0), ("quick", 10.0), ("usual", 20.0), ("long", 25.0))
    ]
    assert middle(runs) is runs[2]
    assert middle(runs[:3]) is runs[2]
    assert middle([]) is None


def test_latency_is_time_over_requests_at_all_devices_of_the_roles() -> None:
    requests: dict[str, Rate] = {
        "device.sda.reads": 100.0,
        "device.sda.writes": 50.0,
        "device.sda.read_seconds": 0.2,
        "device.sda.write_seconds": 0.4,
    }
    assert course_of(20).device_latency_seconds is None
    assert course_of(20, {**IDLE, **requests}).device_latency_seconds == pytest.approx([0.6 / 150] * 20)
    whole: dict[str, Rate] = {"device.sda.requests": 10.0, "device.sda.request_seconds": 0.05}
    assert course_of(20, {**IDLE, **whole}).device_latency_seconds == pytest.approx([0.005] * 20)
    del requests["device.sda.write_seconds"]
    assert course_of(20, {**IDLE, **requests}).device_latency_seconds is None
    idle: dict[str, Rate] = {**requests, "device.sda.write_seconds": 0.0}
    none_moved = {**IDLE, **idle, "device.sda.reads": 0.0, "device.sda.writes": 0.0}
    assert course_of(20, none_moved).device_latency_seconds is None
