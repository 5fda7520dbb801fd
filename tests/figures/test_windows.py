"""Windows tile a run, and its figures over them are those that its samples were made with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.sessions import MOST_TAIL_WINDOWS, Timeline, initial_edges, window_seconds, windows_of
from mawl.figures.throughput import cores_of
from mawl.records.model.records import JobRecord
from tests.fakes.measured_run import IDLE, Rate, four_jobs, samples
from tests.fakes.stored_run import START, facts, job
from tests.fakes.views import summary_of


def line(active: float, tail: float = 0.0) -> Timeline:
    return Timeline(
        started_at=START,
        ended_at=START + active + tail,
        active_seconds=active,
        peak_concurrent=1,
        mean_concurrent=1.0,
        seconds_near_peak=active,
    )


@given(st.floats(0.01, 1e5), st.one_of(st.just(0.0), st.floats(0.01, 1e5)))
def test_windows_tile_both_phases_without_gap_or_overlap(active: float, tail: float) -> None:
    windows = windows_of(line(active, tail))
    assert windows.edges[0] == START
    assert windows.active_edges[-1] == pytest.approx(START + active, abs=1e-6)
    assert windows.edges[-1] == pytest.approx(START + active + tail, abs=1e-6)
    assert all(start < end for start, end in pairwise(windows.edges))
    lengths = [end - start for start, end in pairwise(windows.edges)]
    assert max(lengths[: windows.active]) < 1.5 * windows.seconds + 1e-6
    assert max(lengths) < 1.5 * max(windows.seconds, tail / MOST_TAIL_WINDOWS) + 1e-6
    if active >= windows.seconds:
        assert min(lengths[: windows.active]) >= 0.5 * windows.seconds - 1e-6


def test_a_window_is_a_hundredth_of_the_active_phase_and_five_seconds_at_least() -> None:
    assert window_seconds(60.0) == window_seconds(500.0) == 5.0
    assert window_seconds(7200.0) == 72.0
    assert windows_of(line(7200.0)).active == 100


def test_a_tail_of_years_has_few_windows_which_end_with_it() -> None:
    found = windows_of(line(60.0, 40 * 365.0 * 86400))
    assert found.active == 12 and len(found.edges) <= 12 + 1 + MOST_TAIL_WINDOWS
    assert found.edges[-1] == pytest.approx(found.edges[0] + 60.0 + 40 * 365.0 * 86400)


def summary(seconds: int, jobs: list[JobRecord] | None = None, **changes: Rate) -> dict[str, Any]:
    named = {name.replace("__", "."): rate for name, rate in changes.items()}
    return summary_of(facts(), jobs or four_jobs(seconds), samples=samples(seconds, {**IDLE, **named}))


def test_steady_rates_are_peak_initial_sustained_and_mean() -> None:
    io = summary(60)["io"]
    for figure in ("peak", "initial", "sustained", "lowest", "active_mean"):
        assert io["application"][figure] == pytest.approx(
            {"read_bytes_per_second": 100e6, "write_bytes_per_second": 50e6, "total_bytes_per_second": 150e6}
        )
        assert io["device"][figure]["total_bytes_per_second"] == pytest.approx(135e6)
    assert io["device"]["window_seconds"] == 5.0
    assert io["device"]["sustained_bytes_per_second_per_core"] == pytest.approx(135e6 / 2)


def test_sustained_is_the_median_window_and_peak_the_highest() -> None:
    # Windows of 5 s: one at 300 MB/s, seven at 80, four at 40.
    def read(second: float) -> float:
        return 300e6 if second < 5 else 80e6 if second < 40 else 40e6

    application = summary(60, application_read_bytes=read)["io"]["application"]
    assert application["peak"]["read_bytes_per_second"] == pytest.approx(300e6)
    assert application["sustained"]["read_bytes_per_second"] == pytest.approx(80e6)
    assert application["lowest"]["read_bytes_per_second"] == pytest.approx(40e6)
    assert application["active_mean"]["read_bytes_per_second"] == pytest.approx(
        (5 * 300e6 + 35 * 80e6 + 20 * 40e6) / 60
    )


def test_the_initial_window_lies_across_the_others_and_may_be_the_peak() -> None:
    # All jobs of the first stages run from 2.5 s on; the windows of the run meet at 5 s.
    def read(second: float) -> float:
        return 200e6 if 2.5 <= second < 7.5 else 50e6

    jobs = [
        msgspec.structs.replace(job, started_at=START + at * 2.5 / 3) for at, job in enumerate(four_jobs(60))
    ]
    application = summary(60, jobs, application_read_bytes=read)["io"]["application"]
    assert application["initial"]["read_bytes_per_second"] > 1.2 * 125e6
    assert application["peak"] == application["initial"]


def test_the_peak_of_the_total_is_of_one_window() -> None:
    io = summary(
        60,
        application_read_bytes=lambda second: 200e6 if second < 10 else 10e6,
        application_written_bytes=lambda second: 5e6 if second < 50 else 100e6,
    )["io"]["application"]["peak"]
    assert io["read_bytes_per_second"] == pytest.approx(200e6)
    assert io["write_bytes_per_second"] == pytest.approx(100e6)
    assert io["total_bytes_per_second"] == pytest.approx(205e6)


def test_the_initial_window_begins_when_the_last_first_stage_job_started() -> None:
    jobs = four_jobs(60)
    jobs[3] = job("s4-1", 12.0, 60.0)
    io = summary(60, jobs, application_read_bytes=lambda second: 10e6 if second < 12 else 90e6)["io"]
    assert io["application"]["initial"]["read_bytes_per_second"] == pytest.approx(90e6)
    assert initial_edges(jobs, windows_of(line(60.0))) == (START + 12.0, START + 17.0)


def test_no_initial_window_where_a_first_stage_job_never_started() -> None:
    jobs = [*four_jobs(60), job("s1-1", 0.0, 1.0, outcome="not_started", started_at=None, ended_at=None)]
    found = summary(60, jobs)
    assert found["io"]["device"]["initial"]["read_bytes_per_second"] is None
    reason = found["missing"]["io.device.initial.read_bytes_per_second"]
    assert reason == "not every job of the first stages started"


def test_the_tail_is_not_in_what_is_sustained() -> None:
    jobs = [job(f"s{number}-1", 0.0, 50.0) for number in range(1, 5)] + [job("s4-2", 0.0, 100.0)]
    found = summary(100, jobs, application_read_bytes=lambda second: 100e6 if second < 50 else 2e6)
    assert found["io"]["application"]["sustained"]["read_bytes_per_second"] == pytest.approx(100e6)
    assert found["io"]["application"]["lowest"]["read_bytes_per_second"] == pytest.approx(100e6)
    assert [window["phase"] for window in found["windows"]] == ["active"] * 10 + ["tail"] * 10


def test_a_tail_shorter_than_half_a_window_is_no_peak() -> None:
    def read(second: float) -> float:
        return 500e6 if second >= 50 else 100e6

    jobs = [job(f"s{number}-1", 0.0, 50.0) for number in range(1, 5)]
    short = summary(55, [*jobs, job("s4-2", 0.0, 52.0)], application_read_bytes=read)
    assert [window["length_seconds"] for window in short["windows"]][-1] == pytest.approx(2.0)
    assert short["io"]["application"]["peak"]["read_bytes_per_second"] == pytest.approx(100e6)
    long = summary(55, [*jobs, job("s4-2", 0.0, 53.0)], application_read_bytes=read)
    assert long["io"]["application"]["peak"]["read_bytes_per_second"] == pytest.approx(500e6)


def test_a_run_shorter_than_half_a_window_has_its_own_peak() -> None:
    found = summary(2, four_jobs(2), application_read_bytes=lambda second: 100e6)
    for figure in ("peak", "lowest"):
        assert found["io"]["application"][figure]["read_bytes_per_second"] == pytest.approx(100e6)


def test_a_run_without_samples_has_no_windows_and_says_why() -> None:
    found = summary_of(facts(), four_jobs(60))
    assert found["windows"] == []
    assert found["io"]["device"]["peak"]["total_bytes_per_second"] is None
    assert "samples" in found["missing"]["io.device.peak.total_bytes_per_second"]


def test_cores_of_unlike_basis_make_no_figure_per_core() -> None:
    node = facts().nodes[0]
    other = msgspec.structs.replace(node, name="b", core_basis="physical core")
    found = summary_of(facts(nodes=[node, other]), four_jobs(60), samples=samples(60, IDLE))
    assert found["io"]["device"]["sustained_bytes_per_second_per_core"] is None
    assert "basis" in found["missing"]["io.device.sustained_bytes_per_second_per_core"]


def test_processors_that_the_run_was_held_to_are_its_cores() -> None:
    node = msgspec.structs.replace(facts().nodes[0], cpus_used=[3])
    found = summary_of(facts(nodes=[node]), four_jobs(60), samples=samples(60, IDLE))
    assert found["io"]["device"]["sustained_bytes_per_second_per_core"] == pytest.approx(135e6)


@pytest.mark.parametrize(
    ("basis", "held", "cores"),
    [
        ("vCPU", [{"cpu_quota": 0.5}], 0.5),
        ("physical core", [{"cpu_quota": 1.0}], 0.5),
        ("vCPU", [{"cpu_quota": 0.5}, {"cpu_quota": 1.0}], 1.5),
        ("vCPU", [{"cpu_quota": 1.5}, {"cpu_quota": 3.5}], 2.0),
        ("vCPU", [{"cpu_quota": 0.5}, {}], 2.0),
        ("vCPU", [{"cpus_used": [0]}, {"cpus_used": [0]}], 1.0),
        ("vCPU", [{"cpus_used": [0, 1, 2]}, {"cpus_used": [0, 1, 2]}], 3.0),
    ],
)
def test_a_cpu_quota_leaves_a_part_of_the_cores_to_all_nodes_of_a_machine(
    basis: str, held: list[dict[str, Any]], cores: float
) -> None:
    """Two cores of two threads each, or 4 vCPUs of which the machine says that it has 2 cores."""
    node = msgspec.structs.replace(facts().nodes[0], core_basis=basis, cores=2, logical_cpus=4)
    nodes = [
        msgspec.structs.replace(node, name=f"n{number}", same_machine_as="n0" if number else None, **one)
        for number, one in enumerate(held)
    ]
    assert cores_of(facts(nodes=nodes))[0] == cores
