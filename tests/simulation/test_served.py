"""Several nodes over links to a storage server: bytes are kept, alike nodes go alike, more never slows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.figures.view import StoredView
from mawl.plan.workload import Plan
from mawl.records.model.node import StorageRun
from mawl.records.model.run import NodeFacts
from mawl.records.store import Run, open_run
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Demand, Flow, JobDemand
from mawl.simulation.device_rates import NO_SERVER, with_served_bytes
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Question, predict
from mawl.simulation.recorded_demand import demand_of
from mawl.simulation.scenario import Scenario, of_node, plans_of, run_scenario
from mawl.simulation.system import System, apply_changes, loads_system, parse_change, system_toml
from mawl.whatif.answer import validity_of
from mawl.whatif.folder import Label, write_folder
from tests.fakes.fitted import based_on, written
from tests.fakes.stored_run import facts
from tests.fakes.views import as_summary, judged
from tests.simulation.scenes import MB, demands, device, flow, plan, side_by_side, step, system

NODES = ["node1", "node2", "node3", "node4"]
LINK_RATIO, REACH = 1.05, 0.6
"""What crosses the links, and what reaches the server's device, of what jobs ask for."""


def crossing(of: Flow) -> Flow:
    return replace(
        of, link_bytes=of.application_bytes * LINK_RATIO, device_bytes=of.application_bytes * REACH
    )


def pool(rate: float = 40.0, link: float = 20.0, **more: Any) -> System:
    return system(device("pool", rate=rate, local=False), count=4, link_bytes_per_second=link * MB, **more)


def jobs_of(plans: Plan) -> dict[str, JobDemand]:
    return demands(
        {
            job.job: [
                step(0.2, crossing(flow(30)), blocked=0.1),
                step(0.1, crossing(flow(60, direction="read")), crossing(flow(20, "util"))),
            ]
            for job in plans.jobs()
        }
    )


def unlike(of: System) -> Scenario:
    """Every node has a plan of its own, though all do the same."""
    plans = tuple(of_node(plan([[["a"], ["b"]], [["c"]]]), node) for node in NODES)
    return Scenario(system=of, plans=plans, jobs={n: j for one in plans for n, j in jobs_of(one).items()})


def simulated(of: Scenario, alone_ratio: float = 1.0) -> SimulationOutcome:
    return run_scenario(of, Calibration(pool(), alone_ratio))


def stored(folder: Path, of: Scenario) -> tuple[Run, SimulationOutcome]:
    """The scenario as a run folder, of a run whose storage server was watched."""
    outcome = simulated(of)
    source = facts(
        nodes=[NodeFacts(name="node1", cores=8, core_basis="vCPU")],
        planned_jobs=[],
        storage_runs=[StorageRun(node="server", run_id="its", outcome="completed")],
    )
    write_folder(folder, of, outcome, Label(run_id="first", source=source))
    return open_run(folder), outcome


def sums(of: Demand) -> dict[tuple[str, str], float]:
    flows = [one for job in of.jobs.values() for part in job.steps for one in part.flows]
    return {
        (direction, kind): sum(getattr(one, f"{kind}_bytes") for one in flows if one.direction == direction)
        for direction in ("read", "write")
        for kind in ("application", "crossing", "device")
    }


def test_nodes_of_plans_of_their_own_that_do_the_same_end_together() -> None:
    apart = simulated(unlike(pool()))
    same = plan([[["a"], ["b"]], [["c"]]])
    alike = simulated(Scenario(system=pool(), plans=(same,), jobs=jobs_of(same)))
    assert len(apart.resources.groups) == 4 and len(alike.resources.groups) == 1
    ends = [max(job.ended for job in apart.jobs if job.group == group) for group in range(4)]
    assert ends == pytest.approx([alike.elapsed_seconds] * 4, rel=1e-9)


def test_a_node_with_more_to_do_ends_last_and_slows_nobodys_link() -> None:
    of = unlike(pool(rate=1000.0))
    heavy = {
        name: replace(job, steps=job.steps * 2) if name.startswith("node3.") else job
        for name, job in of.jobs.items()
    }
    ends = [
        max(job.ended for job in outcome.jobs if job.group == group)
        for outcome in (simulated(of), simulated(replace(of, jobs=heavy)))
        for group in range(4)
    ]
    assert ends[4:6] + ends[7:] == pytest.approx(ends[:3])
    assert ends[6] == pytest.approx(2 * ends[2], rel=0.1)


@pytest.mark.parametrize("alone", [0.0, 1.0])
@pytest.mark.parametrize("figure", ["link", "rate"])
def test_more_of_link_or_device_never_slows(figure: str, alone: float) -> None:
    times = [
        simulated(unlike(pool(**{figure: value})), alone).elapsed_seconds
        for value in (5.0, 8.0, 20.0, 50.0, 200.0, 1000.0)
    ]
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(times))
    assert times[-1] < times[0] / 2


def test_links_then_the_device_are_the_limit() -> None:
    """A node reads 189 MB over its link; of the device, 432 MB are read."""
    for of, least, name in (
        (pool(link=10.0, rate=1000.0), 189.0 / 10.0, "link"),
        (pool(link=1000.0, rate=20.0), 432.0 / 20.0, "pool"),
    ):
        found = simulated(unlike(of), 0.0)
        assert found.elapsed_seconds > least
        limits = found.recording.limits(0.0, found.elapsed_seconds)
        assert max(limits, key=lambda one: limits[one]) == name


def test_the_folder_has_what_links_and_server_moved(tmp_path: Path) -> None:
    made, _ = stored(tmp_path / "run", unlike(pool()))
    cluster = judged(StoredView(made))["cluster"]
    assert list(cluster["nodes"]) == NODES
    at_device = cluster["storage"]["server"]["device"]
    asked = {"read": 12 * 60 * MB, "written": 12 * 50 * MB}
    assert at_device["read_bytes"] == pytest.approx(asked["read"] * REACH, rel=1e-3)
    assert at_device["written_bytes"] == pytest.approx(asked["written"] * REACH, rel=1e-3)
    samples = StoredView(made).samples
    assert samples is not None
    for way, bytes_ in (("received", asked["read"]), ("sent", asked["written"])):
        ends = [samples.series(node, f"network.link.{way}_bytes") for node in NODES]
        assert sum(one.values[-1] for one in ends if one) == pytest.approx(bytes_ * LINK_RATIO)
    assert made.facts.link_bytes_per_second == 20 * MB


def test_what_the_server_moved_is_shared_out_whole(tmp_path: Path) -> None:
    made, outcome = stored(tmp_path / "run", unlike(pool()))
    started = made.facts.started_at
    edges = [started + outcome.elapsed_seconds * part / 7 for part in range(8)]
    before = demand_of(made, as_summary(judged(StoredView(made))))
    after = sums(with_served_bytes(before, made.facts, StoredView(made).samples, edges))
    for direction, asked in (("read", 12 * 60 * MB), ("write", 12 * 50 * MB)):
        assert after[direction, "application"] == pytest.approx(asked)
        assert after[direction, "crossing"] == pytest.approx(asked * LINK_RATIO, rel=1e-3)
        assert after[direction, "device"] == pytest.approx(asked * REACH, rel=1e-3)


def test_what_was_moved_belongs_to_the_steps_of_its_windows(tmp_path: Path) -> None:
    """For 3 s all jobs read what the server has in memory, then what it has not, more of it than they use."""
    flows = [flow(60, direction="read"), flow(60, direction="read")]
    halves = [
        step(0.1, replace(one, link_bytes=link * 60 * MB, device_bytes=reach * 60 * MB))
        for one, link, reach in zip(flows, (1.05, 1.4), (0.2, 0.9), strict=True)
    ]
    plans = tuple(of_node(plan([[["a"]]]), node) for node in NODES)
    jobs = demands({job.job: halves for one in plans for job in one.jobs()})
    made, outcome = stored(tmp_path / "run", Scenario(system=pool(link=21.0), plans=plans, jobs=jobs))
    turn, end = (max(job.steps[number].ended for job in outcome.jobs) for number in (0, 1))
    assert turn == pytest.approx(3.0)
    charged = at_the_node(demand_of(made, as_summary(judged(StoredView(made)))))
    for inner, crossed, reached in (
        ([], [1.225, 1.225], [0.55, 0.55]),
        ([turn], [1.05, 1.4], [0.2, 0.9]),
        # With half of the second step in the first window: (252 + 168) and (48 + 108) of its 240 + 120 MB.
        ([(turn + end) / 2], [7 / 6, (7 / 6 + 1.4) / 2], [13 / 30, (13 / 30 + 0.9) / 2]),
    ):
        edges = [made.facts.started_at + at for at in (0.0, *inner, end)]
        found = with_served_bytes(charged, made.facts, StoredView(made).samples, edges)
        for job in found.jobs.values():
            moved = [one.flows[0] for one in job.steps]
            assert [one.crossing_bytes / (60 * MB) for one in moved] == pytest.approx(crossed, rel=1e-3)
            assert [one.device_bytes / (60 * MB) for one in moved] == pytest.approx(reached, rel=1e-3)


def test_what_moves_while_nobody_asks_is_kept(tmp_path: Path) -> None:
    """All steps lie in a window of which samples tell nothing: they have the bytes of the others."""
    made, outcome = stored(tmp_path / "run", unlike(pool()))
    demand = demand_of(made, as_summary(judged(StoredView(made))))
    late = made.facts.started_at + outcome.elapsed_seconds
    asking = with_served_bytes(demand, made.facts, StoredView(made).samples, [made.facts.started_at, late])
    edges = [made.facts.started_at, late, late + 0.001]
    moved = {
        name: replace(job, steps=tuple(replace(part, span=(late, late + 0.001)) for part in job.steps))
        for name, job in demand.jobs.items()
    }
    found = with_served_bytes(replace(demand, jobs=moved), made.facts, StoredView(made).samples, edges)
    for kind in ("crossing", "device"):
        for direction in ("read", "write"):
            assert sums(found)[direction, kind] == pytest.approx(sums(asking)[direction, kind], rel=1e-3)


def at_the_node(of: Demand) -> Demand:
    """Of steps of one flow: charged with all of their bytes, as nodes whose own page cache had none."""
    jobs = {
        name: replace(
            job,
            steps=tuple(
                replace(part, flows=(replace(part.flows[0], device_bytes=part.flows[0].application_bytes),))
                for part in job.steps
            ),
        )
        for name, job in of.jobs.items()
    }
    return replace(of, jobs=jobs)


@pytest.mark.parametrize(
    ("link_bytes", "own_link", "seconds"),
    [(20 * MB, 10.0, 1.0), (20 * MB, None, 2.0), (0.0, 10.0, 2.0)],
    ids=["the link was the way", "there was no link", "nothing crossed"],
)
def test_what_the_servers_memory_answers_is_waited_for_at_the_link(
    link_bytes: float, own_link: float | None, seconds: float
) -> None:
    """Blocked for 2 s alone: half as long over a link of twice the rate, unless no link made it wait."""
    reads = replace(flow(20, direction="read"), link_bytes=link_bytes, device_bytes=0.0)
    work, jobs = side_by_side([[step(0.0, reads, blocked=2.0)]])
    link = None if own_link is None else own_link * MB
    own = replace(pool(), nodes=(replace(pool().nodes[0], link_bytes_per_second=link),))
    wider = Scenario(system=pool(link=20.0), plans=(work,), jobs=jobs)
    assert run_scenario(wider, Calibration(own, 1.0)).elapsed_seconds == pytest.approx(seconds)


def test_a_server_whose_samples_are_missing_is_a_lack(tmp_path: Path) -> None:
    made, outcome = stored(tmp_path / "run", unlike(pool()))
    demand = demand_of(made, as_summary(judged(StoredView(made))))
    span = (made.facts.started_at, made.facts.started_at + outcome.elapsed_seconds)
    for samples, edges in ((None, span), (StoredView(made).samples, None)):
        found = with_served_bytes(demand, made.facts, samples, edges)
        assert found.jobs == demand.jobs and NO_SERVER in found.lacks


def test_a_run_with_a_watched_server_is_a_base_itself(tmp_path: Path) -> None:
    made, outcome = stored(tmp_path / "run", unlike(pool()))
    own = based_on(made, pool())
    assert own.error_ratio == pytest.approx(0.0, abs=0.05)
    assert [one.workload for one in plans_of(made, own.demand)] == ["scene"] * 4
    seen = based_on(made).seen
    assert [one.name for one in seen.devices] == ["server"]
    assert seen.nodes[0].link_bytes_per_second == 20 * MB and seen.node_count == 4
    ranges = {}
    for link in ("28MB", "80MB", "10MB"):
        question = Question(changes=[parse_change(f"link={link}")])
        found, wide = predict(own, question)
        assert (wide.elapsed_seconds < outcome.elapsed_seconds) is (link != "10MB")
        ranges[link] = validity_of(own, question, found, wide.elapsed_seconds).range.low_seconds
    assert ranges["28MB"] is not None
    assert ranges["80MB"] is ranges["10MB"] is None


def test_nodes_of_one_machine_share_its_cores(tmp_path: Path) -> None:
    computing = {name: replace(job, steps=(step(4.0),)) for name, job in unlike(pool()).jobs.items()}
    of = replace(unlike(pool(cores=1.0)), jobs=computing)
    apart = simulated(of)
    one = replace(of, system=replace(of.system, one_machine=True))
    together = simulated(one)
    assert together.elapsed_seconds == pytest.approx(4 * apart.elapsed_seconds)
    made, _ = stored(tmp_path / "run", one)
    assert [node.same_machine_as for node in made.facts.nodes] == [None, "node1", "node1", "node1"]
    samples = StoredView(made).samples
    assert samples is not None
    host = [samples.series(node, "host.cpu_user_seconds") for node in NODES]
    assert host[0] is not None and host[0].values[-1] == pytest.approx(12 * 4.0)
    assert host[1:] == [None, None, None]
    seen = based_on(made).own
    assert seen.one_machine and seen.node_count == 4


def test_what_no_such_system_can_be_is_refused() -> None:
    with pytest.raises(UsageError, match="link_bytes_per_second is 0"):
        apply_changes(pool(), [parse_change("link=0")])
    kinds = (pool().nodes[0], replace(pool().nodes[0], cores=2.0))
    with pytest.raises(UsageError, match="nodes of one machine differ in cores"):
        replace(pool(), nodes=kinds, one_machine=True)
    one = replace(pool(), one_machine=True)
    assert loads_system(system_toml(one), where="text") == one
    text = system_toml(replace(pool(), nodes=kinds)).replace("[[nodes]]", "one_machine = true\n[[nodes]]", 1)
    with pytest.raises(InvalidFileError, match="differ in cores"):
        loads_system(text, where="text")


def test_a_description_of_other_nodes_than_the_runs_is_refused(tmp_path: Path) -> None:
    made, _ = stored(tmp_path / "run", unlike(pool()))
    three = replace(pool(), nodes=(replace(pool().nodes[0], count=3),))
    with pytest.raises(UsageError, match="4 nodes of the run have a plan, and the system has 3"):
        based_on(made, three)


def test_nodes_that_differ_have_kinds_and_devices_of_their_own(tmp_path: Path) -> None:
    """One has eight cores and a fast disk, the other one core and a slow one; both do the same."""
    disks = device("fast", rate=400.0), device("slow", rate=20.0)
    kinds = [system(disk, cores=cores).nodes[0] for disk, cores in zip(disks, (8.0, 1.0), strict=True)]
    both = replace(system(*disks), nodes=tuple(kinds))
    of = unlike(both)
    outcome = run_scenario(of, Calibration(both, 0.0))
    ends = [max(job.ended for job in outcome.jobs if job.group == group) for group in (0, 1)]
    assert ends[1] > 5 * ends[0]
    source = facts(nodes=[NodeFacts(name="node1", cores=8, core_basis="vCPU")], planned_jobs=[])
    made, _ = written(tmp_path / "run", of, source, alone_ratio=0.0)
    found = based_on(made)
    assert [kind.cores for kind in found.seen.nodes] == [8.0, 1.0]
    assert [one.name for one in found.seen.devices] == ["node1-fast", "node2-slow"]
    described = based_on(made, both)
    assert described.error_ratio == pytest.approx(0.0, abs=0.05)
    quick = predict(
        found, Question(changes=[parse_change("node2-slow.shared=400MB"), parse_change("cores=8")])
    )
    assert quick[1].elapsed_seconds < outcome.elapsed_seconds
    assert quick[1].elapsed_seconds > ends[0]
