"""Latency of requests that nothing reads ahead of: as many at a time as are under way, and none forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Flow
from mawl.simulation.recorded_demand import requests_at_once
from mawl.simulation.scenario import run_scenario
from mawl.simulation.system import System
from tests.simulation.scenes import device, flow, scenario, side_by_side, step, system

LOOK_UPS = replace(flow(8, direction="read"), request_bytes=8000.0, sequential_ratio=0.0)
"""1,000 requests at random."""
SLOW = system(device(latency_seconds=0.005, rate=1000.0))


def elapsed(asked: System, one: Flow, *, blocked: float, alone_ratio: float = 1.0) -> float:
    """On ``asked``, of a step that was blocked so long on a device of 100 MB/s without latency."""
    jobs = side_by_side([[step(0.0, one, blocked=blocked)]])
    return run_scenario(scenario(asked, *jobs), Calibration(system(), alone_ratio)).elapsed_seconds


def test_requests_under_way_at_once_share_the_latency() -> None:
    one = elapsed(SLOW, LOOK_UPS, blocked=0.08)
    assert one == pytest.approx(0.008 + 5.0)
    assert elapsed(SLOW, replace(LOOK_UPS, requests_at_once=10.0), blocked=0.08) == pytest.approx(one / 10)


def test_requests_at_once_do_not_exceed_the_rate_of_the_device() -> None:
    many = replace(LOOK_UPS, requests_at_once=1e6)
    assert elapsed(SLOW, many, blocked=0.08) == pytest.approx(0.008)


@pytest.mark.parametrize("one", [LOOK_UPS, replace(LOOK_UPS, sequential_ratio=1.0, direct_ratio=1.0)])
def test_requests_at_random_and_direct_ones_wait_though_a_full_device_hid_it(one: Flow) -> None:
    """Calibration finds no time alone where all waits come from sharing."""
    assert elapsed(SLOW, one, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008 + 5.0)


def test_buffered_writes_at_random_are_gathered_so_nobody_waits_for_each() -> None:
    writes = replace(LOOK_UPS, direction="write")
    assert elapsed(SLOW, writes, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008)
    direct = replace(writes, direct_ratio=1.0)
    assert elapsed(SLOW, direct, blocked=0.08, alone_ratio=0.0) == pytest.approx(0.008 + 5.0)


def test_a_stream_is_read_ahead_so_only_what_was_measured_tells_its_waits() -> None:
    stream = replace(LOOK_UPS, sequential_ratio=1.0)
    assert elapsed(SLOW, stream, blocked=0.0) == pytest.approx(0.008)


def test_waits_that_were_shorter_than_the_description_says_stay_shorter() -> None:
    """Of a device that is described with 5 ms but answered in half of that."""
    jobs = side_by_side([[step(0.0, LOOK_UPS, blocked=2.5)]])
    found = run_scenario(scenario(SLOW, *jobs), Calibration(SLOW, alone_ratio=0.0))
    assert found.elapsed_seconds == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("waited", "blocked", "at_once"),
    [
        (16.0, 2.0, 8.0),  # lanes, of which the first thread is one
        (2.0, 2.0, 1.0),
        (1.0, 2.0, 1.0),
        (40.0, 0.05, 4.0),  # four threads read for the whole step while the first one computes
        (1e6, 5.0, 256.0),
        (3.0, 0.0, 1.0),
        (3.0, None, 1.0),
    ],
)
def test_requests_at_once_of_a_step_of_ten_seconds(
    waited: float, blocked: float | None, at_once: float
) -> None:
    assert requests_at_once(waited, blocked, 10.0) == pytest.approx(at_once)
