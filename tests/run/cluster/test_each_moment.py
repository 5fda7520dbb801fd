"""A node that is killed, stopped for a while, cut off or lying, at each moment of a run on two nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

import pytest

from mawl.advice import judge
from mawl.base.errors import MawlError
from mawl.figures.view import StoredView
from mawl.records.model.run import RunFacts
from mawl.run.cluster import agent
from tests.fakes.merged_sums import check_sums
from tests.run.cluster.test_controller import RUN, Lab, plan_of, until_gone
from tests.run.cluster.test_controller import leftovers_of_killed_nodes as leftovers_of_killed_nodes

WORKLOAD = """
name = "sleepers"
[[sessions]]
name = "a"
stages = [
  [{ command = ["sleep", "0.3"] }], [{ command = ["sleep", "0.3"] }], [{ command = ["sleep", "0.3"] }],
]
"""
JOBS = 3
STOPPED_SECONDS = 1.0
MOMENTS = ("start", "gate", "first job", "middle job", "last job", "copying", "merging")
Fault = Literal["killed", "stopped", "cut off", "lying"]


class Moment:
    """Does a fault to node2 once, when the run has come to a moment."""

    def __init__(self, lab: Lab, moment: str, fault: Fault) -> None:
        self.lab, self.moment, self.fault = lab, moment, fault
        self.since: float | None = None

    def reached(self, node: str, function: str) -> bool:
        copy = self.lab.folder / "nodes" / ".node2"
        match self.moment:
            case "start":
                return (node, function) == ("node2", "begin")
            case "gate":
                return (node, function) == ("node2", "clock")
            case "copying":
                return (node, function) == ("node2", "pieces") and copy.exists()
            case "merging":
                return (node, function) == ("node2", "finish")
        return (
            len(self.lab.watcher.ended)
            >= {"first job": 1, "middle job": JOBS, "last job": 2 * JOBS - 2}[self.moment]
        )

    def before(self, node: str, function: str) -> None:
        if self.since is None and self.reached(node, function):
            self.since = time.monotonic()
            if self.fault == "killed":
                self.lab.link.gone.add("node2")
                if (child := agent._CHILDREN.get(f"{RUN}-node2")) is not None:
                    child.end()
            elif self.fault != "lying":
                self.lab.link.silent.add("node2")
        over = self.since is not None and time.monotonic() >= self.since + STOPPED_SECONDS
        if self.fault == "stopped" and over:
            self.lab.link.silent.discard("node2")

    def lie(self, node: str, function: str, found: Any) -> Any:
        return 17 if self.fault == "lying" and self.since is not None and node == "node2" else found


def whole(moment: str, fault: Fault) -> bool:
    """Whether the run goes through all the same: the node answers again, or nothing more was asked of it."""
    return (moment != "start" and fault == "stopped") or moment == "merging"


@pytest.mark.lab
@pytest.mark.parametrize("fault", ["killed", "stopped", "cut off", "lying"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_whatever_happens_to_a_node_the_run_says_what_is_true(
    tmp_path: Path, moment: str, fault: Fault
) -> None:
    (tmp_path / "sleepers.toml").write_text(WORKLOAD)
    plan = plan_of(str(tmp_path / "sleepers.toml"))
    lab = Lab(tmp_path, {"node1": plan, "node2": plan}, lease_seconds=1.5)
    at = Moment(lab, moment, fault)
    lab.link.before, lab.link.lie = at.before, at.lie
    facts: RunFacts | None = None
    try:
        facts = lab.conduct()
    except MawlError as error:
        assert moment == "start" and "node2" in str(error)
        assert not lab.folder.exists(), "nothing began"
    assert at.since is not None, "the moment came"
    if facts is not None:
        first, second = facts.node_runs
        said = judge.judged(StoredView(lab.run())).answer
        assert first.outcome == "completed"
        assert (facts.outcome, second.outcome == "completed", second.whole) == (
            ("completed", True, True) if whole(moment, fault) else ("failed", False, False)
        )
        if not whole(moment, fault):
            assert said.answer == "not known" and said.reason is not None and said.reason.startswith("node2 ")
        assert not (lab.folder / "nodes" / ".node2").exists()
        check_sums(lab.folder)
    agent.finish(f"{RUN}-node2", False)
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
    assert not list(tmp_path.glob("*/.mawl-node-*"))
