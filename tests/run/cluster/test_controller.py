"""A run on several nodes: real node processes on this machine, over a link without a cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import compute

from mawl.advice import judge
from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import MawlError
from mawl.figures.view import StoredView
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import OnLostNode
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import Run, open_run
from mawl.records.volumes import remove_leftover
from mawl.run.cluster import agent, controller
from mawl.run.cluster.controller import ClusterRequest, Controller
from mawl.run.cluster.link import NoAnswerError
from mawl.run.cluster.messages import NodeTask
from mawl.run.launch.setup import live_runs
from mawl.run.runner.counting import leftover_counters
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.restrict import CGROUPS, GROUP_PREFIX
from tests.fakes.local_nodes import LocalLink
from tests.fakes.merged_sums import check_sums
from tests.fakes.second_figures import compare
from tests.fakes.views import judged
from tests.fakes.watcher import Watcher

RUN = f"c{os.getpid()}"
"""Of this process alone: a test that ends its run does not end one of another worker."""

SLEEPERS = """
name = "sleepers"
[[sessions]]
name = "a"
stages = [[{ command = ["sleep", "0.2"] }], [{ command = ["sleep", "60"] }]]
[[sessions]]
name = "b"
stages = [[{ command = ["sleep", "60"] }], [{ command = ["true"] }]]
"""


def plan_of(workload: str) -> Plan:
    spec, where = load_workload(workload)
    return make_plan(spec, where=where, scale=0.0005)


class Lab:
    """Some nodes with roles of their own under one directory, and one controller."""

    def __init__(self, directory: Path, plans: dict[str, Plan], lease_seconds: float = 3.0) -> None:
        self.directory = directory
        self.link = LocalLink()
        self.watcher = Watcher()
        self.tasks = [
            NodeTask(
                run_id=f"{RUN}-{name}",
                node=name,
                plan=plan,
                spec=RunSpec(
                    data=(str(directory / "data"),),
                    work=(str(directory / f"work-{name}"),),
                    util=(str(directory / f"util-{name}"),),
                ),
                folder=str(directory / "there" / f"{RUN}-{name}"),
                lease_seconds=lease_seconds,
            )
            for name, plan in plans.items()
        ]
        self.folder = directory / "runs" / RUN

    def conduct(self, on_lost_node: OnLostNode = "continue", **options: Any) -> RunFacts:
        request = ClusterRequest(
            run_id=RUN,
            folder=self.folder,
            tasks=self.tasks,
            on_lost_node=on_lost_node,
            node_timeout_seconds=2 * self.tasks[0].lease_seconds,
            runs=self.directory / "runs",
            **options,
        )
        with Interrupts() as interrupts:
            return asyncio.run(Controller(request, self.link, self.watcher, interrupts).conduct())

    def run(self) -> Run:
        return open_run(self.folder)

    def node(self, name: str) -> Run:
        return open_run(self.folder / "nodes" / name)


@pytest.fixture(autouse=True)
def leftovers_of_killed_nodes(tmp_path: Path) -> Iterator[None]:
    """Remove the counters and control groups that a killed node leaves, as ``mawl clean`` does."""
    yield
    for directory in leftover_counters({RUN}, tmp_path):
        remove_leftover(directory)
    deadline = time.monotonic() + 5
    while (groups := own_groups()) and time.monotonic() < deadline:
        for group in groups:
            with contextlib.suppress(OSError):  # a process of it is still ending
                group.rmdir()
        time.sleep(0.05)


def own_groups() -> list[Path]:
    """Control groups of this process's nodes, whatever still runs in them."""
    return list(CGROUPS.glob(f"**/{GROUP_PREFIX}{RUN}-node*"))


@pytest.fixture
def sleepers(tmp_path: Path) -> Lab:
    """Two nodes with jobs that last until they are stopped."""
    (tmp_path / "sleepers.toml").write_text(SLEEPERS)
    plan = plan_of(str(tmp_path / "sleepers.toml"))
    return Lab(tmp_path, {"node1": plan, "node2": plan})


def once_running(lab: Lab, jobs: int, act: Callable[[], None]) -> None:
    """Act once when the merged journal tells of so many started jobs."""
    done: list[str] = []

    def before(node: str, function: str) -> None:
        journal = lab.folder / "journal" / "events.jsonl"
        if not done and journal.exists() and journal.read_text().count('"job_started"') >= jobs:
            done.append(node)
            act()

    lab.link.before = before


def until_gone(run_ids: list[str]) -> None:
    """Wait until no process carries the mark of these runs."""
    for _ in range(200):
        if not set(run_ids) & set(live_runs()):
            return
        time.sleep(0.1)
    raise AssertionError(f"jobs outlive the run: {live_runs()}")


def test_a_question_before_the_gate_that_nobody_answers_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(
        'name = "short"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
    )
    lab = Lab(tmp_path, {"node1": plan_of(str(tmp_path / "short.toml"))}, lease_seconds=30.0)
    lost = {"pieces", "clock"}

    def before(node: str, function: str) -> None:
        if function in lost:
            lost.remove(function)
            raise NoAnswerError(f"{node} did not answer")

    lab.link.before = before
    facts = lab.conduct()
    assert not lost, "both questions were lost once"
    assert (facts.outcome, facts.outcome_reason) == ("completed", None)
    assert facts.node_runs[0].clock is not None and facts.node_runs[0].folder == "nodes/node1"
    assert facts.overhead.startup_cpu_seconds is not None and facts.overhead.startup_cpu_seconds > 0
    assert lab.run().jobs.column("outcome").to_pylist() == ["finished"]


def short(directory: Path, lease_seconds: float = 30.0) -> Lab:
    """Two nodes with one short job each."""
    (directory / "short.toml").write_text(
        'name = "short"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
    )
    plan = plan_of(str(directory / "short.toml"))
    return Lab(directory, {"node1": plan, "node2": plan}, lease_seconds)


def half(sizes: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(name, size // 2) for name, size in sizes]


def without_jobs(sizes: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(name, size) for name, size in sizes if not name.startswith("jobs")]


@pytest.mark.lab
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "Input/output error"),
        (half, ""),
        (without_jobs, ""),
        (lambda sizes: [("../../x", 1)], "outside its run folder"),
        (lambda sizes: 17, "not iterable"),
        (lambda sizes: [("run.json", "many")], "Expected `int`"),
    ],
)
def test_a_node_whose_folder_does_not_come_over_whole_has_failed(
    tmp_path: Path, answer: Callable[[Any], Any] | None, why: str
) -> None:
    """Its jobs had ended; the merged run has no record of that, and must not say that all is complete."""
    lab = short(tmp_path)

    def lie(node: str, function: str, found: Any) -> Any:
        if (node, function) != ("node1", "files"):
            return found
        if answer is None:
            raise MawlError("node1: the agent failed", why="OSError: Input/output error")
        return answer(found)

    lab.link.lie = lie
    facts = lab.conduct()
    assert facts.outcome == "failed"
    first, second = facts.node_runs
    assert (first.outcome, second.outcome) == ("failed", "completed")
    assert (first.whole, second.whole) == (False, True)
    assert first.reason is not None and first.reason.startswith("its run folder was not copied whole: ")
    assert why in first.reason
    assert open_run(tmp_path / "there" / f"{RUN}-node1").facts.outcome == "completed", "it stays there"
    assert not (lab.folder / "nodes" / ".node1").exists()
    said = judge.judged(StoredView(lab.run())).answer
    assert said.answer == "not known" and said.reason is not None
    assert said.reason.startswith("node1 did not go through (its run folder was not copied whole: ")


@pytest.mark.lab
def test_a_piece_of_a_folder_that_does_not_come_is_asked_for_again(tmp_path: Path) -> None:
    lab = short(tmp_path)
    failing = ["pieces", "pieces", "files"]

    def before(node: str, function: str) -> None:
        ended = node == "node2" and (lab.folder / "nodes" / ".node2").exists()
        if ended and failing and failing[-1] == function:
            failing.pop()
            raise NoAnswerError("node2 did not answer")

    lab.link.before = before
    facts = lab.conduct()
    assert not failing and (facts.outcome, facts.outcome_reason) == ("completed", None)
    assert not (tmp_path / "there" / f"{RUN}-node2").exists(), "it was copied"


@pytest.mark.lab
@pytest.mark.parametrize(
    ("asked", "answer", "why"),
    [
        ("keep", 17, "it answered what no mawl answers"),
        ("keep", {"said": [b"{}"]}, "it answered what no mawl answers"),
        (
            "keep",
            {"said": [b"nonsense"], "exit": None, "complaints": [], "stopped": None, "journal": {}},
            "malformed",
        ),
        (
            "keep",
            {"said": [], "exit": "0", "complaints": [], "stopped": None, "journal": {}},
            "Expected `int",
        ),
        ("clock", float("nan"), "its clock says nan"),
        ("clock", 1e9, "its clock says 1000000000.0"),
        ("clock", "noon", "its clock says noon"),
        ("pieces", [b"", b""], "the beginning of its run folder is none"),
        ("pieces", None, "the beginning of its run folder is none"),
    ],
)
def test_a_node_that_answers_nonsense_costs_that_node(
    tmp_path: Path, asked: str, answer: Any, why: str
) -> None:
    lab = short(tmp_path)
    lab.link.lie = lambda node, function, found: (
        answer if (node, function) == ("node2", asked) and lab.folder.exists() else found
    )
    facts = lab.conduct()
    first, second = facts.node_runs
    assert (first.outcome, second.outcome, facts.outcome) == ("completed", "lost", "failed")
    assert second.reason is not None and why in second.reason
    assert [job.outcome for job in lab.run().job_records() if job.node == "node1"] == ["finished"]
    agent.finish(f"{RUN}-node2", False)
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])


@pytest.mark.lab
def test_a_node_that_is_not_ready_long_after_the_first_is_lost_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "LEAST_GATE_SECONDS", 0.5)
    monkeypatch.setattr(controller, "GATE_TIMEOUTS", 0)
    monkeypatch.setattr(controller, "WORD_SECONDS", 0.2)
    lab = short(tmp_path)

    def lie(node: str, function: str, found: Any) -> Any:
        if (node, function) == ("node2", "keep"):
            return found | {"said": [line for line in found["said"] if b'"ready"' not in line]}
        return found

    lab.link.lie = lie
    facts = lab.conduct()
    assert [run.outcome for run in facts.node_runs] == ["completed", "lost"]
    assert facts.node_runs[1].reason == "its jobs were not ready 0 s after those of the first node"
    assert any(text == "waiting for node2: its jobs are not ready" for text in lab.watcher.notices)
    agent.finish(f"{RUN}-node2", False)


@pytest.mark.lab
def test_the_nodes_are_one_run_whose_sums_are_those_of_the_nodes_own_folders(tmp_path: Path) -> None:
    names = ["node1", "node2"]
    lab = Lab(tmp_path, dict.fromkeys(names, plan_of("nano")), lease_seconds=30.0)
    facts = lab.conduct()
    assert (facts.outcome, facts.outcome_reason) == ("completed", None)
    run = lab.run()
    assert (facts.workload.name, facts.workload.sessions, facts.workload.jobs) == ("2xnano", 8, 16)
    assert run.jobs.num_rows == 16 and compute.all(run.jobs.column("verified")).as_py()
    own = {name: lab.node(name) for name in names}
    check_sums(lab.folder)
    assert run.events.num_rows == sum(one.events.num_rows for one in own.values())
    assert {node.name: node.same_machine_as for node in facts.nodes} == {
        "node1": None, "node2": "node1",
    }  # fmt: skip
    moments = [run.gate_after_seconds for run in facts.node_runs]
    assert all(moment is not None for moment in moments)
    assert [run.folder for run in facts.node_runs] == [f"nodes/{name}" for name in names]
    assert not (tmp_path / "there").exists() or not any((tmp_path / "there").iterdir())
    host = {node for node in set(run.samples.column("node").to_pylist())
            if any(name.startswith("host.") for name in run.samples.filter(
                compute.equal(run.samples.column("node"), node)).column("series").to_pylist())}  # fmt: skip
    assert host == {"node1"}, "one machine tells of itself once"
    assert sum(word == "begin" for _, word in lab.link.asked) == 2
    assert len(lab.watcher.ended) == 16 and lab.watcher.statuses
    compare(judged(StoredView(run), AnswerBounds()), lab.folder)


def test_a_node_that_is_gone_leaves_a_whole_folder_and_the_others_go_on(sleepers: Lab) -> None:
    def lose() -> None:
        sleepers.link.gone.add("node2")
        agent._CHILDREN[f"{RUN}-node2"].end()  # what the end of its worker means for it
        agent._CHILDREN[f"{RUN}-node1"].tell([(10**6, b'{"type":"halt","level":2}')])

    once_running(sleepers, 4, lose)
    facts = sleepers.conduct()
    assert facts.outcome == "failed" and "node2: the worker of node2 is gone" in (facts.outcome_reason or "")
    outcomes = {job.job: (job.outcome, job.reason) for job in sleepers.run().job_records()}
    assert outcomes["node2.b.1.sleep"][0] == "lost"
    assert outcomes["node2.b.2.true"] == ("not_started", "node2 was lost: the worker of node2 is gone")
    assert outcomes["node1.a.1.sleep"][0] == "finished"
    assert sleepers.node("node2").facts.outcome == "interrupted"
    assert [run.outcome for run in facts.node_runs] == ["interrupted", "lost"]
    assert any("node2 was lost" in remark for remark in facts.remarks)
    kept = f"node2 left its run folder behind: {sleepers.directory / 'there' / f'{RUN}-node2'}; mawl collect"
    assert any(remark.startswith(kept) for remark in facts.remarks)
    said = judge.judged(StoredView(sleepers.run())).answer
    assert said.answer == "not known"
    assert (said.reason or "").startswith("node2 was lost (the worker of node2 is gone): ")
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])


@pytest.mark.lab
def test_a_silent_node_stops_its_jobs_by_itself_and_the_others_are_stopped_when_asked(sleepers: Lab) -> None:
    once_running(sleepers, 4, lambda: sleepers.link.silent.add("node2"))
    facts = sleepers.conduct(on_lost_node="stop")
    runs = {run.node: run for run in facts.node_runs}
    assert runs["node2"].outcome == "lost" and "no answer for" in (runs["node2"].reason or "")
    assert runs["node1"].outcome == "interrupted"
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
    there = open_run(sleepers.directory / "there" / f"{RUN}-node2")
    assert there.facts.outcome == "interrupted", "what the node itself kept says how it ended"
    agent.finish(f"{RUN}-node2", False)


@pytest.mark.lab
def test_a_killed_runner_is_no_lost_node_and_its_folder_is_copied(sleepers: Lab) -> None:
    def kill() -> None:
        os.kill(agent._CHILDREN[f"{RUN}-node1"]._process.pid, signal.SIGKILL)
        agent._CHILDREN[f"{RUN}-node2"].tell([(10**6, b'{"type":"halt","level":2}')])

    once_running(sleepers, 4, kill)
    facts = sleepers.conduct()
    runs = {run.node: run for run in facts.node_runs}
    assert runs["node1"].outcome == "failed" and "killed by signal 9" in (runs["node1"].reason or "")
    jobs = {job.job: job.outcome for job in sleepers.node("node1").job_records()}
    assert jobs["b.1.sleep"] == "lost"
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])


def test_the_end_of_the_controller_stops_the_agents(sleepers: Lab) -> None:
    def fail() -> None:
        raise OSError("the controller met something")

    once_running(sleepers, 4, fail)
    with pytest.raises(OSError, match="met something"):
        sleepers.conduct()
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
    kept = sleepers.run().facts
    assert (kept.outcome, kept.outcome_reason) == ("failed", "the controller met something")
    assert sleepers.run().jobs.num_rows == 8


def test_an_interrupt_reaches_every_node(sleepers: Lab) -> None:
    once_running(sleepers, 4, lambda: signal.raise_signal(signal.SIGTERM))
    facts = sleepers.conduct()
    assert (facts.outcome, facts.outcome_reason) == ("interrupted", "stopped by SIGTERM")
    assert {job.outcome for job in sleepers.run().job_records()} == {"finished", "stopped", "not_started"}
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])


def test_a_role_that_is_not_shared_is_refused_where_it_must_be(sleepers: Lab) -> None:
    with pytest.raises(MawlError, match="node1 does not see what node2 wrote there, so work is not one"):
        sleepers.conduct(shared=("work",))
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
    assert not list(sleepers.directory.glob("*/.mawl-node-*"))


def test_a_node_that_cannot_write_is_named(sleepers: Lab) -> None:
    (sleepers.directory / "util-node2").write_text("in the way")
    with pytest.raises(MawlError, match=r"node2: .*util-node2: the util directory cannot be written"):
        sleepers.conduct()
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
