"""Each kind of job of a workload once, alone."""

from __future__ import annotations

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.solo import kind_of, kinds, solo_plan
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, make_plan


def plan() -> Plan:
    """Five jobs of three kinds: segmentation at two sizes, and census_load; some must wait."""
    spec = WorkloadSpec(
        name="five",
        sessions=[
            SessionSpec(
                name="a", stages=[["segmentation"], ["census_load", "segmentation"]], start_delay_seconds=5.0
            ),
            SessionSpec(
                name="b",
                stages=[
                    [JobSpec(program="segmentation", size=2.0, trail_out=True, after=["a.1.segmentation"])],
                    ["census_load"],
                ],
            ),
        ],
    )
    return make_plan(spec, where="", catalogue=CATALOGUE, scale=0.0005)


def test_jobs_of_one_program_scale_and_options_are_of_one_kind() -> None:
    found = {(kind.program, kind.scale): jobs for kind, jobs in kinds(plan()).items()}
    assert found == {
        ("segmentation", 0.0005): ["a.1.segmentation", "a.2.segmentation"],
        ("census_load", 0.0005): ["a.2.census_load", "b.2.census_load"],
        ("segmentation", 0.001): ["b.1.segmentation"],
    }


def test_alone_means_one_after_another_without_anything_to_wait_for() -> None:
    whole = plan()
    alone = solo_plan(whole, set(kinds(whole)))
    jobs = list(alone.jobs())
    assert [(job.stage, job.program, job.scale) for job in jobs] == [
        (1, "segmentation", 0.0005),
        (2, "census_load", 0.0005),
        (3, "segmentation", 0.001),
    ]
    assert alone.peak_concurrent == 1 and alone.gate_jobs == 1
    assert not any(job.after or job.trail_out or job.start_delay_seconds for job in jobs)
    assert [kind_of(job) for job in jobs] == list(kinds(whole))


def test_only_what_is_wanted_is_run_and_reads_a_replica_of_the_workload() -> None:
    whole = plan()
    wanted = {kind for kind in kinds(whole) if kind.program == "census_load"}
    (job,) = solo_plan(whole, wanted).jobs()
    assert job.gate is not None and job.stage == 1
    assert job.replica in {own.replica for own in whole.jobs() if own.program == "census_load"}
