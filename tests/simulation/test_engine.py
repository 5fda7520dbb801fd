"""The engine against times computed by hand, and what must hold for every plan."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mawl.base.errors import UsageError
from mawl.simulation.activity import Calibration, activity
from mawl.simulation.demand import Flow, StepDemand
from mawl.simulation.engine import active_seconds
from mawl.simulation.resources import CORES, FABRIC, LINK, NodeGroup, Resources
from mawl.simulation.system import System
from tests.simulation.scenes import (
    MB,
    demands,
    device,
    flow,
    plan,
    side_by_side,
    simulated,
    step,
    system,
)

FLOWS = st.builds(
    flow,
    st.floats(1.0, 500.0),
    st.sampled_from(["data", "work", "util"]),
    st.sampled_from(["read", "write"]),
)
STEPS = st.builds(
    lambda cpu, flows, blocked: step(cpu, *flows, blocked=blocked),
    st.floats(0.0, 10.0),
    st.lists(FLOWS, max_size=2),
    st.floats(0.0, 2.0),
)
JOBS = st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=5)


def test_two_writers_share_a_disk_until_the_shorter_ends() -> None:
    """100 MB/s: 50 each until the first has its 100 MB after 2 s, then 200 MB less 100 alone in 1 s."""
    found = simulated(system(), *side_by_side([[step(0.0, flow(100))], [step(0.0, flow(200))]]))
    assert [job.ended for job in found.jobs] == pytest.approx([2.0, 3.0])
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(2.0)


def test_reads_and_writes_have_budgets_of_their_own_unless_they_share_one() -> None:
    jobs = side_by_side([[step(0.0, flow(100))], [step(0.0, flow(100, direction="read"))]])
    assert simulated(system(), *jobs).elapsed_seconds == pytest.approx(1.0)
    one = device(shared_bytes_per_second=100 * MB)
    assert simulated(system(one), *jobs).elapsed_seconds == pytest.approx(2.0)


def test_jobs_wait_for_cores_and_a_thread_is_no_faster_than_a_core() -> None:
    """Three jobs of 4 CPU seconds on two cores: 6 s; one alone on two: 4 s; on cores twice as fast: 2 s."""
    three = side_by_side([[step(4.0)]] * 3)
    found = simulated(system(cores=2), *three)
    assert found.elapsed_seconds == pytest.approx(6.0)
    assert found.jobs[0].steps[0].run_queue() == pytest.approx(2.0)
    assert found.jobs[0].steps[0].waited.keys() == {found.resources.column(0, CORES)}
    one = side_by_side([[step(4.0)]])
    assert simulated(system(cores=2), *one).elapsed_seconds == pytest.approx(4.0)
    assert simulated(system(cores=2, core_speed=2.0), *one).elapsed_seconds == pytest.approx(2.0)


def test_stages_follow_one_another_and_a_session_may_start_late() -> None:
    jobs = demands({"a": [step(1.0)], "b": [step(2.0)], "c": [step(0.5)]})
    found = simulated(system(), plan([[["a"], ["b"]], [["c"]]], s2=5.0), jobs)
    times = {job.plan.job: (job.started, job.ended) for job in found.jobs}
    assert times == {"a": (0.0, 1.0), "b": (1.0, 3.0), "c": (5.0, 5.5)}


def test_a_delay_that_ends_beside_a_running_job_starts_its_session() -> None:
    jobs = demands({"a": [step(0.0, flow(300))], "b": [step(0.0, flow(100))]})
    found = simulated(system(), plan([[["a"]], [["b"]]], s2=1.0), jobs)
    assert {job.plan.job: job.ended for job in found.jobs} == pytest.approx({"a": 4.0, "b": 3.0})


def test_nodes_share_what_is_not_local_through_link_and_fabric() -> None:
    """Four nodes with 100 MB each: 4 s by a shared 100 MB/s, 10 s by links of 10, 20 s by a fabric of 20."""
    jobs = side_by_side([[step(0.0, flow(100))]])
    shared = device("array", local=False)
    assert simulated(system(shared, count=4), *jobs).elapsed_seconds == pytest.approx(4.0)
    links = system(shared, count=4, link_bytes_per_second=10 * MB)
    assert simulated(links, *jobs).elapsed_seconds == pytest.approx(10.0)
    fabric = system(shared, count=4, link_bytes_per_second=10 * MB, fabric_bytes_per_second=20 * MB)
    found = simulated(fabric, *jobs)
    assert found.elapsed_seconds == pytest.approx(20.0)
    limits = found.recording.limits(0.0, 20.0)
    assert limits.keys() == {FABRIC}
    assert limits[FABRIC] == pytest.approx(4 * 20.0)
    assert LINK in found.resources.limits


def test_a_fabric_may_bound_both_directions_together() -> None:
    """100 MB each way: 5 s side by side in directions of 20 MB/s, 8 s where both share 25 MB/s."""
    jobs = side_by_side([[step(0.0, flow(100))], [step(0.0, flow(100, direction="read"))]])
    each = system(device("array", local=False), fabric_bytes_per_second=20 * MB)
    assert simulated(each, *jobs).elapsed_seconds == pytest.approx(5.0)
    both = replace(each, fabric_shared_bytes_per_second=25 * MB)
    found = simulated(both, *jobs)
    assert found.elapsed_seconds == pytest.approx(8.0)
    assert found.recording.limits(0.0, 8.0).keys() == {FABRIC}


def test_local_devices_are_each_node_s_own() -> None:
    jobs = side_by_side([[step(0.0, flow(100))]])
    assert simulated(system(count=1000), *jobs).elapsed_seconds == pytest.approx(1.0)


def test_a_spinning_disk_falls_with_streams() -> None:
    """Half of 100 MB/s at two streams: 200 MB take 4 s instead of 2."""
    disk = device(spinning_streams=2.0)
    assert simulated(
        system(disk), *side_by_side([[step(0.0, flow(100))]] * 2)
    ).elapsed_seconds == pytest.approx(4.0)
    assert simulated(system(disk), *side_by_side([[step(0.0, flow(100))]])).elapsed_seconds == pytest.approx(
        1.0
    )


def test_a_bound_on_requests_holds() -> None:
    slow = device(requests_per_second=10.0)
    assert simulated(system(slow), *side_by_side([[step(0.0, flow(100))]])).elapsed_seconds == pytest.approx(
        10.0
    )


def test_time_that_a_step_is_blocked_even_alone_is_added_to_its_cpu_time() -> None:
    jobs = side_by_side([[step(1.0, flow(10), blocked=2.0, other=0.5)]])
    found = simulated(system(), *jobs, alone_ratio=0.5)
    assert found.elapsed_seconds == pytest.approx(1.0 + 0.5 * 2.0 + 0.5)
    assert found.jobs[0].steps[0].blocked()["work"] == pytest.approx(1.0)


@pytest.mark.parametrize(("jobs", "volumes"), [(1, 1), (1, 4), (2, 2), (4, 2), (4, 4), (4, 8), (3, 1)])
def test_files_of_jobs_meet_on_volumes_that_they_use_in_turns(jobs: int, volumes: int) -> None:
    """Of all ways to place a job each, the mean number of volumes in use, counted; one moves 100 MB/s."""
    in_use = [len(set(places)) for places in product(range(volumes), repeat=jobs)]
    found = simulated(on_volumes(volumes), *side_by_side([[step(0.0, flow(100))]] * jobs))
    assert found.elapsed_seconds == pytest.approx(jobs / fmean(in_use))


def on_volumes(count: int, **more: Any) -> System:
    names = tuple(f"v{number}" for number in range(count))
    roles = {"data": names, "work": names, "util": names}
    return system(*(device(name, **more) for name in names), roles=roles)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(1.0, 500.0), min_size=1, max_size=6), st.integers(1, 6))
def test_one_more_volume_never_slows_and_all_have_equal_bytes(sizes: list[float], count: int) -> None:
    jobs = side_by_side([[step(0.0, flow(size))] for size in sizes])
    before, after = (simulated(on_volumes(number), *jobs) for number in (count, count + 1))
    for old, new in zip(before.jobs, after.jobs, strict=True):
        assert new.ended <= old.ended * (1 + 1e-9)
    for number in range(count):
        column = before.resources.column(0, f"v{number}", "write")
        assert column is not None
        moved = before.recording.used(0, column)[-1]
        assert moved == pytest.approx(sum(sizes) * MB / count, rel=1e-6, abs=1.0)


@settings(deadline=None, max_examples=40)
@given(JOBS, st.integers(1, 4))
def test_nobody_is_faster_beside_others_than_alone(steps: list[list[StepDemand]], volumes: int) -> None:
    """Also not where the others compute, and leave to one job what volumes give to several."""
    of = on_volumes(volumes)
    jobs = side_by_side(steps)
    for job, own in zip(simulated(of, *jobs).jobs, steps, strict=True):
        alone = simulated(of, *side_by_side([own])).elapsed_seconds
        assert job.ended - job.started >= alone * (1 - 1e-6)


def test_one_writer_among_jobs_that_compute_has_one_volume_at_a_time_and_waits_for_it() -> None:
    computing = [[step(100.0, flow(2))]] * 3
    found = simulated(on_volumes(4), *side_by_side([[step(0.0, flow(100))], *computing]))
    writer = found.jobs[0]
    assert writer.ended == pytest.approx(1.0)
    assert writer.steps[0].blocked()["work"] == pytest.approx(1.0)


def test_streams_meet_on_disks_that_they_use_in_turns() -> None:
    """While a disk is in use, for 3/4 of the time, 4/3 of two jobs are there: a quarter of requests seek."""
    found = simulated(on_volumes(2, spinning_streams=2.0), *side_by_side([[step(0.0, flow(100))]] * 2))
    assert found.elapsed_seconds == pytest.approx(200 / (2 * 100 * 0.75 / (1 + 2 * 0.25)))


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_requests_bound_a_stream_on_unlike_devices_whatever_their_bytes(rate: float) -> None:
    names = ("one", "two")
    roles = {"data": names, "work": names, "util": names}
    of = system(
        device("one", rate, requests_per_second=1000.0),
        device("two", requests_per_second=1000.0),
        roles=roles,
    )
    small = replace(flow(8), request_bytes=8000.0)
    assert simulated(of, *side_by_side([[step(0.0, small)]])).elapsed_seconds == pytest.approx(1.0)


def test_a_device_that_a_role_names_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="role work names device disk twice"):
        system(device(), roles={"data": ("disk",), "work": ("disk", "disk"), "util": ("disk",)})


def test_what_turns_over_volumes_does_not_slow_a_role_that_has_one_of_them() -> None:
    roles = {"data": ("one",), "work": ("one", "two"), "util": ("one",)}
    both = system(device("one"), device("two"), roles=roles)
    jobs = side_by_side([[step(0.0, flow(100, "util"))], [step(0.0, flow(2, "work"))]])
    assert simulated(both, *jobs).elapsed_seconds == pytest.approx(1.01)


@settings(deadline=None, max_examples=40)
@given(JOBS)
def test_work_is_conserved(steps: list[list[StepDemand]]) -> None:
    """What the resources gave is what the steps asked for, and the seconds of every job add up."""
    found = simulated(system(cores=2), *side_by_side(steps), alone_ratio=0.5)
    asked = sum(one.cpu_seconds for job in steps for one in job)
    assert found.recording.cumulative(0, "cpu")[-1] == pytest.approx(asked, abs=1e-6)
    for direction in ("read", "write"):
        moved = sum(f.device_bytes for f in _flows(steps) if f.direction == direction)
        column = found.resources.column(0, "disk", direction)
        assert column is not None
        assert found.recording.used(0, column)[-1] == pytest.approx(moved, rel=1e-6, abs=1.0)
    for job in found.jobs:
        for one in job.steps:
            waits = sum(one.blocked().values()) + one.run_queue() + one.activity.step.other_seconds
            assert one.ended - one.started == pytest.approx(one.activity.step.cpu_seconds + waits, abs=1e-6)
    in_limits = sum(found.recording.limits(0.0, found.elapsed_seconds).values())
    assert in_limits == pytest.approx(sum(job.ended - job.started for job in found.jobs), abs=1e-5)


def _flows(steps: list[list[StepDemand]]) -> list[Flow]:
    return [one for job in steps for of_step in job for one in of_step.flows]


@settings(deadline=None, max_examples=40)
@given(JOBS, st.floats(1.0, 8.0), st.sampled_from(["cores", "disk"]))
def test_more_of_a_resource_never_makes_the_longest_job_longer_than_all_in_a_row(
    steps: list[list[StepDemand]], factor: float, what: str
) -> None:
    """Fair sharing has anomalies, but none beyond what holds for everything that keeps busy."""
    own = system(cores=2)
    better = system(cores=2 * factor) if what == "cores" else system(device(rate=100.0 * factor), cores=2)
    jobs = side_by_side(steps)
    after = simulated(better, *jobs).elapsed_seconds
    row = sum(simulated(own, *side_by_side([job])).elapsed_seconds for job in steps)
    assert after <= row * (1 + 1e-6)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(1.0, 500.0), min_size=1, max_size=6), st.floats(1.0, 8.0))
def test_a_faster_disk_never_slows_jobs_that_have_only_it(sizes: list[float], factor: float) -> None:
    jobs = side_by_side([[step(0.0, flow(size))] for size in sizes])
    before = simulated(system(), *jobs)
    after = simulated(system(device(rate=100.0 * factor)), *jobs)
    for old, new in zip(before.jobs, after.jobs, strict=True):
        assert new.ended <= old.ended * (1 + 1e-9)


ALIKE_ON_TWO_VOLUMES = [
    [step(1.0, flow(1.0, "data", "read"))],
    [step(0.0, flow(5.0, "data", "read"), flow(8.0, "data", "write"))],
    [step(1.0, flow(1.0, "data", "read"), flow(50.0, "data", "write"))],
    [step(0.5, flow(13.0, "data", "read"))],
]


@settings(deadline=None, max_examples=25)
@example(ALIKE_ON_TWO_VOLUMES, 3, 2)
@given(JOBS, st.integers(2, 5), st.integers(1, 3))
def test_alike_nodes_advance_alike(steps: list[list[StepDemand]], count: int, volumes: int) -> None:
    """One node that stands for several takes as long as each of them simulated by itself."""
    of = on_volumes(volumes, local=False)
    one_kind = replace(of, nodes=(replace(of.nodes[0], count=count, cores=2.0),))
    jobs = side_by_side(steps)
    together = simulated(one_kind, *jobs)
    apart = replace(one_kind, nodes=tuple(replace(one_kind.nodes[0], count=1) for _ in range(count)))
    alone = simulated(apart, *jobs)
    assert len(alone.jobs) == count * len(together.jobs)
    assert alone.elapsed_seconds == pytest.approx(together.elapsed_seconds, rel=1e-6)


def test_the_same_scenario_gives_the_same_to_the_last_bit() -> None:
    jobs = side_by_side([[step(1.0, flow(70)), step(0.3, flow(13))]] * 7)
    first, second = (simulated(system(cores=2), *jobs) for _ in range(2))
    assert [job.ended for job in first.jobs] == [job.ended for job in second.jobs]


def test_a_role_on_unlike_devices_has_equal_bytes_on_each_and_is_longer_at_the_slower() -> None:
    own = system(device())
    unlike = system(
        device("quick", 200.0),
        device("slow", 50.0),
        roles={"data": ("quick",), "work": ("quick", "slow"), "util": ("quick",)},
    )
    resources = Resources(unlike, [NodeGroup(unlike.nodes[0], 1)])
    found = activity(step(0.0, flow(100), blocked=1.0), resources, 0, Calibration(own, 1.0))
    assert found.blocked_seconds["work"] == pytest.approx((0.5 + 2.0) / 2)
    for name, part in (("quick", 0.2), ("slow", 0.8)):
        column = resources.column(0, name, "write")
        assert column is not None
        assert found.uses.amounts[column] == 50e6
        assert found.uses.parts[column] == pytest.approx(part)
    # One after the other: 50 MB at 200 MB/s, 50 MB at 50 MB/s.
    alone = simulated(unlike, *side_by_side([[step(0.0, flow(100))]]))
    assert alone.elapsed_seconds == pytest.approx(0.25 + 1.0)


@pytest.mark.parametrize(
    ("count", "active"),
    [
        (1, 5.0),  # two jobs at once are never three: no tail by their number
        (2, 1.0),  # four jobs for 1 s, then two
        (3, 5.0),  # six jobs, then three until the end
    ],
)
def test_the_jobs_of_all_nodes_count_for_the_tail(count: int, active: float) -> None:
    outcome = simulated(system(count=count), *side_by_side([[step(1.0)], [step(5.0)]]))
    assert active_seconds(outcome, 10) == pytest.approx(active)
    assert active_seconds(outcome, 3) == outcome.elapsed_seconds == pytest.approx(5.0)
