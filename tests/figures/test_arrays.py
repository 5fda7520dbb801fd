"""Throughput and latency at the array over the windows of a run, against sums by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mawl.figures.arrays import arrays_block, arrays_over_time
from mawl.figures.sessions import Windows
from mawl.records.model.node import ArrayInterval, ArrayStatistics, ArrayVolume
from mawl.records.model.summary.storage import ArrayRoleFigures
from tests.fakes.stored_run import facts

WINDOWS = Windows(seconds=60.0, edges=(1000.0, 1060.0, 1120.0, 1180.0, 1240.0), active=4)


def volume(name: str, rows: list[tuple[float, float, dict[str, float]]], role: Any = "data") -> ArrayVolume:
    intervals = [ArrayInterval(at=at, seconds=seconds, **figures) for at, seconds, figures in rows]
    return ArrayVolume(array="A", name=name, role=role, intervals=intervals)


def figures(*volumes: ArrayVolume) -> tuple[ArrayRoleFigures, dict[str, str]]:
    missing: dict[str, str] = {}
    held = ArrayStatistics(files=[], volumes=list(volumes))
    block = arrays_block(facts(), None, WINDOWS, held, missing)
    assert block is not None
    return block.by_role["data"], missing


def rates(read: float, requests: float, latency: float) -> dict[str, float]:
    return {
        "read_bytes_per_second": read,
        "written_bytes_per_second": 0.0,
        "reads_per_second": requests,
        "writes_per_second": 0.0,
        "read_latency_seconds": latency,
    }


def test_means_and_peaks_are_sums_over_volumes_weighted_by_requests() -> None:
    first = volume("a", [(1000.0 + 60 * n, 60.0, rates(100.0 * n, 10.0 * n, 0.001 * n)) for n in range(1, 5)])
    second = volume("b", [(1000.0 + 60 * n, 60.0, rates(50.0, 10.0, 0.009)) for n in range(1, 5)])
    found, _ = figures(first, second)
    assert (found.volumes, found.covered_ratio) == (2, 1.0)
    assert found.array.mean_bytes_per_second == pytest.approx(250 + 50)
    assert found.array.peak_bytes_per_second == pytest.approx(450)
    waited = sum(10 * n * 0.001 * n for n in range(1, 5)) + 4 * 10 * 0.009
    assert found.array.mean_latency_seconds == pytest.approx(waited / (100 + 40))
    assert found.array.peak_latency_seconds == pytest.approx((10 * 0.001 + 10 * 0.009) / 20)
    assert found.beyond_array_seconds is None, "nothing is known of the host"


def test_intervals_that_lie_across_windows_are_spread_evenly() -> None:
    held = volume("a", [(1090.0, 120.0, rates(100.0, 1.0, 0.001)), (1330.0, 240.0, rates(300.0, 1.0, 0.001))])
    found, _ = figures(held)
    assert found.array.peak_bytes_per_second == pytest.approx(300)
    assert found.array.mean_bytes_per_second == pytest.approx(
        (60 * 100 + 30 * 100 + 30 * 300 + 120 * 300) / 240
    )


def test_statistics_of_less_than_half_the_run_are_no_figure() -> None:
    found, missing = figures(volume("a", [(1060.0, 60.0, rates(100.0, 1.0, 0.001))]))
    assert found.covered_ratio == pytest.approx(0.25)
    assert found.array.mean_bytes_per_second is None
    why = "its statistics cover 25 % of the active phase, less than half"
    assert missing["arrays.by_role.data.array.mean_bytes_per_second"] == why


def test_a_share_that_is_known_for_less_than_half_the_run_is_no_figure() -> None:
    shares = {"hit_ratio": 0.9, "saved_ratio": 0.5}
    found, missing = figures(volume("a", [(1060.0, 60.0, rates(100.0, 1.0, 0.001) | shares)]))
    assert (found.hit_ratio, found.saved_ratio) == (None, None)
    why = "its statistics cover 25 % of the active phase, less than half"
    assert missing["arrays.by_role.data.hit_ratio"] == missing["arrays.by_role.data.saved_ratio"] == why
    rows = [(1000.0 + 60 * n, 60.0, rates(100.0, 1.0, 0.001) | shares) for n in (1, 2)]
    rows += [(1000.0 + 60 * n, 60.0, rates(100.0, 1.0, 0.001)) for n in (3, 4)]
    assert figures(volume("a", rows))[0].hit_ratio == pytest.approx(0.9)
    found, missing = figures(volume("a", rows[1:]))
    assert found.covered_ratio == pytest.approx(0.75) and found.hit_ratio is None
    why = "the statistics of a volume have it for less than half of the time"
    assert missing["arrays.by_role.data.hit_ratio"] == why


def test_a_window_in_which_nothing_is_moved_has_no_latency() -> None:
    """Exact zeros after any other rates; a rest of rounding would be a latency of no request."""
    chance = random.Random(0)
    for _ in range(100):
        lengths = [chance.choice((60.0, 300.0)) for _ in range(12)]
        edges = tuple(1000.0 + sum(lengths[:n]) for n in range(13))
        moved = [
            rates(chance.uniform(1e6, 1e9), chance.uniform(1e3, 9e4), chance.uniform(3e-4, 4e-3))
            if n < 4
            else rates(0.0, 0.0, 0.0)
            for n in range(12)
        ]
        rows = list(zip(edges[1:], lengths, moved, strict=True))
        windows = Windows(seconds=300.0, edges=edges, active=12)
        found = arrays_over_time(ArrayStatistics(files=[], volumes=[volume("a", rows)]), windows)
        latencies = found["data_array_latency_seconds"]
        assert latencies[:4] == pytest.approx([one["read_latency_seconds"] for one in moved[:4]])
        assert latencies[4:] == [None] * 8
        assert found["data_array_bytes_per_second"][4:] == [0.0] * 8


def test_a_volume_without_statistics_in_a_window_makes_the_window_unknown() -> None:
    whole = volume("a", [(1000.0 + 60 * n, 60.0, rates(100.0, 1.0, 0.001)) for n in range(1, 5)])
    part = volume("b", [(1000.0 + 60 * n, 60.0, rates(1000.0, 1.0, 0.001)) for n in range(1, 4)])
    found, _ = figures(whole, part)
    assert found.covered_ratio == pytest.approx(0.75)
    assert found.array.mean_bytes_per_second == pytest.approx(1100)


def test_a_missing_latency_is_not_zero_and_an_idle_direction_is() -> None:
    idle = rates(100.0, 5.0, 0.002)
    found, _ = figures(volume("a", [(1000.0 + 60 * n, 60.0, idle) for n in range(1, 5)]))
    assert found.array.mean_latency_seconds == pytest.approx(0.002)
    writes = idle | {"writes_per_second": 5.0}
    found, _ = figures(volume("a", [(1000.0 + 60 * n, 60.0, writes) for n in range(1, 5)]))
    assert found.array.mean_latency_seconds is None
    assert found.array.mean_bytes_per_second == pytest.approx(100)


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ("arrays.json: is damaged", "arrays.json: is damaged"),
        (
            ArrayStatistics(files=[], volumes=[volume("x", [], role=None)]),
            "no volume of the array has a role",
        ),
    ],
)
def test_without_a_volume_of_a_role_there_is_a_reason(held: Any, reason: str) -> None:
    missing: dict[str, str] = {}
    assert arrays_block(facts(), None, WINDOWS, held, missing) is None
    assert missing["arrays"].startswith(reason)


def test_over_time_each_window_has_its_own_figure_or_none() -> None:
    rows = [(1000.0 + 60 * n, 60.0, rates(100.0 * n, 10.0, 0.001 * n)) for n in (1, 2, 4)]
    found = arrays_over_time(ArrayStatistics(files=[], volumes=[volume("a", rows)]), WINDOWS)
    assert found == {
        "data_array_bytes_per_second": [100, 200, None, 400],
        "data_array_latency_seconds": [
            pytest.approx(0.001),
            pytest.approx(0.002),
            None,
            pytest.approx(0.004),
        ],
    }


def test_a_volume_has_its_own_saving_and_one_without_says_so() -> None:
    every = [
        (1000.0 + 60 * n, 60.0, {"saved_ratio": 0.1 * n, "read_bytes_per_second": 8.0}) for n in range(1, 5)
    ]
    held = ArrayStatistics(
        files=[], volumes=[volume("a", every), volume("b", every[:1]), volume("c", every, role=None)]
    )
    missing: dict[str, str] = {}
    block = arrays_block(facts(), None, WINDOWS, held, missing)
    assert block is not None
    assert [(one.volume, one.role, one.read_bytes_per_second) for one in block.volumes] == [
        *(("a", "data", 8.0), ("b", "data", None)),
    ]
    assert block.volumes[0].saved_ratio == pytest.approx(0.25)
    assert block.volumes[1].saved_ratio is None
    assert "less than half" in missing["arrays.volumes.1.saved_ratio"]
    assert "arrays.volumes.0.saved_ratio" not in missing
