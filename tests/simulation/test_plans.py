"""The plans of a run's nodes: each keeps its jobs and their demand, also in other numbers of sessions."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from mawl.figures.view import StoredView
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mixed
from mawl.plan.workload import make_plan
from mawl.records.model.node import NodeRun
from mawl.records.model.run import CacheFacts, NodeFacts
from mawl.records.store import open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.forecast import NO_PAGE_CACHE, Base, Question, base_of, scenario_of
from mawl.simulation.scenario import Scenario, of_node, run_scenario, without_node
from mawl.whatif.folder import Label, write_folder
from tests.fakes.stored_run import facts
from tests.fakes.views import as_summary, judged
from tests.simulation.scenes import demands, flow, plan, step, system

NODES = ("node1", "node2")
OWN = system(count=2, cores=4)


@pytest.fixture(scope="module")
def mixed20(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """A run of ``mixed20`` in five sessions on each of two nodes; no two of its jobs did the same."""
    one = make_plan(mixed(5), where="mixed20", catalogue=CATALOGUE, scale=0.01)
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
    write_folder(folder, of, run_scenario(of, Calibration(OWN, 1.0)), Label(run_id="first", source=source))
    made = open_run(folder)
    return base_of(StoredView(made), as_summary(judged(StoredView(made))), OWN)


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
