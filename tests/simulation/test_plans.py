"""The plans of a run's nodes: each keeps its jobs and their demand, also in other numbers of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

from mawl.advice.qualification.fits import changes_of
from mawl.plan.mix import mixed
from mawl.plan.workload import make_plan
from mawl.records.model.node import NodeRun
from mawl.records.model.run import CacheFacts, NodeFacts
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import Role
from mawl.simulation.activity import Calibration
from mawl.simulation.error_range import central_range, published_ratios
from mawl.simulation.forecast import (
    NO_PAGE_CACHE,
    Base,
    Fitting,
    Question,
    doubled_systems,
    scenario_of,
)
from mawl.simulation.recorded_demand import at_devices
from mawl.simulation.scenario import (
    MOST_FASTER,
    MOST_HALVINGS,
    Scenario,
    blocked_in_roles,
    calibrate,
    of_node,
    run_scenario,
    without_node,
)
from tests.fakes.fitted import SESSIONS, based_on, fitted, written
from tests.fakes.stored_run import facts, planned
from tests.fakes.views import partly
from tests.simulation.scenes import MB, demands, device, flow, plan, scenario, side_by_side, step, system

NODES = ("node1", "node2")
OWN = system(count=2, cores=4)


@pytest.fixture(scope="module")
def mixed20(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """A run of ``mixed20`` in five sessions on each of two nodes; no two of its jobs did the same."""
    one = make_plan(mixed(5), where="mixed20", scale=0.01)
    plans = tuple(of_node(one, node) for node in NODES)
    jobs = [job.job for of in plans for job in of.jobs()]
    of_job = demands({job: [step(0.01 * number, flow(1))] for number, job in enumerate(jobs, start=1)})
    of = Scenario(system=OWN, plans=plans, jobs=of_job)
    runs = [
        NodeRun(
            node=node,
            run_id=f"first-{node}",
            workload=one.workload,
            sessions=5,
            jobs=len(jobs) // 2,
            outcome="completed",
            gate_after_seconds=0.0,
        )
        for node in NODES
    ]
    source = facts(
        nodes=[NodeFacts(name=node, cores=4, core_basis="vCPU") for node in NODES],
        planned_jobs=[],
        node_runs=runs,
    )
    folder = tmp_path_factory.mktemp("mixed20") / "run"
    return based_on(written(folder, of, source)[0], OWN)


def test_the_measured_number_of_sessions_changes_nothing(mixed20: Base) -> None:
    found = scenario_of(mixed20, Question(sessions=5))
    assert found.jobs == mixed20.demand.jobs
    assert [[job.job for job in one.jobs()] for one in found.plans] == [
        [job.job for job in one.jobs()] for one in mixed20.plans
    ]


def test_in_more_sessions_every_measured_job_keeps_its_demand_on_its_node(mixed20: Base) -> None:
    found = scenario_of(mixed20, Question(sessions=6))
    measured = mixed20.demand.jobs
    kept: dict[str, set[str]] = {}
    drawn: dict[str, list[str]] = {}
    for node, of in zip(NODES, found.plans, strict=True):
        planned = {job.job: job.program for job in of.jobs()}
        assert all(name.startswith(f"{node}.") for name in planned)
        kept[node] = {
            name for name in planned if name in measured and measured[name].program == planned[name]
        }
        drawn[node] = [found.jobs[name].job for name in planned if name not in kept[node]]
        assert all(found.jobs[name] == measured[name] for name in kept[node])
        assert all(found.jobs[name].program == program for name, program in planned.items())
    assert len(kept["node1"]) == len(kept["node2"]) > 0
    assert len(found.jobs) == 2 * (3 * 6 + 11)
    assert drawn["node1"] != drawn["node2"]


def test_the_longest_name_of_a_node_is_taken_off() -> None:
    of = plan([[["x"], ["y"]]])
    for nodes in (("a", "a.b"), ("a.b", "a")):
        for node in nodes:
            assert without_node(of_node(of, node), nodes) == of


def test_memory_changes_nothing_of_a_run_that_left_out_the_page_cache(mixed20: Base) -> None:
    (kind,) = mixed20.own.nodes
    question = Question(system=replace(mixed20.own, nodes=(replace(kind, memory_bytes=2.0**38),)))
    cached = scenario_of(mixed20, question)
    assert NO_PAGE_CACHE not in cached.remarks
    facts_of = msgspec.structs.replace(mixed20.facts, cache=CacheFacts(mode="none", input_bytes=1))
    found = scenario_of(replace(mixed20, facts=facts_of), question)
    assert found.remarks == (NO_PAGE_CACHE,)
    assert found.jobs == mixed20.demand.jobs


@pytest.fixture(scope="module")
def fitting(tmp_path_factory: pytest.TempPathFactory) -> Fitting:
    return fitted(tmp_path_factory.mktemp("fitting") / "run")


def test_the_run_itself_is_as_slow_as_it_was_measured(fitting: Fitting) -> None:
    assert fitting.slowdown(fitting.base.own, SESSIONS) == pytest.approx(3.0)
    assert fitting.slowdown(fitting.base.own, 2 * SESSIONS) > 4.5


def test_twice_the_cores_carry_about_twice_the_sessions(fitting: Fitting) -> None:
    twice = dict(doubled_systems(fitting.base.own))["cores"]
    own, more = (fitting.most_sessions(each, 3.0) for each in (fitting.base.own, twice))
    assert own == SESSIONS and more is not None and 10 <= more <= 14


def test_a_bound_that_not_even_the_fewest_keep_gives_no_number(fitting: Fitting) -> None:
    assert fitting.most_sessions(fitting.base.own, 1.1) is None


def test_changes_of_what_limits_have_the_range_in_which_papers_systems_were(fitting: Fitting) -> None:
    found = changes_of(fitting, 3.0)
    assert {change.text for change in found} == {"Twice the processors", "Processors twice as fast"}
    for change in found:
        assert change.gain_ratio is not None and change.gain_ratio > 0.3
        assert change.range_basis == "published systems" and change.reason is None
        assert change.sessions_low is not None and change.sessions_high is not None
        assert SESSIONS <= change.sessions_low < (change.sessions or 0) < change.sessions_high
    system = dict(doubled_systems(fitting.base.own))["cores"]
    cores = next(change for change in found if change.text == "Twice the processors")
    assert cores.sessions_high is not None
    low, _ = central_range(published_ratios())
    assert fitting.slowdown(system, cores.sessions_high) <= 3.0 / low
    assert fitting.slowdown(system, cores.sessions_high + 1) > 3.0 / low


def test_a_change_with_which_fewer_may_fit_than_the_mix_has_says_so(fitting: Fitting) -> None:
    cores = next(change for change in changes_of(fitting, 1.6) if change.text == "Twice the processors")
    assert cores.sessions is not None and cores.sessions_high is not None
    assert cores.sessions_low is None and "fewer than 5" in (cores.reason or "")


def test_a_run_that_the_model_misses_by_a_quarter_gives_no_range(fitting: Fitting) -> None:
    missed = replace(fitting.base.outcome, elapsed_seconds=1.25 * (fitting.base.elapsed_seconds or 0.0))
    found = changes_of(replace(fitting, base=replace(fitting.base, outcome=missed)), 3.0)
    assert found and all(change.range_basis is None for change in found)
    assert all("25 % too slow" in (change.reason or "") for change in found)


def test_the_slowdown_of_a_simulation_is_that_of_its_sums(fitting: Fitting) -> None:
    """A program without a reference time counts on neither side; without any the slowdown is 1."""
    taken = [("p", 1.0), ("p", 1.0), ("q", 4.0), ("r", 9.0)]
    outcome = SimpleNamespace(
        jobs=[
            SimpleNamespace(plan=SimpleNamespace(program=program), started=2.0, ended=2.0 + seconds)
            for program, seconds in taken
        ]
    )

    def of(**reference: float) -> float:
        jobs = [
            msgspec.structs.replace(planned("s1-1"), program=program, reference_seconds=seconds)
            for program, seconds in reference.items()
        ]
        facts = msgspec.structs.replace(fitting.base.facts, planned_jobs=jobs)
        own = replace(fitting, base=replace(fitting.base, facts=facts))
        return own.of(outcome)  # type: ignore[arg-type]

    assert of(p=0.5, q=2.0) == pytest.approx(6.0 / 3.0)
    assert of(q=0.5) == pytest.approx(8.0)
    assert of() == 1.0


DISK = system(device(spinning_streams=2.0))
JOBS = side_by_side(
    [[step(0.5, flow(100)), step(0.2, flow(60, direction="read"))], [step(0.1, flow(200))], [step(1.0)]]
)
SPINNING = scenario(DISK, *JOBS)


@pytest.mark.parametrize("made", [0.1, 0.4, 0.8])
def test_the_seeks_that_a_run_made_are_found_and_its_disk_stays_as_it_was(made: float) -> None:
    measured = run_scenario(SPINNING, Calibration(DISK, 0.0, made))
    found, outcome = calibrate(SPINNING, blocked_in_roles(measured))
    assert found.seek_ratio == pytest.approx(made, rel=0.02)
    assert found.own == DISK
    assert found.alone_ratio == 0.0
    assert outcome.elapsed_seconds == pytest.approx(measured.elapsed_seconds, rel=0.01)


def test_a_disk_is_faster_than_described_only_where_no_seek_at_all_is_still_too_slow() -> None:
    wanted = blocked_in_roles(run_scenario(SPINNING, Calibration(DISK, 0.0, 0.0))) / 2.0
    found, outcome = calibrate(SPINNING, wanted)
    assert found.seek_ratio == 0.0
    assert found.own.device("disk").write_bytes_per_second > 100 * MB
    nearest = MOST_FASTER ** (0.5**MOST_HALVINGS) - 1.0
    assert blocked_in_roles(outcome) == pytest.approx(wanted, rel=nearest)


def test_fewer_seeks_never_slow_a_run() -> None:
    elapsed = [run_scenario(SPINNING, Calibration(DISK, 0.0, part / 4)).elapsed_seconds for part in range(5)]
    assert elapsed == sorted(elapsed)
    assert elapsed[0] < elapsed[-1]


def test_a_device_that_does_not_seek_has_no_seeks_to_save() -> None:
    plain = scenario(system(), *JOBS)
    waited = blocked_in_roles(run_scenario(plain, Calibration(plain.system, 0.0)))
    found, _ = calibrate(plain, waited / 2.0)
    assert found.seek_ratio == 1.0
    assert found.own != plain.system


def test_devices_stay_as_described_where_the_elapsed_time_is_then_nearer() -> None:
    """Jobs that wait less than the model says may have had their writes done for them, at the same rates."""
    plain = scenario(system(), *JOBS)
    as_described = run_scenario(plain, Calibration(plain.system, 0.0))
    waited = blocked_in_roles(as_described) / 2.0
    assert calibrate(plain, waited, as_described.elapsed_seconds)[0].own == plain.system
    faster, outcome = calibrate(plain, waited)
    assert faster.own != plain.system
    assert calibrate(plain, waited, outcome.elapsed_seconds)[0] == faster


def test_what_sharing_explains_is_not_taken_for_waits_that_a_step_has_alone() -> None:
    """A step reads ahead 200 MB in 2 s while it computes for 1 s, so it is blocked for 1 s more or less."""
    alone = scenario(system(), *side_by_side([[step(1.0, flow(200, direction="read"), blocked=1.05)]]))
    for waited, expected in ((0.98, 1.0), (1.0, 1.0), (1.05, 1.0), (1.24, 1.0)):
        found, outcome = calibrate(alone, waited)
        assert found.alone_ratio == 0.0 and found.own.device("disk").read_bytes_per_second >= 100 * MB
        assert blocked_in_roles(outcome) == pytest.approx(expected, abs=0.03)
    assert calibrate(alone, 1.26)[0].alone_ratio > 0.0, "sharing explains less than four fifths"


def test_waits_that_sharing_does_not_explain_are_those_that_a_step_has_alone() -> None:
    alone = scenario(system(), *side_by_side([[step(1.0, flow(100, direction="read"), blocked=1.0)]]))
    found, outcome = calibrate(alone, 1.0)
    assert found.alone_ratio == pytest.approx(1.0, abs=0.01)
    assert outcome.elapsed_seconds == pytest.approx(2.0, rel=0.01)


def _reads(shown_megabytes: float, faults: Mapping[str, int]) -> list[float]:
    """Megabytes from the devices of a job that was charged 50 and of one that was charged 10."""
    jobs = demands(
        {
            name: [step(1.0, flow(size, "data", "read"), page_faults=faults.get(name, 0))]
            for name, size in (("reads", 50), ("imports", 10))
        }
    )
    found = at_devices(jobs, _shown(shown_megabytes))
    return [found[name].steps[0].flows[0].device_bytes / MB for name in jobs]


def _shown(megabytes: float) -> Summary:
    """A summary in which the devices of all roles together read that many."""
    return partly(
        {
            "io": {"devices_by_role": None},
            "host": {"role_devices": {"read_bytes": megabytes * MB, "written_bytes": None}},
        }
    )


@pytest.mark.parametrize(
    ("shown", "faults", "reads"),
    [
        (50, {"imports": 4}, [50, 0]),
        (54, {"imports": 4}, [50, 4]),  # what devices read beyond is pages of programs
        (45, {"imports": 4}, [45, 0]),
        (52, {"imports": 3, "reads": 1}, [48, 4]),  # each fault read as much as any other
        (30, {"imports": 3, "reads": 1}, [30, 0]),
        (30, {}, [25, 5]),  # without faults all reads are brought to the sum alike
        (120, {"imports": 4}, [100, 20]),
    ],
)
def test_reads_beyond_what_devices_showed_are_pages_of_programs_where_jobs_faulted(
    shown: float, faults: dict[str, int], reads: list[float]
) -> None:
    assert _reads(shown, faults) == pytest.approx(reads)


def test_the_faults_of_a_step_count_once_however_many_roles_it_reads() -> None:
    roles: tuple[Role, ...] = ("data", "work", "util")
    jobs = demands(
        {
            "three": [step(1.0, *(flow(20, role, "read") for role in roles), page_faults=2)],
            "one": [step(1.0, flow(60, "data", "read"), page_faults=2)],
        }
    )
    found = at_devices(jobs, _shown(108))
    of_job = [sum(one.device_bytes for one in found[name].steps[0].flows) / MB for name in jobs]
    assert of_job == pytest.approx([54, 54])
