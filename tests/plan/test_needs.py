"""What a plan needs: of each session its largest stage, since stages follow one another.

Where jobs begin in the rotation: declared bytes come out even, whatever the mix.
"""

from __future__ import annotations

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import JobKind, job_kinds, mixed
from mawl.plan.needs import (
    JOB_PAGES_BYTES,
    MEASURED_MARGIN,
    SPACE_MARGIN,
    ZYGOTE_BYTES,
    JobSeconds,
    _files,
    _with_files,
    asked_per_cpu_second,
    needs,
    requests_under_way,
    turns,
)
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.spec.program_options import MIB, ROLES, Options
from mawl.records.store.side_files import Peak


def planned(*sessions: list[list[str]]) -> Plan:
    """A plan of sessions, each a list of stages."""
    made = [
        SessionSpec(name=f"s{number}", stages=[list(stage) for stage in stages])
        for number, stages in enumerate(sessions, start=1)
    ]
    spec = WorkloadSpec(name="needed", sessions=made)
    return make_plan(spec, where="test", scale=0.01)


def memory(plan: Plan) -> int:
    return needs(plan, spawn=False).memory_bytes - ZYGOTE_BYTES


def test_memory_is_that_of_the_largest_stage_of_each_session_side_by_side() -> None:
    sort, forecast = memory(planned([["wide_sort"]])), memory(planned([["forecasting"]]))
    assert sort != forecast
    assert memory(planned([["wide_sort"], ["forecasting"]])) == max(sort, forecast)
    assert memory(planned([["forecasting"], ["wide_sort"]])) == max(sort, forecast)
    assert memory(planned([["wide_sort", "forecasting"]])) == sort + forecast
    assert memory(planned([["wide_sort"]], [["forecasting"]])) == sort + forecast


@pytest.mark.parametrize("role", ["work", "util"])
def test_space_of_work_and_util_too(role: str) -> None:
    def space(plan: Plan) -> int:
        return needs(plan, spawn=False).space_bytes[role]  # type: ignore[index]

    alone = space(planned([["wide_sort"]]))
    assert alone > 0
    assert space(planned([["wide_sort"], ["segmentation"]])) == max(alone, space(planned([["segmentation"]])))
    assert space(planned([["wide_sort"]], [["wide_sort"]])) == pytest.approx(2 * alone, abs=SPACE_MARGIN)


def peak(program: str, plan: Plan, beyond: int, ready: int = 150 * MIB) -> dict[JobKind, Peak]:
    """A measured peak of one program of a plan."""
    kind = next(kind for kind in job_kinds(plan) if kind.program == program)
    found = Peak(program=program, private_bytes=beyond, ready_bytes=ready, jobs=1, run_id="r", conditions={})
    return {kind: found}


def test_a_measured_peak_goes_before_the_declared_one() -> None:
    plan = planned([["wide_sort"]], [["forecasting"]])
    declared = needs(plan)
    assert declared.memory_basis == "declared, not measured" and not declared.is_memory_measured
    some = peak("wide_sort", plan, 10 * MIB)
    part = needs(plan, measured=some)
    assert part.memory_basis == "measured for 1 of 2 programs, declared for the others"
    alone = memory(planned([["forecasting"]]))
    assert part.memory_bytes == alone + int(MEASURED_MARGIN * 10 * MIB) + JOB_PAGES_BYTES + ZYGOTE_BYTES
    whole = needs(plan, measured=some | peak("forecasting", plan, 20 * MIB, ready=160 * MIB))
    assert whole.memory_bytes == int(11 * MIB) + int(22 * MIB) + 2 * JOB_PAGES_BYTES + 160 * MIB
    assert (whole.memory_basis, whole.is_memory_measured) == ("measured in earlier runs", True)


def test_new_interpreters_share_no_zygote() -> None:
    plan = planned([["wide_sort"]])
    found = needs(plan, spawn=True, measured=peak("wide_sort", plan, 10 * MIB))
    assert found.memory_bytes == int(11 * MIB) + JOB_PAGES_BYTES


def test_more_than_declared_counts_as_measured() -> None:
    plan = planned([["wide_sort"]])
    found = needs(plan, measured=peak("wide_sort", plan, 2**33))
    assert found.memory_bytes > 2**33


@pytest.mark.parametrize(
    ("sessions", "requests"),
    [
        ([[["wide_sort"]]], 1),
        ([[["wide_sort"], ["forecasting", "wide_sort"]]], 2),
        ([[["wide_sort"], ["random_access"]]], Options().queue_depth),
        ([[["wide_sort", "random_access"]], [["forecasting"]]], Options().queue_depth + 2),
    ],
)
def test_requests_under_way_are_those_of_each_sessions_widest_stage(
    sessions: list[list[list[str]]], requests: int
) -> None:
    assert requests_under_way(planned(*sessions)) == requests


def test_the_mix_can_have_more_requests_under_way_than_sessions() -> None:
    """Two of five sessions look up at random."""
    plan = make_plan(mixed(5), where="test", scale=0.01)
    at_random = {job.session for job in plan.jobs() if job.program == "random_access"}
    assert len(at_random) == 2
    assert requests_under_way(plan) >= 3 + 2 * Options().queue_depth


def test_bytes_of_all_jobs_are_divided_by_the_seconds_of_all_jobs() -> None:
    plan = planned([["wide_sort"], ["forecasting"]])
    asked = asked_per_cpu_second(plan, JobSeconds(lambda program, job: 4.0, "test"))
    moved = needs(plan).moved
    assert asked.by_role is not None
    for role, ways in moved.items():
        assert asked.by_role[role] == {way: size / 8 for way, size in ways.items()}
    assert asked.total == pytest.approx(sum(sum(ways.values()) for ways in moved.values()) / 8)
    assert asked.basis == "test"


@pytest.mark.parametrize("seconds", [None, 1.0])
def test_what_is_asked_is_not_known_where_a_job_declares_nothing(seconds: float | None) -> None:
    stages: list[list[str | JobSpec]] = [[JobSpec(program="mine", command=["true"])], ["forecasting"]]
    own = WorkloadSpec(name="own", sessions=[SessionSpec(name="s", stages=stages)])
    plan = make_plan(own, where="test", scale=0.01)
    asked = asked_per_cpu_second(plan, JobSeconds(lambda program, job: seconds, "test"))
    assert asked.by_role is None and asked.total is None
    assert asked.basis.startswith("bytes or CPU seconds of ") and "mine" in asked.basis


def test_fixed_costs_make_a_cpu_second_ask_less_at_small_scales() -> None:
    reference = JobSeconds(lambda program, job: program.cpu_seconds(job.scale), "reference times")
    asked = []
    for scale in (0.0005, 0.005, 0.02, 0.05):
        plan = make_plan(mixed(20), where="test", scale=scale)
        asked.append(asked_per_cpu_second(plan, reference).total or 0.0)
    assert asked == sorted(asked)


@pytest.fixture(scope="module")
def mixed20() -> Plan:
    spec, where = load_workload("mixed20")
    return make_plan(spec, where=where, scale=0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_declared_bytes_of_mixed20_are_even_over_the_volumes(mixed20: Plan, count: int) -> None:
    first = turns(mixed20, dict.fromkeys(ROLES, count), "rotation")
    moved = [0] * count
    for job in mixed20.jobs():
        moved = _with_files(moved, _files(CATALOGUE[job.program], job, "work"), first[job.job]["work"])
    assert sum(moved) > 0
    assert (max(moved) - min(moved)) / (sum(moved) / count) < 0.03


def test_without_it_one_volume_would_get_several_times_the_bytes_of_another(mixed20: Plan) -> None:
    moved = [0] * 4
    for job in mixed20.jobs():
        moved = _with_files(moved, _files(CATALOGUE[job.program], job, "work"), 0)
    assert max(moved) > 3 * min(moved)


def test_the_same_plan_has_the_same_turns_and_every_job_its_own(mixed20: Plan) -> None:
    counts = dict.fromkeys(ROLES, 4)
    first = turns(mixed20, counts, "rotation")
    assert first == turns(mixed20, counts, "rotation")
    assert first.keys() == {job.job for job in mixed20.jobs()}
    points = [turn["work"] for turn in turns(mixed20, counts, "free-space").values()]
    assert sorted(points) == list(range(len(points))), "no two jobs choose by the same point"
