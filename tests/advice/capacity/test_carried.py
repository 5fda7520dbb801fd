"""Carried or not, on runs whose stretch and throughput are known."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.advice.capacity.bounds import Bounds
from mawl.advice.capacity.carried import capacity_block
from mawl.advice.capacity.stretch import by_program, percentile, stretches
from mawl.advice.evidence import Reading
from mawl.advice.judge import judge
from mawl.model.options import ROLES
from mawl.model.run import Alone, VolumeFacts
from tests.fakes.measured_run import IDLE, WORKLOAD, four_jobs, reading_of, samples
from tests.fakes.stored_run import facts, job, jobs

FAST = {"device.sda.read_bytes": 250e6, "device.sda.written_bytes": 100e6}
"""350 MB/s over the two vCPUs of the fake."""


def alone(seconds: float, names: list[str] | None = None) -> list[Alone]:
    names = names or [f"s{number}-1" for number in range(1, 5)]
    return [Alone(program="wide_sort", jobs=names, real_time_seconds=seconds, run_id="solo")]


def block(reading: Reading, bounds: Bounds | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    missing: dict[str, str] = {}
    return capacity_block(reading, bounds or Bounds(), missing), missing


def run_of(seconds_alone: float | None, rates: dict[str, Any] | None = None, **changes: Any) -> Reading:
    own = [] if seconds_alone is None else alone(seconds_alone)
    return reading_of(rates or FAST, of=facts(outcome="completed", workload=WORKLOAD, alone=own, **changes))


def test_all_three_make_a_system_that_carries() -> None:
    capacity, _ = block(run_of(59.5 / 1.5))
    assert capacity["carried"] is True
    assert capacity["stretch"]["median"] == pytest.approx(1.5)
    assert capacity["gate"]["bytes_per_second_per_core"] == pytest.approx(175e6)
    assert capacity["gate"]["standing"] == "good"
    assert capacity["reasons"] == [
        "all 4 jobs finished",
        "median stretch 1.50 is within 2.00 (4 of 4 jobs have a time alone)",
        "sustained 175 MB/s per vCPU at the device meets 100 MB/s (good: 150 MB/s)",
    ]


def test_one_job_is_not_all_of_several() -> None:
    single = facts(outcome="completed", workload=msgspec.structs.replace(WORKLOAD, sessions=1, jobs=1))
    assert block(reading_of(of=single, jobs=four_jobs(60.0)[:1]))[0]["reasons"][0] == "its 1 job finished"


def test_a_stretch_above_the_bound_is_not_carried_unless_the_bound_is_larger() -> None:
    reading = run_of(59.5 / 3.0)
    assert block(reading)[0]["carried"] is False
    assert block(reading, Bounds(most_slowdown=3.5))[0]["carried"] is True


def test_without_a_time_alone_it_is_not_known_and_says_what_to_do() -> None:
    capacity, missing = block(run_of(None))
    assert capacity["carried"] is None
    assert "mawl run --solo" in missing["capacity.carried"]


def test_a_failed_job_is_not_carried_whatever_else_is_unknown() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="failed")
    capacity, _ = block(reading_of(jobs=some))
    assert capacity["carried"] is False
    assert "1 of 4 jobs did not finish" in capacity["reasons"][0]


@pytest.mark.parametrize(
    ("rate", "standing", "reached", "met"),
    [
        (240e6, "warn", 0.5, True),
        (320e6, "good", 0.5, True),
        (100e6, "below", 0.9, False),
        (100e6, "below", 0.5, None),
    ],
)
def test_the_gate(rate: float, standing: str, reached: float, met: bool | None) -> None:
    reading = run_of(59.0, {"device.sda.read_bytes": rate, "device.sda.written_bytes": 0.0})
    reading.summary["io"]["reach"] = {"read_ratio": reached, "write_ratio": reached}
    gate = block(reading)[0]["gate"]
    assert (gate["standing"], gate["met"], gate["core_basis"]) == (standing, met, "vCPU")


def test_stretch_by_job_and_program_over_those_that_count() -> None:
    own = [
        *alone(10.0, ["s1-1", "s2-1", "s3-1"]),
        Alone(program="census_load", jobs=["s1-2"], real_time_seconds=5.0, run_id="x"),
    ]
    found = stretches(jobs(), own)
    assert found == {"s1-1": ("wide_sort", 2.0), "s2-1": ("wide_sort", 3.0), "s1-2": ("census_load", 2.0)}
    assert by_program(found) == {"wide_sort": 2.5, "census_load": 2.0}


def test_percentiles_lie_straight_between_neighbours() -> None:
    assert percentile([1.0, 2.0, 3.0], 0.9) == pytest.approx(2.8)
    assert percentile([4.0], 0.9) == 4.0


def test_the_judged_summary_has_every_block_and_a_reason_for_every_null() -> None:
    of = facts(outcome="completed", workload=WORKLOAD, alone=alone(30.0))
    reading = reading_of(of=of)
    whole = judge(of, reading.jobs, reading.summary, samples(60, IDLE))
    assert whole["programs"]["wide_sort"]["stretch"] == pytest.approx(59.5 / 30.0)
    assert whole["limit"]["verdict"] == "none"
    assert whole["validity"]["status"] == "indicative"
    assert "limit" not in whole["missing"] and whole["missing"]["limit.second"]


@pytest.mark.parametrize(("own", "met"), [(340e6, True), (100e6, None)])
def test_bytes_of_others_do_not_meet_the_gate(own: float, met: bool | None) -> None:
    volumes = [
        VolumeFacts(role=role, node="bench1", directory=role, devices=["sdb"], layers=["sdb"], disks=["sdb"])
        for role in ROLES
    ]
    rates = {"device.sdb.read_bytes": 250e6, "device.sdb.written_bytes": 100e6}
    reading = run_of(40.0, rates, volumes=volumes)
    others = 60.0 * (350e6 - own)
    reading.summary["io"]["foreign"] |= {
        "read_bytes": others,
        "total_bytes_per_second": others / 60.0,
        "ratio": 1 - own / 350e6,
    }
    capacity, missing = block(reading)
    assert capacity["gate"]["standing"] == ("good" if met else None)
    assert capacity["gate"]["met"] is met and capacity["carried"] is met
    if met is None:
        assert "other programs moved 15.0 GB at the devices of the roles" in missing["capacity.gate.met"]


@pytest.mark.parametrize("outcome", ["interrupted", "running"])
@pytest.mark.parametrize("end", ["lost", "stopped", "not_started"])
def test_a_run_that_did_not_go_through_is_carried_or_not_by_a_job_that_failed_only(
    outcome: str, end: str
) -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome=end)
    cut = facts(outcome=outcome, workload=WORKLOAD, alone=alone(59.5 / 3.0))
    slow = {"device.sda.read_bytes": 1e6, "device.sda.written_bytes": 1e6}
    capacity, missing = block(reading_of(slow, of=cut, jobs=some))
    assert capacity["stretch"]["median"] > 2.0
    assert capacity["carried"] is None
    assert "3 of 4 jobs finished" in missing["capacity.carried"]
    some[1] = job("s2-1", 0.0, 60.0, outcome="failed")
    capacity, _ = block(reading_of(slow, of=cut, jobs=some))
    assert capacity["carried"] is False
    assert "1 of 4 jobs did not finish with a right answer" in capacity["reasons"][0]


def test_a_run_that_went_through_is_not_carried_where_a_job_was_lost() -> None:
    some = four_jobs(60.0)
    some[0] = job("s1-1", 0.0, 60.0, outcome="lost")
    capacity, _ = block(reading_of(of=facts(outcome="failed", workload=WORKLOAD), jobs=some))
    assert capacity["carried"] is False
