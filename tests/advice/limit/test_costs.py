"""What a cause cost: whether storage lacked bandwidth or took long, and what unseen I/O leaves open."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mawl.advice.judge import judged
from mawl.advice.limit.costs import named
from mawl.advice.limit.verdict import OPEN_SECOND
from mawl.figures.view import RunView
from mawl.records.model.node import IoCap
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import VolumeFacts
from mawl.records.model.summary.judgement import Cause
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role
from tests.fakes.measured_run import AT_REFERENCE, IDLE, WORKLOAD, Rate, reading_of, samples
from tests.fakes.stored_run import facts

CAP = 100_000_000


def volume(role: Role, device: str, cap: int | None) -> VolumeFacts:
    caps = [
        IoCap(device=device, direction=way, bytes_per_second=cap, file=f"/{device}/{way}", carries=[device])
        for way in ("read", "write")
        if cap is not None
    ]
    return VolumeFacts(
        role=role, node="bench1", directory=f"/{role}/{device}", devices=[device], disks=[device], caps=caps
    )


def run_of(volumes: list[VolumeFacts], rates: dict[str, Rate], jobs: list[JobRecord] | None = None) -> Judged:
    """Judged: four jobs of a minute, whose calls were reads and writes alike, with these samples."""
    devices = {device for one in volumes for device in one.devices}
    calls = {f"role.{role}.{way}_seconds": 1.0 for role in ROLES for way in ("read", "write")}
    moved = {f"device.{name}.{way}_bytes": 0.0 for name in devices for way in ("read", "written")}
    of = facts(workload=WORKLOAD, outcome="completed", volumes=volumes, planned_jobs=AT_REFERENCE)
    every: dict[str, Rate] = {"jobs.on_cpu_seconds": 1.0, **calls, **moved, **rates}
    reading = reading_of(every, of=of)
    return judged(reading if jobs is None else RunView(of, jobs, samples(60, {**IDLE, **every})))


def kind(volumes: list[VolumeFacts], rates: dict[str, Rate]) -> str | None:
    limit = run_of(volumes, rates).limit
    assert limit is not None
    return next(cost.kind for cost in limit.costs if cost.resource == "storage")


def both(device: str, rate: float) -> dict[str, Rate]:
    return {f"device.{device}.{way}_bytes": rate for way in ("read", "written")}


@pytest.mark.parametrize(
    ("waited", "rate", "found"),
    [(2.0, 0.9, "bandwidth"), (2.0, 0.4, "latency"), (0.5, 0.45, "bandwidth"), (0.5, 0.2, "latency")],
)
def test_a_device_lacks_bandwidth_where_it_moved_what_it_can_while_jobs_waited(
    waited: float, rate: float, found: str
) -> None:
    """Half a job waits in each direction of a device that idles half of the time."""
    rates: dict[str, Rate] = {"role.work.waited_seconds": 2.0 * waited, **both("sda", rate * CAP)}
    assert kind([volume("work", "sda", CAP)], rates) == found


def test_jobs_that_wait_all_at_once_fill_a_device_for_a_part_of_each_window() -> None:
    """Two of five seconds at the cap with four waiting jobs: the mean of a window is 0.4 of the cap."""
    burst: dict[str, Rate] = {"role.work.waited_seconds": lambda second: 4.0 * (second % 5 < 2)}
    moved: dict[str, Rate] = {
        f"device.sda.{way}_bytes": lambda second: CAP * (second % 5 < 2) for way in ("read", "written")
    }
    assert kind([volume("work", "sda", CAP)], {**burst, **moved}) is None


def test_roles_on_one_device_wait_for_it_together() -> None:
    """Each with 0.6 jobs: the device is in use all the time, and moves half of what it can."""
    waits: dict[str, Rate] = {f"role.{role}.waited_seconds": 0.8 for role in ("work", "util")}
    volumes = [volume("work", "sda", CAP), volume("util", "sda", CAP)]
    assert kind(volumes, {**waits, **both("sda", 0.5 * CAP)}) == "latency"
    assert kind(volumes, {**waits, **both("sda", 0.79 * CAP)}) == "bandwidth"


def test_a_window_in_which_the_direction_of_a_wait_is_unknown_says_nothing() -> None:
    """Jobs wait for util, whose calls say neither reads nor writes: work alone would be bandwidth."""
    rates: dict[str, Rate] = {"role.work.waited_seconds": 1.2, "role.util.waited_seconds": 0.8}
    rates |= {**both("sda", 0.5 * CAP), **{f"role.util.{way}_seconds": 0.0 for way in ("read", "write")}}
    assert kind([volume("work", "sda", CAP), volume("util", "sda", CAP)], rates) is None


def test_of_several_devices_one_may_have_been_full() -> None:
    """Two directories: jobs wait for one of them, and what both moved is half of what both can."""
    volumes = [volume("work", "sda", CAP), volume("work", "sdb", CAP)]
    waits: dict[str, Rate] = {"role.work.waited_seconds": 3.0}
    assert kind(volumes, {**waits, **both("sda", CAP)}) is None
    assert kind(volumes, {**waits, **both("sda", CAP), **both("sdb", CAP)}) == "bandwidth"
    seldom: dict[str, Rate] = {"role.work.waited_seconds": 1.0}
    assert kind(volumes, {**seldom, **both("sda", CAP / 4), **both("sdb", CAP / 4)}) == "bandwidth"


def test_without_a_cap_more_waiting_jobs_show_it_where_the_device_moved_something() -> None:
    volumes = [volume("work", "sda", None)]
    waits: dict[str, Rate] = {"role.work.waited_seconds": lambda second: 2.1 if second < 30 else 3.0}

    def moved(few: float, many: float) -> dict[str, Rate]:
        return {"device.sda.read_bytes": lambda second: few if second < 30 else many}

    assert kind(volumes, {**waits, **moved(40e6, 57e6)}) == "latency"
    assert kind(volumes, {**waits, **moved(40e6, 41e6)}) == "bandwidth"
    assert kind(volumes, {**waits, **moved(40e6, 0.0)}) is None
    assert kind(volumes, {**waits, **moved(0.0, 40e6)}) is None


def run_with_one_unseen(waits: dict[str, float], remark: str | None = "static") -> Judged:
    """Three jobs that waited so long, and one that slept for its minute unseen."""
    seen = Waits(on_cpu_seconds=60.0 - sum(waits.values()), **waits)
    unseen = Waits(on_cpu_seconds=0.0, run_queue_seconds=0.0)
    jobs = [replace(one, waits=seen) for one in reading_of().jobs]
    if remark is not None:
        jobs[0] = replace(jobs[0], waits=unseen, io_remark=remark)
    volumes = [volume("data", "sda", None), volume("work", "sdb", None), volume("util", "sdb", None)]
    rates: dict[str, Rate] = {
        f"role.{name.split('_')[1]}.waited_seconds": seconds / 20.0
        for name, seconds in waits.items()
        if name.startswith("blocked")
    }
    rates["jobs.on_cpu_seconds"] = (seen.on_cpu_seconds or 0.0) / 20.0
    return run_of(volumes, {**rates, "jobs.run_queue_seconds": waits["run_queue_seconds"] / 20.0}, jobs)


def test_unseen_io_may_have_been_in_any_role() -> None:
    """Data cost 25 %, work 21 %, and 25 % slept unseen: it may be work."""
    close = {"run_queue_seconds": 0.0, "blocked_data_seconds": 20.0, "blocked_work_seconds": 17.0}
    found = run_with_one_unseen(close)
    assert found.limit is None
    assert found.missing["limit"].startswith("mawl did not see what 1 job waited for")
    clear = {"run_queue_seconds": 0.0, "blocked_data_seconds": 50.0, "blocked_work_seconds": 2.0}
    limit = run_with_one_unseen(clear).limit
    assert limit is not None and (limit.verdict, limit.role, limit.second) == ("storage", "data", None)


def test_a_second_cause_is_named_only_if_it_is_the_second_at_each_end() -> None:
    """Work and util on one device cost most, then the run queue; data may have cost more than that."""
    waits = {"run_queue_seconds": 12.0, "blocked_data_seconds": 9.0, "blocked_work_seconds": 37.0}
    open_ = run_with_one_unseen(waits)
    assert open_.limit is not None and (open_.limit.verdict, open_.limit.second) == ("storage", None)
    assert open_.missing["limit.second"] == OPEN_SECOND
    seen = run_with_one_unseen(waits, remark=None).limit
    assert seen is not None and (seen.verdict, seen.second) == ("storage", "cpu")


@pytest.mark.parametrize(
    ("queue", "speed", "found"), [(0.21, 0.1, "queue"), (0.1, 0.21, "speed"), (0.2, 0.11, None)]
)
def test_processors_are_too_few_or_too_slow_where_that_cost_twice_as_much(
    queue: float, speed: float, found: str | None
) -> None:
    waits = Waits(on_cpu_seconds=59.5 * (1.0 - queue), run_queue_seconds=59.5 * queue)
    jobs = [replace(one, waits=waits) for one in reading_of().jobs]
    of = facts(
        workload=WORKLOAD,
        outcome="completed",
        planned_jobs=[replace(one, reference_seconds=59.5 * (1.0 - queue - speed)) for one in AT_REFERENCE],
    )
    rates: dict[str, Rate] = {"jobs.on_cpu_seconds": 4 - 4 * queue, "jobs.run_queue_seconds": 4 * queue}
    limit = judged(RunView(of, jobs, samples(60, {**IDLE, **rates}))).limit
    assert limit is not None and limit.costs[0].kind == found
    assert limit.costs[0].share_ratio == pytest.approx(queue + speed)


def test_behind_storage_only_a_queue_is_named_from_less_than_half_on() -> None:
    storage = Cause(resource="storage", share_ratio=0.5)
    cpu = Cause(resource="cpu", share_ratio=0.2, kind="queue")
    assert named([storage, cpu]) == [storage, cpu]
    assert named([storage, replace(cpu, kind="speed")]) == [storage]
