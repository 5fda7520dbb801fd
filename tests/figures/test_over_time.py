"""A run over time: figures per second of counters and gauges whose rates are known."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from mawl.figures.over_time import OverTime, over_time
from mawl.figures.series import RunSamples
from tests.fakes.measured_run import IDLE, Rate, samples
from tests.fakes.stored_run import START, facts

SECONDS = 20
ROLES: dict[str, Rate] = {
    f"role.{role}.{figure}": rate
    for role in ("data", "work", "util")
    for figure, rate in {
        "reads": 100.0,
        "read_seconds": 0.5,
        "read_bytes": 1e6,
        "written_bytes": 2e6,
        "writes": 0.0,
        "write_seconds": 0.0,
        "waited_seconds": 0.5,
    }.items()
}


def course_of(some: RunSamples | None, end: float = SECONDS) -> OverTime:
    return over_time(facts(), some, (START, START + end))


def test_rates_are_per_second_and_nothing_is_made_up_for_what_is_not_there() -> None:
    found = course_of(samples(SECONDS, {"application_read_bytes": 5e6, "jobs_running": 4.0}))
    assert found.seconds.tolist() == [second + 0.5 for second in range(SECONDS)]
    assert found.columns["application_read_bytes_per_second"].tolist() == pytest.approx([5e6] * SECONDS)
    assert "device_read_bytes_per_second" not in found.columns
    assert found.having(["application_read_bytes_per_second", "cpu_user_ratio"]) == [
        "application_read_bytes_per_second"
    ]


def test_a_burst_of_one_second_is_seen_whole() -> None:
    burst = samples(SECONDS, {**IDLE, "application_read_bytes": lambda second: 9e9 if second == 7 else 0.0})
    assert course_of(burst).columns["application_read_bytes_per_second"].max() == pytest.approx(9e9)


def test_latency_is_time_over_calls_and_missing_without_calls() -> None:
    columns = course_of(samples(SECONDS, {**IDLE, **ROLES})).columns
    assert columns["work_read_latency_seconds"].tolist() == pytest.approx([0.005] * SECONDS)
    assert np.isnan(columns["work_write_latency_seconds"]).all()


def test_the_states_of_jobs_add_up_to_those_that_ran() -> None:
    rates = {**IDLE, **ROLES, "jobs.on_cpu_seconds": 1.0, "jobs.run_queue_seconds": 0.5}
    columns = course_of(samples(SECONDS, rates)).columns
    states = [
        columns[name]
        for name in (
            "jobs_on_cpu",
            "jobs_in_run_queue",
            *(f"jobs_blocked_{place}" for place in ("data", "work", "util", "other")),
        )
    ]
    assert np.sum(states, axis=0).tolist() == pytest.approx([4.0] * SECONDS)
    assert columns["jobs_blocked_data"].tolist() == pytest.approx([0.5] * SECONDS)
    assert columns["jobs_blocked_other"].tolist() == pytest.approx([1.0] * SECONDS)


def test_shares_of_processors_and_interrupts_that_count_as_the_systems() -> None:
    rates = {**IDLE, "host.cpu_system_seconds": 1.0, "host.cpu_interrupt_seconds": 1.0, "jobs_running": 1.0}
    columns = course_of(samples(SECONDS, rates)).columns
    assert columns["cpu_user_ratio"][3] == pytest.approx(0.4)
    assert columns["cpu_system_ratio"][3] == pytest.approx(0.2)


def test_looks_far_apart_leave_a_gap() -> None:
    columns = course_of(samples(40, IDLE, skip=range(10, 30)), end=40).columns
    missing = np.isnan(columns["application_read_bytes_per_second"])
    assert missing.sum() == 1 and not missing[0] and not missing[-1]


def test_a_run_without_samples_has_no_course() -> None:
    assert course_of(None).columns == {} and len(course_of(None).seconds) == 0


def test_networks_leave_the_loopback_one_out() -> None:
    rates: dict[str, Rate] = {"network.lo.received_bytes": 9e9, "network.eth0.received_bytes": 3e3}
    columns = course_of(samples(SECONDS, {**IDLE, **rates})).columns
    assert columns["network_received_bytes_per_second"][0] == pytest.approx(3e3)


def test_a_memory_limit_is_a_line_of_its_own() -> None:
    node = msgspec.structs.replace(facts().nodes[0], memory_limit_bytes=2**30)
    some = samples(60, IDLE)
    assert "memory_limit_bytes" not in over_time(facts(), some, (START, START + 60)).columns
    limited = over_time(facts(nodes=[node]), some, (START, START + 60)).columns["memory_limit_bytes"]
    assert set(limited.tolist()) == {float(2**30)}
