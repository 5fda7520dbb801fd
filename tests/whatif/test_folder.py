"""A simulation as a run folder: reports read it, figures agree with the engine, and it is a base itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from mawl.advice import judge as judging
from mawl.advice.answer import SIMULATED
from mawl.base.errors import UsageError
from mawl.figures.throughput import cores_of
from mawl.figures.view import StoredView
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.output import nodes_toml, plan_toml
from mawl.plan.workload import JobPlan, Plan
from mawl.records.model.role_io import Waits
from mawl.records.model.run import Reference, RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.store import Run, open_run
from mawl.records.store.files import PLAN
from mawl.reports import markdown
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.error_range import unchecked_of
from mawl.simulation.forecast import Base, Question, predict, scenario_of
from mawl.simulation.page_cache import PushedOut
from mawl.simulation.recorded_demand import NO_ROLES, demand_of
from mawl.simulation.scenario import Scenario, blocked_in_roles, plans_of, without_node
from mawl.whatif.answer import answer, growth
from mawl.whatif.folder import Label, write_folder
from mawl.whatif.records import ElapsedRange
from tests.fakes.fitted import based_on, written
from tests.fakes.stored_run import referred
from tests.fakes.views import BARE, as_summary, judged
from tests.simulation.scenes import MB, demands, device, flow, plan, scenario, step, system

CLOSE_RATIO = 0.05
"""By how much the run that calibrates may be missed by its own simulation."""


def stored(folder: Path, of: Scenario, source: RunFacts | None = None) -> tuple[Run, SimulationOutcome]:
    """The scenario, simulated and written; ``source`` is the run that its demand comes from."""
    return written(folder, of, source or referred({}, scale=1.0))


def scene(count: int = 1) -> Scenario:
    jobs = {
        f"s{number}-{place}": [
            step(0.5, flow(50), blocked=0.1),
            step(1.0, flow(200, "util"), flow(150, "util", "read"), blocked=0.2),
            step(0.2, kind="verify"),
        ]
        for number in range(1, 5)
        for place in range(1, 4)
    }
    sessions = [[[f"s{number}-{place}"] for place in range(1, 4)] for number in range(1, 5)]
    return scenario(system(device(), count=count, cores=2), plan(sessions), demands(jobs))


def test_the_summary_has_the_figures_of_the_engine(tmp_path: Path) -> None:
    simulated, outcome = stored(tmp_path / "run", scene())
    summary = judged(StoredView(simulated))
    assert summary["kind"] == "simulated"
    assert summary["time"]["elapsed_seconds"] == pytest.approx(outcome.elapsed_seconds, abs=1e-4)
    assert summary["time"]["user_cpu_seconds"] == pytest.approx(12 * 1.5)
    assert summary["io"]["by_role"]["util"]["written_bytes"] == 12 * 200 * MB
    assert summary["io"]["devices_by_role"] is None
    assert summary["host"]["role_devices"]["written_bytes"] == pytest.approx(12 * 250 * MB, rel=1e-6)
    assert summary["limit"]["verdict"] == "storage"
    parts = summary["wait"]
    whole = parts["on_cpu_seconds"] + parts["run_queue_seconds"] + sum(parts["blocked_seconds"].values())
    assert whole == pytest.approx(summary["time"]["real_time_seconds"], rel=1e-6)


def test_what_twice_the_memory_would_have_kept_makes_memory_the_limit(tmp_path: Path) -> None:
    """As in a measured run: the page-cache model says what was read again of what it had given up."""

    def limit(name: str, pushed_out: PushedOut | None) -> str:
        jobs = {"one": [step(1.0, flow(1000, "work", "read"), pushed_out=pushed_out)]}
        simulated, _ = stored(tmp_path / name, scenario(system(), plan([[["one"]]]), demands(jobs)))
        verdict: str = judged(StoredView(simulated))["limit"]["verdict"]
        return verdict

    assert limit("kept", None) == "storage"
    assert limit("again", PushedOut(evicted_bytes=1000 * MB, reread_bytes=1000 * MB)) == "memory"
    assert limit("lost", PushedOut(evicted_bytes=1e6 * MB, reread_bytes=1000 * MB)) == "storage"


def test_time_inside_reads_is_that_of_the_moment(tmp_path: Path) -> None:
    """First 100 MB are read, then 300 MB written, then 100 MB read beside as many written."""
    both = (flow(100, "work", "read"), flow(100))
    steps = [step(0.0, flow(100, "work", "read")), step(0.0, flow(300)), step(0.0, *both)]
    simulated, _ = stored(tmp_path / "run", scenario(system(), plan([[["one"]]]), demands({"one": steps})))
    rows = simulated.samples.to_pylist()
    read, written = (
        [row["value"] for row in rows if row["series"] == f"role.work.{way}_seconds"]
        for way in ("read", "write")
    )
    assert (read[1], written[1]) == pytest.approx((1.0, 0.0))
    assert (read[4], written[4]) == pytest.approx((1.0, 3.0))
    assert (read[-1], written[-1]) == pytest.approx((1.5, 3.5))


def test_a_forecast_is_an_indication_and_says_so(tmp_path: Path) -> None:
    validity = judged(StoredView(stored(tmp_path / "run", scene())[0]))["validity"]
    assert validity["status"] == "preliminary"
    assert [finding["rule"] for finding in validity["findings"]] == ["simulated"]


def test_every_node_has_its_own_rows(tmp_path: Path) -> None:
    simulated, _ = stored(tmp_path / "run", scene(count=3))
    jobs = simulated.job_records()
    assert len(jobs) == 36
    assert {job.node for job in jobs} == {"node1", "node2", "node3"}
    assert len({job.job for job in jobs}) == 36
    assert judged(StoredView(simulated))["io"]["by_role"]["util"]["written_bytes"] == 36 * 200 * MB


def test_reports_are_made_of_it(tmp_path: Path) -> None:
    simulated, _ = stored(tmp_path / "run", scene())
    summary = judged(StoredView(simulated))
    assert "simulated" in markdown.render(BARE, as_summary(summary))


def test_a_part_of_a_core_is_a_quota_of_the_simulated_node(tmp_path: Path) -> None:
    jobs = demands({"s1-1": [step(0.5)]})
    for number, cores in enumerate((2.0, 1.5)):
        of = scenario(system(device(), cores=cores), plan([[["s1-1"]]]), jobs)
        simulated, _ = stored(tmp_path / f"run{number}", of)
        (node,) = simulated.facts.nodes
        assert (node.cores, node.cpu_quota) == (2, None if cores == 2.0 else 1.5)
        assert cores_of(simulated.facts)[0] == cores


def test_a_figure_that_no_table_can_hold_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    jobs = {name: replace(job, memory_bytes=2.0**63) for name, job in demands({"s1-1": [step(0.5)]}).items()}
    of = scenario(system(device(), cores=2), plan([[["s1-1"]]]), jobs)
    with pytest.raises(UsageError, match="larger than a table can hold"):
        stored(tmp_path / "run", of)
    assert not (tmp_path / "run").exists()


def test_a_run_beyond_the_calendar_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    of = scenario(system(device(), cores=2), plan([[["s1-1"]]]), demands({"s1-1": [step(1e12)]}))
    with pytest.raises(UsageError, match=r"would last 1e\+12 s on that system, beyond the year 9999"):
        stored(tmp_path / "run", of)
    assert not (tmp_path / "run").exists()


def base(folder: Path) -> Base:
    simulated, _ = stored(folder, scene())
    return based_on(simulated, system(device(), cores=2))


def test_a_run_simulated_on_its_own_system_takes_as_long_as_it_did(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    assert found.error_ratio == pytest.approx(0.0, abs=CLOSE_RATIO)
    assert found.summary.wait is not None
    measured = found.summary.wait.blocked_seconds
    waited = sum(getattr(measured, role) for role in ROLES)
    assert blocked_in_roles(found.outcome) == pytest.approx(waited, rel=CLOSE_RATIO)


def test_waits_that_come_from_no_sharing_are_found_to_be_those_of_steps_alone(tmp_path: Path) -> None:
    """The folder is made with all of the blocked time alone, on a disk that nobody waits for."""
    fast = system(device(rate=1e6), cores=8)
    simulated, _ = stored(tmp_path / "run", replace(scene(), system=fast))
    found = based_on(simulated, fast)
    assert found.calibration.alone_ratio == pytest.approx(1.0, abs=0.01)
    assert found.own == fast


def test_the_answer_ranks_what_twice_of_each_resource_would_gain(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    question = Question()
    simulated = predict(found, question)
    folder = tmp_path / "again"
    write_folder(folder, *simulated, Label(run_id="again", source=found.facts))
    told = answer(
        found, question, simulated, as_summary(judged(StoredView(open_run(folder)))), grow=[2, 4, 8]
    )
    gains = [row.gain_ratio for row in told.sensitivity if row.gain_ratio is not None]
    assert gains == sorted(gains, reverse=True)
    assert told.sensitivity[0].resource == "disk"
    assert told.phases[0].limit == "disk"
    assert sum(told.phases[0].shares.values()) == pytest.approx(1.0)
    assert (told.validity.range.low_seconds or math.inf) < told.prediction.elapsed_seconds
    assert told.knee_sessions is not None


def test_what_was_never_checked_has_no_range(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    question = Question(nodes=4)
    simulated = predict(found, question)
    folder = tmp_path / "four"
    write_folder(folder, *simulated, Label(run_id="four", source=found.facts))
    told = answer(found, question, simulated, as_summary(judged(StoredView(open_run(folder)))))
    assert told.validity.range == ElapsedRange(low_seconds=None, high_seconds=None)
    assert any("nodes is 4 times" in reason for reason in told.validity.reasons)


def test_throughput_stops_growing_with_sessions_on_one_disk(tmp_path: Path) -> None:
    rows = growth(base(tmp_path / "run"), Question(), [1, 2, 16])
    assert [row.jobs for row in rows] == [3, 6, 48]
    assert rows[0].pays
    assert not rows[-1].pays


def test_no_series_of_sessions_goes_over_the_change_of_the_mix(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    ruled = replace(found, plans=(msgspec.structs.replace(found.plans[0], workload="mixed20"),))
    with pytest.raises(UsageError, match="the mix changes at 5 sessions"):
        growth(ruled, Question(), [2, 4, 8])
    scenario = scenario_of(found, Question())
    for of, sessions, said in ((ruled, 8, True), (ruled, 3, False), (found, 8, False)):
        reasons = unchecked_of(of, Question(sessions=sessions), scenario)
        assert any("the mix changes" in reason for reason in reasons) == said


def test_a_larger_scale_has_more_of_everything(tmp_path: Path) -> None:
    found = base(tmp_path / "run")
    once, twice = (predict(found, Question(scale_factor=factor))[1] for factor in (1.0, 2.0))
    assert twice.elapsed_seconds == pytest.approx(2 * once.elapsed_seconds, rel=0.05)


TWO = {"s1-1": [step(3.0)], "s2-1": [step(6.0)]}
"""Two sessions that compute; on two cores neither waits."""


def slowdown_of(run: Run) -> float | None:
    return judging.judged(StoredView(run)).answer.slowdown


def reference_of(facts: RunFacts) -> dict[str, float | None]:
    return {job.job: job.reference_seconds for job in facts.planned_jobs}


@pytest.mark.parametrize(("cores", "seconds"), [(2.0, 3.0 + 6.0), (1.0, 6.0 + 9.0)])
def test_the_slowdown_of_a_simulation_is_by_the_reference_times_of_its_run(
    tmp_path: Path, cores: float, seconds: float
) -> None:
    """On one core both share it for 6 s, then the longer job has it for 3 s."""
    of = scenario(system(device(), cores=cores), plan([[["s1-1"]], [["s2-1"]]]), demands(TWO))
    run, _ = stored(tmp_path / "run", of, referred({"s1-1": 2.0, "s2-1": 3.0}, scale=1.0))
    assert reference_of(run.facts) == {"s1-1": 2.0, "s2-1": 3.0}
    assert run.facts.reference == Reference(version=1)
    assert slowdown_of(run) == pytest.approx(seconds / 5.0)


def test_a_run_without_reference_times_gives_none_to_its_simulation(tmp_path: Path) -> None:
    of = scenario(system(device(), cores=2), plan([[["s1-1"]], [["s2-1"]]]), demands(TWO))
    older = msgspec.structs.replace(referred({}, scale=1.0), reference=None)
    run, _ = stored(tmp_path / "run", of, older)
    answer = judging.judged(StoredView(run)).answer
    assert (answer.answer, answer.slowdown) == ("not known", None)
    assert answer.reason == SIMULATED


def test_reference_times_of_another_scale_are_those_of_the_programs_there(tmp_path: Path) -> None:
    """The run was at a fifth of the scale, where a file gave other times than mawl's table."""
    of = scenario(system(device(), cores=2), plan([[["s1-1"]], [["s2-1"]]]), demands(TWO))
    run, _ = stored(tmp_path / "run", of, referred({"s1-1": 0.4, "s2-1": 0.8}, scale=0.2))
    grown = CATALOGUE["wide_sort"].cpu_seconds(1.0) / CATALOGUE["wide_sort"].cpu_seconds(0.2)
    assert reference_of(run.facts) == pytest.approx({"s1-1": 0.4 * grown, "s2-1": 0.8 * grown})
    assert slowdown_of(run) == pytest.approx(9.0 / (1.2 * grown))


def test_a_simulation_at_another_scale_takes_longer_and_has_larger_reference_times(tmp_path: Path) -> None:
    """Twice the scale is twice the CPU seconds of the steps, 18 s of the two jobs."""
    of = scenario(system(device(), cores=2), plan([[["s1-1"]], [["s2-1"]]]), demands(TWO))
    run, _ = stored(tmp_path / "run", of, referred({"s1-1": 2.0, "s2-1": 3.0}, scale=1.0))
    whole = based_on(run, system(device(), cores=2))
    label = Label(run_id="twice", source=run.facts)
    facts = write_folder(tmp_path / "twice", *predict(whole, Question(scale_factor=2.0)), label)
    grown = CATALOGUE["wide_sort"].cpu_seconds(2.0) / CATALOGUE["wide_sort"].cpu_seconds(1.0)
    assert facts.workload.scale == 2.0
    assert reference_of(facts) == pytest.approx({"s1-1": 2.0 * grown, "s2-1": 3.0 * grown})
    assert slowdown_of(open_run(tmp_path / "twice")) == pytest.approx(18.0 / (5.0 * grown))


def test_jobs_of_other_sizes_keep_their_own_reference_times(tmp_path: Path) -> None:
    """s2-1 has twice the size of s1-1, in the run as in the simulation; s3-1 is drawn of it, at size 1."""
    sizes = {"s1-1": 1.0, "s2-1": 2.0, "s3-1": 1.0}
    plain = plan([[[name]] for name in sizes])
    sessions = tuple(
        msgspec.structs.replace(
            session, stages=tuple(tuple(_sized(job, sizes) for job in stage) for stage in session.stages)
        )
        for session in plain.sessions
    )
    jobs = demands(TWO)
    of = scenario(
        system(device(), cores=4),
        msgspec.structs.replace(plain, sessions=sessions),
        jobs | {"s3-1": jobs["s2-1"]},
    )
    run, _ = stored(tmp_path / "run", of, referred({"s1-1": 2.0, "s2-1": 5.0}, scale=1.0))
    whole = CATALOGUE["wide_sort"].cpu_seconds
    drawn = 5.0 * whole(1.0) / whole(2.0)
    assert reference_of(run.facts) == pytest.approx({"s1-1": 2.0, "s2-1": 5.0, "s3-1": drawn})


def _sized(job: JobPlan, sizes: Mapping[str, float]) -> JobPlan:
    return msgspec.structs.replace(job, scale=sizes[job.job])


def test_every_node_of_a_simulation_has_its_reference_times(tmp_path: Path) -> None:
    of = scenario(system(device(), count=3, cores=2), plan([[["s1-1"]], [["s2-1"]]]), demands(TWO))
    run, _ = stored(tmp_path / "run", of, referred({"s1-1": 2.0, "s2-1": 3.0}, scale=1.0))
    own = {"s1-1": 2.0, "s2-1": 3.0}
    found = reference_of(run.facts)
    assert found == {f"node{node}.{name}": own[name] for node in (1, 2, 3) for name in own}
    assert slowdown_of(run) == pytest.approx(3 * 9.0 / (3 * 5.0))
    three = based_on(run, system(device(), cores=2))
    label = Label(run_id="again", source=run.facts)
    assert reference_of(write_folder(tmp_path / "again", *predict(three, Question()), label)) == found


def stages_of(of: Plan) -> list[list[list[str]]]:
    return [[[job.job for job in stage] for stage in session.stages] for session in of.sessions]


def test_every_node_keeps_its_own_plan(tmp_path: Path) -> None:
    """Two nodes with three sessions, and one whose jobs wait for each other."""
    of = scene()
    first, second = of.plans[0], plan([[["other-1"]], [["other-2"]]])
    jobs = {**of.jobs, **demands({f"other-{number}": [step(0.5, flow(20))] for number in (1, 2)})}
    three = replace(of, system=system(device(), count=3, cores=2), plans=(first, second), jobs=jobs)
    simulated, outcome = stored(tmp_path / "run", three)
    assert [group.count for group in outcome.resources.groups] == [2, 1]
    found = plans_of(simulated, demand_of(simulated, as_summary(judged(StoredView(simulated)))))
    assert [len(list(one.jobs())) for one in found] == [12, 12, 2]
    own = [without_node(one, ["node1", "node2", "node3"]) for one in found]
    assert [stages_of(one) for one in own] == [stages_of(one) for one in (first, first, second)]
    assert {job.job: job.node for job in simulated.job_records()} == {
        job.job: f"node{number}" for number, one in enumerate(found, 1) for job in one.jobs()
    }
    assert list(judged(StoredView(simulated))["cluster"]["nodes"]) == ["node1", "node2", "node3"]


def test_a_run_of_several_nodes_is_a_base_itself(tmp_path: Path) -> None:
    of = scene(count=3)
    simulated, _ = stored(tmp_path / "run", of)
    found = based_on(simulated, system(device(), cores=2))
    assert [len(list(one.jobs())) for one in found.plans] == [12, 12, 12]
    assert found.own.node_count == 3
    assert found.error_ratio == pytest.approx(0.0, abs=CLOSE_RATIO)
    written = write_folder(
        tmp_path / "again", *predict(found, Question()), Label(run_id="again", source=found.facts)
    )
    assert [run.node for run in written.node_runs] == ["node1", "node2", "node3"]
    again = {job.job for job in open_run(tmp_path / "again").job_records()}
    assert again == {job.job for job in simulated.job_records()}


def test_a_plan_outside_of_the_run_is_not_read(tmp_path: Path) -> None:
    simulated, _ = stored(tmp_path / "run", scene(count=2))
    demand = demand_of(simulated, as_summary(judged(StoredView(simulated))))
    (tmp_path / "plan.toml").write_text(plan_toml(plan([[["s1-1"]]])))
    (tmp_path / "run" / PLAN).write_text(nodes_toml(dict.fromkeys(("node1", "node2"), "../plan.toml")))
    assert [len(list(one.jobs())) for one in plans_of(simulated, demand)] == [12, 12]


def test_time_between_steps_is_part_of_the_demand(tmp_path: Path) -> None:
    """A step is taken out of every job's steps, and stays in what is known of the whole job."""
    simulated, _ = stored(tmp_path / "run", scene())
    whole = demand_of(simulated, as_summary(judged(StoredView(simulated))))
    records = [one for one in simulated.step_records() if one.number != 1]
    first = next(one for one in simulated.step_records() if one.number == 1)
    simulated.step_records = lambda jobs=None: records  # type: ignore[method-assign]
    found = demand_of(simulated, as_summary(judged(StoredView(simulated)))).jobs[first.job]
    assert [one.name for one in found.steps][-1] == "between steps"
    assert sum(one.cpu_seconds for one in found.steps) == pytest.approx(
        sum(one.cpu_seconds for one in whole.jobs[first.job].steps)
    )
    between = found.steps[-1]
    queue = first.waits.run_queue_seconds or 0.0
    asked = between.cpu_seconds + between.other_seconds + sum(between.blocked_seconds.values())
    assert asked == pytest.approx((first.usage.real_time_seconds or 0.0) - queue, rel=1e-4)


@pytest.mark.parametrize(("lacking_ratio", "lacks"), [(0.002, False), (0.5, True)])
def test_steps_of_milliseconds_without_waits_are_no_gap_in_the_demand(
    lacking_ratio: float, lacks: bool, tmp_path: Path
) -> None:
    simulated, _ = stored(tmp_path / "run", scene())
    records = list(simulated.step_records())
    seconds = sum(job.usage.real_time_seconds or 0.0 for job in simulated.job_records())
    shortened = msgspec.structs.replace(
        records[0],
        waits=Waits(),
        usage=msgspec.structs.replace(records[0].usage, real_time_seconds=lacking_ratio * seconds),
    )
    simulated.step_records = lambda jobs=None: [shortened, *records[1:]]  # type: ignore[method-assign]
    found = demand_of(simulated, as_summary(judged(StoredView(simulated))))
    assert (NO_ROLES in found.lacks) is lacks


def test_requests_at_once_are_the_waits_of_all_threads_over_those_of_the_step(tmp_path: Path) -> None:
    """A simulated run says them in the same way, so it is a base with the same requests at once."""
    look_ups = replace(flow(8, direction="read"), sequential_ratio=0.0, requests_at_once=8.0)
    of = scenario(
        system(device()),
        plan([[["one"]]]),
        demands({"one": [step(0.1, look_ups, flow(30, "util"), blocked=2.0)]}),
    )
    simulated, _ = stored(tmp_path / "run", of)
    (record,) = simulated.step_records()
    assert record.io is not None and record.waits.blocked_work_seconds is not None
    assert record.io["work"].waited_seconds == pytest.approx(8.0 * record.waits.blocked_work_seconds)
    job = demand_of(simulated, as_summary(judged(StoredView(simulated)))).jobs["one"]
    found = {one.role: one.requests_at_once for of_step in job.steps for one in of_step.flows}
    assert found == {"work": pytest.approx(8.0), "util": pytest.approx(1.0)}
