"""What jobs waited for, window by window."""

from __future__ import annotations

import pytest

from mawl.figures.sessions import timeline, windows_of
from mawl.figures.throughput import APPLICATION
from mawl.figures.window_states import busy_cores, moments, peak_latencies
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.stored_run import facts
from tests.fakes.views import summary_of


def test_the_windows_of_a_run_hold_what_was_sampled() -> None:
    of: dict[str, Rate] = {
        **IDLE,
        "jobs.on_cpu_seconds": 1.0,
        "jobs.run_queue_seconds": 0.5,
        "role.work.waited_seconds": 1.5,
        "role.util.waited_seconds": 0.5,
        "host.pressure_io_some_seconds": 0.25,
        "role.work.read_seconds": lambda second: 2.0 if second < 5 else 1.0,
        "role.work.reads": 500.0,
    }
    window = summary_of(facts(), four_jobs(60), samples=samples(60, of))["windows"][3]
    assert (window["start_seconds"], window["length_seconds"]) == pytest.approx((15.0, 5.0))
    assert (window["jobs_running"], window["jobs_on_cpu"]) == pytest.approx((4.0, 1.0))
    blocked = {"data": 0.0, "work": 1.5, "util": 0.5, "other": 0.5, "unknown": 0.0}
    assert window["jobs_blocked"] == pytest.approx(blocked)
    assert window["reach"] == pytest.approx({"read_ratio": 0.9, "write_ratio": 0.9})
    assert window["latency"]["work"] == {"read_seconds": pytest.approx(0.002), "write_seconds": None}
    assert window["cpu_busy_ratio"] == pytest.approx(0.5)
    assert window["pressure"]["io_some_ratio"] == pytest.approx(0.25)


def test_an_older_run_has_windows_of_bytes_alone() -> None:
    older = {name: rate for name, rate in IDLE.items() if not name.startswith(("jobs.", "role.", "host."))}
    found = summary_of(facts(), four_jobs(60), samples=samples(60, older))
    assert found["windows"][0]["application_read_bytes_per_second"] == pytest.approx(100e6)
    assert set(found["windows"][0]["jobs_blocked"].values()) == {None}
    assert found["missing"]["windows.*.jobs_blocked.work"]


def test_busy_cores_are_those_of_the_active_phase() -> None:
    line = timeline(four_jobs(60), 4)
    assert line is not None
    assert busy_cores(samples(60, IDLE), windows_of(line)) == pytest.approx(4.0)
    assert len(moments(samples(60, IDLE), windows_of(line), APPLICATION)) == 12


def test_the_peak_of_the_latency_is_the_highest_window_mean() -> None:
    # 5 s of calls of 8 ms, among them one of a second; all others take 1 ms.
    of: dict[str, Rate] = {
        **IDLE,
        "role.util.write_seconds": lambda second: 0.8 if 20 <= second < 25 else 0.1,
        "role.util.writes": 100.0,
    }
    line = timeline(four_jobs(60), 4)
    assert line is not None
    peaks = peak_latencies(moments(samples(60, of), windows_of(line), APPLICATION))
    assert peaks["util"] == {"read": None, "write": pytest.approx(0.008)}
