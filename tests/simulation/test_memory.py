"""Other memory: what stays in the page cache of what a run asked for."""

from __future__ import annotations

import re
import statistics
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.spec.program_options import MIB, Options
from mawl.simulation.demand import CachedPlan, Flow, JobDemand, other_cache
from mawl.simulation.page_cache import MovedBytes, WriteBack
from mawl.simulation.reach import DeviceReach, reach_of
from tests.simulation.scenes import demands, side_by_side, step
from tools import mix

GIB = 2.0**30


def plan(workload: str = "mixed20", scale: float = 0.02, options: Options | None = None) -> Plan:
    spec, where = load_workload(workload)
    return make_plan(spec, where=where, scale=scale, options=options)


def asked(device_read: float) -> dict[str, JobDemand]:
    """One job that asked for 100 bytes of temporary tables, of which so many reached the device."""
    flow = Flow(role="work", direction="read", application_bytes=100.0, device_bytes=device_read)
    return demands({"j": [step(0.0, flow)]})


def cached(memory_bytes: float, of: Plan | None = None, **more: Any) -> CachedPlan:
    """A plan of which no job was measured."""
    return CachedPlan(plan=of or plan(), jobs={}, memory_bytes=memory_bytes, **more)


def device_bytes(jobs: dict[str, JobDemand]) -> float:
    return jobs["j"].steps[0].flows[0].device_bytes


def model(memory_bytes: float) -> MovedBytes:
    return cached(memory_bytes).reach().by_role["work"].read


def test_with_less_memory_hits_shrink_as_those_of_the_model() -> None:
    old, new = (model(memory).missed_ratio for memory in (32 * GIB, 8 * GIB))
    assert old is not None and new is not None and old < new < 1.0
    found, remarks = other_cache(asked(80.0), cached(32 * GIB), cached(8 * GIB))
    assert remarks == ()
    assert device_bytes(found) == pytest.approx(100.0 - 20.0 * (1.0 - new) / (1.0 - old))
    all_hits, _ = other_cache(asked(0.0), cached(32 * GIB), cached(8 * GIB))
    assert device_bytes(all_hits) == pytest.approx(100.0 - 100.0 * (1.0 - new) / (1.0 - old))


def test_with_more_memory_what_missed_again_shrinks_as_that_of_the_model() -> None:
    old, new = model(8 * GIB), model(32 * GIB)
    first = old.first_ratio
    assert old.missed_ratio and new.missed_ratio is not None and first is not None
    assert new.missed_ratio < old.missed_ratio
    found, _ = other_cache(asked(80.0), cached(8 * GIB), cached(32 * GIB))
    beyond = (0.8 - first) * (new.missed_ratio - first) / (old.missed_ratio - first)
    # The model's blocks are a part of the memory, so first reads differ a little from memory to memory.
    assert device_bytes(found) == pytest.approx(100.0 * (first + beyond), abs=0.1)
    enough, _ = other_cache(asked(80.0), cached(8 * GIB), cached(256 * GIB))
    assert device_bytes(enough) == pytest.approx(100.0 * first, abs=1.0)


def test_the_same_memory_and_direct_requests_stay() -> None:
    assert other_cache(asked(80.0), cached(GIB), cached(GIB)) == (asked(80.0), ())
    flow = replace(asked(100.0)["j"].steps[0].flows[0], direct_ratio=1.0)
    direct = demands({"j": [step(0.0, flow)]})
    assert other_cache(direct, cached(8 * GIB), cached(32 * GIB)) == (direct, ())


def test_links_to_a_storage_server_carry_the_changed_bytes() -> None:
    """Its own page cache keeps its part of what comes over the link."""
    flow = replace(asked(40.0)["j"].steps[0].flows[0], link_bytes=80.0)
    found, _ = other_cache(demands({"j": [step(0.0, flow)]}), cached(32 * GIB), cached(8 * GIB))
    (changed,) = found["j"].steps[0].flows
    assert changed.link_bytes == pytest.approx(
        device_bytes(other_cache(asked(80.0), cached(32 * GIB), cached(8 * GIB))[0])
    )
    assert changed.device_bytes == pytest.approx(changed.crossing_bytes / 2)


def test_programs_that_declare_no_bytes_keep_their_reach() -> None:
    (session,) = side_by_side([[]])[0].sessions
    ((job,),) = session.stages
    own = msgspec.structs.replace(job, program="of_their_own")
    sessions = (msgspec.structs.replace(session, stages=((own,),)),)
    undeclared = msgspec.structs.replace(plan(), sessions=sessions)
    assert reach_of(undeclared, GIB).read_ratio is None
    found, (remark,) = other_cache(asked(80.0), cached(GIB, undeclared), cached(8 * GIB, undeclared))
    assert found == asked(80.0)
    assert remark.endswith("the bytes of of_their_own are not declared")


def test_measured_memory_and_times_of_jobs_replace_the_declared_ones() -> None:
    """Jobs that take little memory leave more of it to the page cache; slow ones write more back."""

    def reach(memory_bytes: float, seconds: float) -> tuple[float, float]:
        steps = {
            job.job: [
                step(name=one.name, kind=one.kind, blocked=seconds) for one in CATALOGUE[job.program].steps
            ]
            for job in plan().jobs()
        }
        jobs = {name: replace(job, memory_bytes=memory_bytes) for name, job in demands(steps).items()}
        found = replace(cached(32 * GIB), jobs=jobs).reach()
        assert found.read_ratio is not None and found.write_ratio is not None
        return found.read_ratio, found.write_ratio

    assert reach(0.1 * GIB, 1.0)[0] < reach(1.0 * GIB, 1.0)[0]
    assert reach(0.1 * GIB, 1.0)[1] < reach(0.1 * GIB, 60.0)[1]


def test_a_part_of_a_machine_may_hold_as_many_dirty_pages_as_the_machine() -> None:
    """A control group limits memory and not dirty pages, so what it wrote stays longer."""
    part, whole = cached(4 * GIB), cached(4 * GIB, machine_bytes=64 * GIB)
    assert (whole.reach().write_ratio or 0.0) < (part.reach().write_ratio or 0.0)


def test_steps_have_what_the_cache_pushed_out_and_read_again_in_their_time() -> None:
    """As the model has it, times the forecast's reads over the model's."""
    steps = {job.job: [step(name=one.name) for one in CATALOGUE[job.program].steps] for job in plan().jobs()}
    name, (first, *others) = next(iter(steps.items()))
    flow = replace(asked(0.0)["j"].steps[0].flows[0], application_bytes=1e9, device_bytes=1e9)
    jobs = demands({**steps, name: [replace(first, flows=(flow,)), *others]})
    asked_for = replace(cached(4 * GIB), jobs=jobs)
    found, _ = other_cache(jobs, replace(asked_for, memory_bytes=32 * GIB), asked_for)
    signs = [one.pushed_out for job in found.values() for one in job.steps if one.pushed_out is not None]
    ways = [role.read for role in asked_for.reach().by_role.values()]
    reads = sum(one.device_bytes - one.direct_bytes for one in ways)
    again = reads - sum(one.first_bytes for one in ways)
    assert sum(one.reread_bytes for one in signs) == pytest.approx(again * 1e9 / reads)
    assert sum(one.evicted_bytes for one in signs) > again * 1e9 / reads > 0.0


def test_direct_requests_beside_cached_ones_stay_and_count_once() -> None:
    mixed = replace(asked(100.0)["j"].steps[0].flows[0], direct_ratio=0.5)
    found, _ = other_cache(demands({"j": [step(0.0, mixed)]}), cached(8 * GIB), cached(256 * GIB))
    first = model(8 * GIB).first_ratio
    assert first is not None
    assert device_bytes(found) == pytest.approx(50.0 + 50.0 * first, abs=1.0)


def test_less_memory_takes_nothing_off_what_was_read_ahead() -> None:
    """More bytes than were asked for reached the device."""
    assert device_bytes(other_cache(asked(130.0), cached(32 * GIB), cached(8 * GIB))[0]) == 130.0


def test_steps_wait_less_where_less_is_moved() -> None:
    """Waits of a role shrink with the step's bytes, those elsewhere with what the job writes in any step."""
    read = asked(80.0)["j"].steps[0].flows[0]
    written = replace(read, direction="write")
    jobs = demands({"j": [step(0.0, read, blocked=4.0), step(0.0, written), step(0.0, other=2.0)]})
    less = other_cache(jobs, cached(8 * GIB), cached(256 * GIB))[0]["j"].steps
    read_ratio, write_ratio = (one.flows[0].device_bytes / 80.0 for one in less[:2])
    assert read_ratio < 0.9 and write_ratio < 0.9
    assert less[0].blocked_seconds["work"] == pytest.approx(4.0 * read_ratio)
    assert less[2].other_seconds == pytest.approx(2.0 * write_ratio)
    same = other_cache(jobs, cached(32 * GIB), cached(8 * GIB))[0]["j"].steps
    assert (same[0].blocked_seconds["work"], same[2].other_seconds) == (4.0, 2.0)


def test_direct_writes_do_not_take_off_the_waits_of_others() -> None:
    """Of direct requests fewer bytes may reach the device than were asked for, as with compression."""
    direct = Flow(
        role="data", direction="write", application_bytes=100.0, device_bytes=50.0, direct_ratio=1.0
    )
    flow = replace(asked(80.0)["j"].steps[0].flows[0], direction="write")
    jobs = demands({"j": [step(0.0, flow, direct, other=2.0)]})
    (found,) = other_cache(jobs, cached(8 * GIB), cached(256 * GIB))[0]["j"].steps
    assert found.other_seconds == pytest.approx(2.0 * found.flows[0].device_bytes / 80.0)


def test_memory_of_each_step_leaves_the_rest_to_the_page_cache() -> None:
    """A job that has much memory in one short step keeps the page cache small in that step only."""

    def read_ratio(**of_steps: float) -> float:
        steps = {
            job.job: [
                step(
                    name=one.name, kind=one.kind, blocked=1.0, memory_bytes=of_steps.get(one.name, 0.01 * GIB)
                )
                for one in CATALOGUE[job.program].steps
            ]
            for job in plan().jobs()
        }
        jobs = {
            name: replace(job, memory_bytes=1.0 * GIB, shared_bytes=0.1 * GIB)
            for name, job in demands(steps).items()
        }
        ratio = replace(cached(16 * GIB), jobs=jobs).reach().read_ratio
        assert ratio is not None
        return ratio

    every = {one.name: 1.0 * GIB for job in plan().jobs() for one in CATALOGUE[job.program].steps}
    assert read_ratio() < read_ratio(**every)


def test_what_jobs_share_with_the_process_that_starts_them_is_taken_from_the_run() -> None:
    def read_ratio(shared_bytes: float) -> float:
        made = demands({job.job: [] for job in plan().jobs()})
        jobs = {name: replace(job, shared_bytes=shared_bytes) for name, job in made.items()}
        ratio = replace(cached(16 * GIB), jobs=jobs).reach().read_ratio
        assert ratio is not None
        return ratio

    assert read_ratio(0.1 * GIB) < read_ratio(4.0 * GIB)


@pytest.mark.parametrize(("measured", "asked"), [(64, 4), (4, 64)])
def test_with_other_memory_steps_wait_for_files_that_they_remove_while_they_are_written(
    measured: int, asked: int
) -> None:
    """Slow devices still write a temporary table when its last reader removes it; fast ones are done."""

    def waits(rate: float, asked: int) -> list[float]:
        rates = dict.fromkeys(("data", "work", "util"), rate)
        before, after = (cached(of * GIB, machine_bytes=64 * GIB, rates=rates) for of in (measured, asked))
        jobs = {
            job.job: [step(name=one.name, blocked=2.0, other=0.25) for one in CATALOGUE[job.program].steps]
            for job in plan().jobs()
        }
        found, _ = other_cache(demands(jobs), before, after)
        return [one.other_seconds - 0.25 for job in found.values() for one in job.steps]

    slow, fast = waits(20e6, asked), waits(1e12, asked)
    assert min(slow) >= 0.0
    assert sum(slow) > 10.0
    assert sum(fast) < 0.1
    assert not any(waits(20e6, measured)), "on the same memory waits stay as they were"


@pytest.mark.parametrize("known", [True, False])
def test_known_waits_in_no_role_are_not_time_of_the_step_in_the_model(known: bool) -> None:
    """The model adds such waits itself: with them in its steps, files would live until they are written."""

    def written(seconds: float, other: float) -> float | None:
        steps = {
            job.job: [
                step(name=one.name, kind=one.kind, other=other, span=(5.0, 5.0 + seconds), waits_known=known)
                for one in CATALOGUE[job.program].steps
            ]
            for job in plan().jobs()
        }
        return replace(cached(256 * GIB), jobs=demands(steps)).reach().write_ratio

    assert (written(61.0, other=60.0) == written(1.0, other=0.0)) == known


def ratios(found: DeviceReach) -> tuple[float, float]:
    assert found.read_ratio is not None and found.write_ratio is not None
    return found.read_ratio, found.write_ratio


def test_the_mean_of_runs_that_were_made_is_predicted_within_a_tenth() -> None:
    """The runs of docs/reference/mix.json that were limited to 3 GiB: mixed20 at 0.02, started cold."""
    runs = [run for run in mix.load() if "--memory-limit" in run.command]
    assert len(runs) == 3 and all("3GiB" in run.command for run in runs)
    lines = [next(line for line in run.head if line.startswith("reach ")) for run in runs]
    ratios_ = [[int(figure) / 100 for figure in re.findall(r"(\d+) %", line)] for line in lines]
    measured = [statistics.fmean(ways) for ways in zip(*ratios_, strict=True)]
    options = Options(memsize_bytes=320 * MIB, sortsize_bytes=32 * MIB)
    predicted = ratios(reach_of(plan(options=options), 3 * GIB, stretch=10.0))
    assert predicted == pytest.approx(measured, abs=0.1)
    for ways in ratios_:
        assert predicted == pytest.approx(ways, abs=0.12)


def test_more_memory_never_lets_more_through_and_all_of_it_only_the_first_touch() -> None:
    steps = [ratios(reach_of(plan(), gib * GIB)) for gib in (2, 8, 32, 256)]
    reads = [read for read, _ in steps]
    assert reads == sorted(reads, reverse=True)
    assert reads[0] > 0.9
    assert reads[-1] < 0.3


def test_slower_jobs_write_more_back_and_writing_through_writes_all() -> None:
    quick, slow = (ratios(reach_of(plan(), 256 * GIB, stretch=stretch))[1] for stretch in (1.0, 10.0))
    assert quick < slow < 1.0
    assert ratios(reach_of(plan(), 256 * GIB, write_back=WriteBack(through=True)))[1] == 1.0


def test_direct_requests_pass_the_cache_by() -> None:
    def reads(direct: str) -> float:
        options = Options(direct=direct)  # type: ignore[arg-type]
        return ratios(reach_of(plan(options=options), 256 * GIB))[0]

    assert reads("auto") > reads("no") + 0.05


def test_programs_that_declare_no_bytes_have_no_reach_and_are_named() -> None:
    catalogue = {name: program for name, program in CATALOGUE.items() if name != "wide_sort"}
    found = reach_of(plan(), GIB, catalogue=catalogue)
    assert found == DeviceReach(
        read_ratio=None, write_ratio=None, reason="the bytes of wide_sort are not declared"
    )


def test_requests_one_at_a_time_take_longer_so_more_is_written_back() -> None:
    def written(queue_depth: int) -> float:
        options = Options(direct="no", queue_depth=queue_depth)
        return ratios(reach_of(plan(options=options), 256 * GIB, stretch=10.0))[1]

    assert written(1) > written(8)
