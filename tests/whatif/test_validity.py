"""What a question changes of a run's system, which of it has a range, and what stays unknown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.errors import UsageError
from mawl.plan.spec import WorkloadSpec
from mawl.plan.workload import Plan
from mawl.records.model.run import CacheFacts, NodeFacts
from mawl.records.spec import toml
from mawl.records.spec.program_options import CacheMode, Role
from mawl.records.store import Run, open_run
from mawl.records.store.files import PLAN
from mawl.simulation.error_range import BedKind, bed_ratios, central_range
from mawl.simulation.forecast import Base, Question, bounded_seconds, predict
from mawl.simulation.measured_system import MEMORY_PATH, UNKNOWN_MEMORY_SOURCE
from mawl.simulation.recorded_demand import NO_CPU
from mawl.simulation.scenario import Scenario, at_scale
from mawl.simulation.system import System, parse_change
from mawl.whatif.answer import doubling, rates_of, validity_of
from mawl.whatif.folder import Label, write_folder
from mawl.whatif.records import ElapsedRange, ForecastValidity
from tests.fakes.fitted import based_on, written
from tests.fakes.stored_run import facts
from tests.simulation.scenes import demands, device, flow, plan, scenario, step, system

OWN = system(device(), cores=2)
SCALE = 0.01
"""Of the plans; at full scale the model of the page cache replays two million requests."""


def scene(*, blocked: float = 0.2, **more: Any) -> Scenario:
    """Three sessions of two jobs on one disk; ``more`` is of every step."""
    jobs = {
        f"s{number}-{place}": [step(0.5, flow(100), flow(50, direction="read"), blocked=blocked, **more)]
        for number in range(1, 4)
        for place in range(1, 3)
    }
    sessions = [[[f"s{number}-{place}"] for place in range(1, 3)] for number in range(1, 4)]
    return scenario(OWN, plan(sessions), demands(jobs))


def stored(folder: Path, of: Scenario) -> Run:
    source = facts(nodes=[NodeFacts(name="node1", cores=2, core_basis="vCPU")], planned_jobs=[])
    return written(folder, of, source)[0]


def base(
    folder: Path, own: System | None = OWN, of: Scenario | None = None, cache: CacheMode | None = None
) -> Base:
    made = stored(folder, of or scene())
    found = based_on(made, own)
    facts_of = msgspec.structs.replace(found.facts, cache=CacheFacts(mode=cache, input_bytes=10**9))
    return replace(found, facts=facts_of, plans=tuple(at_scale(one, SCALE) for one in found.plans))


def elapsed(found: Base, question: Question) -> float:
    return predict(found, question)[1].elapsed_seconds


def validity(found: Base, question: Question) -> ForecastValidity:
    made, outcome = predict(found, question)
    return validity_of(found, question, made, outcome.elapsed_seconds)


def asked(*changes: str) -> Question:
    return Question(changes=[parse_change(text) for text in changes])


def test_a_device_of_the_same_name_that_is_described_otherwise_is_another(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    same = elapsed(found, Question(system=OWN))
    assert same == elapsed(found, Question())
    assert elapsed(found, Question(system=system(device(rate=800.0), cores=2))) < 0.8 * same


def test_an_unchanged_device_stays_as_calibration_found_it(tmp_path: Path) -> None:
    slow = system(device(rate=60.0), cores=2)
    found = base(tmp_path / "run", own=slow)
    assert found.own.device("disk") != found.seen.device("disk") == slow.device("disk")
    made, _ = predict(found, Question(system=replace(slow, name="again")))
    assert made.system.device("disk") == found.own.device("disk")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("disk.latency=1", "latency of the devices of work differs"),
        ("disk.requests=1000", "the bound on requests of the devices of data differs"),
        ("disk.spinning_streams=4", "how throughput falls with streams of the devices of util differs"),
        ("fabric=1GB", "how far fabric lies from what was measured is not known"),
        ("link=1GB", "how far link lies from what was measured is not known"),
        ("cores=8", "cores is 4 times the measured"),
    ],
)
def test_what_differs_beside_bandwidth_has_no_range(tmp_path: Path, change: str, said: str) -> None:
    found = base(tmp_path / "run")
    assert validity(found, asked("disk.read=150MB")).range.low_seconds is not None
    block = validity(found, asked(change))
    assert block.range == ElapsedRange(low_seconds=None, high_seconds=None)
    assert any(said in reason for reason in block.reasons)


@pytest.mark.parametrize(
    ("change", "beyond", "cache"),
    [
        ("cores=1", "cores=0.5", "none"),
        ("disk.latency=0.005", "disk.latency=0.05", "none"),
        ("memory=8GiB", "memory=7GiB", "cold"),
        ("memory=48GiB", "memory=50GiB", None),
    ],
)
def test_changes_as_on_the_drawn_beds_have_a_range(
    tmp_path: Path, change: str, beyond: str, cache: CacheMode | None
) -> None:
    """One core in place of two, requests some milliseconds late; with a page cache half to three times the
    memory."""
    found = base(tmp_path / "run", cache=cache)
    assert validity(found, asked(change)).range.low_seconds is not None
    assert validity(found, asked(beyond)).range.low_seconds is None
    other = base(tmp_path / "other", cache="none" if cache != "none" else "cold")
    assert validity(other, asked(change)).range.low_seconds is None


@pytest.mark.parametrize(
    ("change", "cache", "kind"),
    [
        ("disk.read=150MB", "none", "uncached"),
        ("disk.read=150MB", "cold", "cached"),
        ("memory=8GiB", "cold", "memory"),
    ],
)
def test_the_range_is_that_of_beds_with_the_cache_and_the_change(
    tmp_path: Path, change: str, cache: CacheMode, kind: BedKind
) -> None:
    found = base(tmp_path / "run", cache=cache)
    low, high = central_range(bed_ratios(kind, "time.elapsed_seconds"))
    block, seconds = validity(found, asked(change)).range, elapsed(found, asked(change))
    assert (block.low_seconds, block.high_seconds) == pytest.approx((low * seconds, high * seconds))


@pytest.mark.parametrize("error", [-0.05, 0.05])
def test_the_range_is_wider_where_the_model_misses_the_run_itself(tmp_path: Path, error: float) -> None:
    found = base(tmp_path / "run", cache="none")
    took = found.outcome.elapsed_seconds / (1.0 + error)
    time = msgspec.structs.replace(found.summary.time, elapsed_seconds=took)
    off = replace(found, summary=msgspec.structs.replace(found.summary, time=time))
    assert off.error_ratio == pytest.approx(error)
    pairs = [validity(of, asked("disk.read=150MB")).range for of in (found, off)]
    low, high = (getattr(pairs[1], end) / getattr(pairs[0], end) for end in ("low_seconds", "high_seconds"))
    assert (low, high) == pytest.approx((1.0, 1.0 / 0.95) if error < 0.0 else (1.0 / 1.05, 1.0))


def test_a_direction_without_bytes_has_no_part_in_how_much_differs(tmp_path: Path) -> None:
    """Nothing says what the disk can write, and nothing was written: only its reads are compared."""
    jobs = {"s1-1": [step(0.1, flow(500, direction="read"), blocked=5.0)]}
    only = scenario(OWN, plan([[["s1-1"]]]), demands(jobs))
    found = base(tmp_path / "run", own=None, of=only, cache="none")
    assert found.own.device("disk").write_bytes_per_second == 1e9 and not found.unknown
    twice = f"{2 * found.own.device('disk').read_bytes_per_second:.0f}"
    factors = validity(found, asked(f"disk.read={twice}", f"disk.write={twice}")).factors
    assert factors["storage.work"] == pytest.approx(2.0, rel=0.01)


def test_a_direction_that_differs_counts_though_both_together_are_the_same(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    before = found.own.device("disk").read_bytes_per_second
    block = validity(
        found, asked(f"disk.read={2 * before - before / 10:.0f}", f"disk.write={before / 10:.0f}")
    )
    assert block.factors["storage.work"] == pytest.approx(0.1)
    assert block.range.low_seconds is None


@pytest.mark.parametrize("figure", ["read=1MB", "write=2GB", "latency=0.005"])
def test_a_device_that_the_run_hardly_waited_for_has_no_number(tmp_path: Path, figure: str) -> None:
    """No cap, no probe, few waits: nothing says what it can do, nor what twice of it would gain."""
    disk = system(device(rate=1e5), cores=2)
    found = base(tmp_path / "run", own=None, of=replace(scene(blocked=0.02), system=disk), cache="none")
    assert found.unknown == {"disk": ["read", "write"]}
    with pytest.raises(UsageError, match=r"disk can do is not known.*mawl probe"):
        predict(found, asked(f"disk.{figure}"))
    with pytest.raises(UsageError, match="no forecast of this change"):
        predict(found, asked("data=flash"))
    made, outcome = predict(found, Question())
    (row,) = [row for row in doubling(found, made, outcome.elapsed_seconds) if row.resource == "disk"]
    assert row.gain_ratio is row.elapsed_seconds is None and "mawl probe" in (row.reason or "")
    assert {rate.bytes_per_second for rate in rates_of(found)} == {None}
    assert validity(found, asked("cores=1")).range.low_seconds is not None
    assert any("mawl probe" in reason for reason in validity(found, asked("cores=4")).reasons)


def test_faster_devices_gain_no_more_than_jobs_were_blocked_there(tmp_path: Path) -> None:
    """Described as slower than it was: the model would gain what no job waited for."""
    found = base(tmp_path / "run")
    waits: dict[Role, float] = {"data": 0.0, "work": 0.001, "util": 0.0}
    jobs = {
        name: replace(job, steps=tuple(replace(one, blocked_seconds=waits) for one in job.steps))
        for name, job in found.demand.jobs.items()
    }
    little = replace(found, demand=replace(found.demand, jobs=jobs))
    for of, gains in ((found, True), (little, False)):
        made, outcome = predict(of, Question())
        rows = {row.resource: row.gain_ratio for row in doubling(of, made, outcome.elapsed_seconds)}
        assert ((rows["disk"] or 0.0) > 0.05) is gains
    made, outcome = predict(little, asked("disk.read=8GB", "disk.write=8GB"))
    bounded = bounded_seconds(little, made, outcome.elapsed_seconds)
    assert outcome.elapsed_seconds < bounded == pytest.approx(found.outcome.elapsed_seconds, rel=0.01)


def test_a_device_set_faster_than_both_directions_together_is_that_fast(tmp_path: Path) -> None:
    """A run that waited for a device both ways gives it a bound of both: the most that it saw."""
    found = base(tmp_path / "run", own=None)
    name = found.own.devices[0].name
    rate = found.own.device(name).shared_bytes_per_second
    assert rate is not None
    question = asked(f"{name}.read={2 * rate:.0f}", f"{name}.write={2 * rate:.0f}")
    made = predict(found, question)[0].system
    assert made.device(name).shared_bytes_per_second == pytest.approx(2 * rate)
    assert made.sources[f"devices.{name}.shared_bytes_per_second"] == "assumed"
    assert elapsed(found, question) < 0.8 * elapsed(found, Question())
    assert validity(found, question).range.low_seconds is not None


def test_several_changes_at_once_and_a_low_bound_on_late_requests_have_none(tmp_path: Path) -> None:
    """Each drawn bed had one change, and its late devices at least 491 requests a second."""
    found = base(tmp_path / "run", cache="none")
    for changes in (("cores=1", "memory=8GiB"), ("cores=1", "disk.read=150MB")):
        assert any("differ at once" in one for one in validity(found, asked(*changes)).reasons)
    late = "disk.latency=0.005"
    assert validity(found, asked(late, "disk.requests=1000")).range.low_seconds is not None
    assert validity(found, asked(late, "disk.requests=10")).range.low_seconds is None


def test_a_disk_replaced_by_what_does_not_seek_has_a_range(tmp_path: Path) -> None:
    """As on the lab's bed of a disk and flash, whose forecast was compared with its run."""
    disk = system(device(spinning_streams=4.0), cores=2)
    found = base(tmp_path / "run", own=disk, of=replace(scene(), system=disk))
    assert validity(found, Question(system=OWN)).range.low_seconds is not None
    assert validity(found, asked("disk.spinning_streams=2")).range.low_seconds is None


def test_several_kinds_of_nodes_have_no_range(tmp_path: Path) -> None:
    kinds = replace(OWN, nodes=(OWN.nodes[0], replace(OWN.nodes[0], cores=4.0)))
    block = validity(base(tmp_path / "run"), Question(system=kinds))
    assert block.range.low_seconds is None
    assert any("2 kinds of nodes" in reason for reason in block.reasons)


def test_what_memory_cannot_change_is_a_reason(tmp_path: Path) -> None:
    of = scene()
    jobs = {name: replace(job, program="of_their_own") for name, job in of.jobs.items()}
    found = base(tmp_path / "run")
    assert not [reason for reason in validity(found, asked("memory=1GiB")).reasons if "declared" in reason]
    own = replace(found, plans=tuple(_of_their_own(one) for one in found.plans))
    own = replace(own, demand=replace(own.demand, jobs=jobs))
    reasons = validity(own, asked("memory=1GiB")).reasons
    assert any("the bytes of of_their_own are not declared" in reason for reason in reasons)


def _of_their_own(of: Plan) -> Plan:
    return msgspec.structs.replace(
        of,
        sessions=tuple(
            msgspec.structs.replace(
                session,
                stages=tuple(
                    tuple(msgspec.structs.replace(job, program="of_their_own") for job in stage)
                    for stage in session.stages
                ),
            )
            for session in of.sessions
        ),
    )


def test_the_folder_of_another_scale_says_so(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    made = predict(found, Question(scale_factor=2.0))
    written = write_folder(tmp_path / "twice", *made, Label(run_id="twice", source=found.facts))
    assert written.workload.scale == 2 * SCALE
    assert toml.load(tmp_path / "twice" / PLAN, WorkloadSpec).scale == 2 * SCALE
    measured, twice = (
        sum(one.device_bytes for job in jobs.values() for part in job.steps for one in part.flows)
        for jobs in (found.demand.jobs, made[0].jobs)
    )
    assert twice == pytest.approx(2 * measured)


def test_twice_of_a_device_is_twice_its_requests_too(tmp_path: Path) -> None:
    slow = system(device(requests_per_second=50.0), cores=2)
    found = base(tmp_path / "run", own=slow, of=replace(scene(), system=slow))
    made, outcome = predict(found, Question())
    rows = {row.resource: row for row in doubling(found, made, outcome.elapsed_seconds)}
    assert (rows["disk"].gain_ratio or 0.0) > 0.3


def test_what_nobody_measured_of_a_step_is_null_and_not_zero(tmp_path: Path) -> None:
    of = scene(cpu_known=False)
    jobs = {name: replace(job, memory_bytes=None) for name, job in of.jobs.items()}
    made = stored(tmp_path / "run", replace(of, jobs=jobs))
    for record in made.job_records():
        usage = record.usage
        assert (usage.cpu_seconds, usage.user_cpu_seconds, usage.system_cpu_seconds) == (None, None, None)
        assert (usage.memory_bytes, usage.os_memory_bytes) == (None, None)
    found = based_on(made, OWN)
    assert NO_CPU in found.demand.lacks
    assert {job.memory_bytes for job in found.demand.jobs.values()} == {None}
    assert validity(found, Question()).range.low_seconds is None


def test_cpu_seconds_whose_split_is_not_known_stay_a_sum(tmp_path: Path) -> None:
    made = stored(tmp_path / "run", scene(user_ratio=None))
    for record in made.job_records():
        assert (record.usage.user_cpu_seconds, record.usage.system_cpu_seconds) == (None, None)
        assert record.usage.cpu_seconds == pytest.approx(0.5)
    found = based_on(made, OWN)
    assert {part.user_ratio for job in found.demand.jobs.values() for part in job.steps} == {None}


def test_memory_that_the_run_does_not_tell_stays_unknown(tmp_path: Path) -> None:
    own = replace(OWN, sources={MEMORY_PATH: UNKNOWN_MEMORY_SOURCE})
    found = base(tmp_path / "run", own=own)
    made = predict(found, Question())
    written = write_folder(tmp_path / "again", *made, Label(run_id="again", source=found.facts))
    assert [node.memory_bytes for node in written.nodes] == [None]
    again = open_run(tmp_path / "again")
    assert based_on(again).own.sources[MEMORY_PATH] == UNKNOWN_MEMORY_SOURCE
    block = validity(found, asked("memory=1GiB"))
    assert block.factors["memory"] is None
    assert block.range.low_seconds is None
    told = predict(found, asked("memory=1GiB"))
    written = write_folder(tmp_path / "told", *told, Label(run_id="told", source=found.facts))
    assert [node.memory_bytes for node in written.nodes] == [2**30]
