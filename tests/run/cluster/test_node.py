"""A node as the controller sees it: what it said, and a folder that cannot be read at the end.

What the controller says of nodes that do not answer, before they count as lost.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from mawl.plan.workload import load_workload, make_plan
from mawl.records.spec.task import TaskFailure
from mawl.records.store import open_run
from mawl.records.store.folder import RunWriter
from mawl.run.cluster.link import NoAnswerError
from mawl.run.cluster.merge import Mirror
from mawl.run.cluster.messages import Ended, Halt, NodeTask, Notice, Refused, to_node
from mawl.run.cluster.remote_node import Attendant, RemoteNode
from tests.fakes.stored_run import facts, job
from tests.fakes.watcher import Watcher


class Silenced:
    """A link whose every question takes as long as it may; why nobody answers, by node (None: it does)."""

    def __init__(self, whys: dict[str, str | None]) -> None:
        self.now, self.whys = 1000.0, whys

    async def ask(self, node: str, function: str, *arguments: Any, seconds: float) -> str:
        why = self.whys[node]
        if why is None:
            return "an answer"
        self.now += seconds
        raise NoAnswerError(why)


def node_test_attend(name: str) -> Any:
    """As much of a node as a question needs."""
    return SimpleNamespace(
        name=name,
        mirror=None,
        task=SimpleNamespace(run_id=name),
        words=[],
        heard=0,
        answered=1000.0,
        lost=None,
        take=lambda answer, writer: None,
    )


def heard(link: Silenced, nodes: list[Any], rounds: int) -> list[str]:
    """What is said while each node is asked so many times."""
    said: list[str] = []
    attendant = Attendant(
        cast(Any, link), 30.0, said.append, now=lambda: link.now, monotonic=lambda: link.now
    )
    for _ in range(rounds):
        for one in nodes:
            asyncio.run(attendant.ask(one, None))
    return said


def test_a_silent_node_is_said_once_with_what_becomes_of_it() -> None:
    nodes = [node_test_attend("a"), node_test_attend("b")]
    said = heard(Silenced({"a": None, "b": "b did not answer"}), nodes, rounds=5)
    assert said == [
        "b did not answer; a node stops its jobs after 15 s of silence and counts as lost after 30 s"
    ]
    assert [one.lost for one in nodes] == [None, None]


def test_a_silent_scheduler_is_said_once_for_all_nodes() -> None:
    nodes = [node_test_attend("a"), node_test_attend("b")]
    silent = "the scheduler did not answer"
    [said] = heard(Silenced({"a": silent, "b": silent}), nodes, rounds=3)
    assert said.startswith(f"{silent}; a node stops")
    assert nodes[1].lost == f"no answer for 30 s ({silent})"


def test_a_node_that_answered_again_is_said_again() -> None:
    link, one, said = Silenced({"a": "a did not answer"}), node_test_attend("a"), list[str]()
    attendant = Attendant(
        cast(Any, link), 30.0, said.append, now=lambda: link.now, monotonic=lambda: link.now
    )
    for why in ("a did not answer", "a did not answer", None, "a did not answer"):
        link.whys["a"] = why
        asyncio.run(attendant.ask(one, None))
    assert len(said) == 2 and len(set(said)) == 1


def node_test_node(watcher: Watcher) -> RemoteNode:
    spec, where = load_workload("nano")
    task = NodeTask(
        run_id="r-n1",
        node="n1",
        plan=make_plan(spec, where=where, scale=0.0005),
        folder="there",
        lease_seconds=1.0,
    )

    async def made() -> RemoteNode:
        return RemoteNode(task, watcher)

    return asyncio.run(made())


def answer(
    *words: msgspec.Struct, exit_status: int | None = None, complaint: str = "", stopped: int | None = None
) -> dict[str, object]:
    return {
        "said": [msgspec.json.encode(word) for word in words],
        "exit": exit_status,
        "complaints": [complaint] if complaint else [],
        "stopped": stopped,
        "journal": {},
    }


@pytest.mark.parametrize(
    ("words", "exit_status", "outcome"),
    [
        ([Ended("failed", "1 of 8 jobs did not finish")], 0, ("failed", "1 of 8 jobs did not finish")),
        (
            [Refused(TaskFailure(kind="UnsuitableMachineError", what="no space there"))],
            1,
            ("failed", "no space there"),
        ),
        ([], -9, ("failed", "its runner ended without a word (killed by signal 9): the last line")),
        ([], 3, ("failed", "its runner ended without a word (exit status 3): the last line")),
    ],
)
def test_the_end_of_a_node_has_its_reason(
    words: list[msgspec.Struct], exit_status: int, outcome: tuple[str, str]
) -> None:
    watcher = Watcher()
    found = node_test_node(watcher)
    found.take(answer(Notice("look here"), *words, exit_status=exit_status, complaint="the last line"), None)
    assert found.outcome() == outcome and found.heard == 1 + len(words)
    assert watcher.notices == ["n1: look here"]


def test_words_are_numbered_so_that_none_is_taken_twice() -> None:
    found = node_test_node(Watcher())
    found.tell(Halt(1))
    found.tell(Halt(2))
    assert [(number, to_node(line)) for number, line in found.words] == [(1, Halt(1)), (2, Halt(2))]
    assert found.wake.is_set()


def test_a_folder_that_cannot_be_read_costs_what_did_not_come_before(tmp_path: Path) -> None:
    found = node_test_node(Watcher())
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None))
    own.job(job("s1-1", 1.0, 5.0))
    found.mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    merged = RunWriter(tmp_path / "merged", facts(outcome="running", ended_at=None, planned_jobs=[]))
    jobs = {"jobs.jsonl": (tmp_path / "own" / "journal" / "jobs.jsonl").read_bytes()}
    found.take(answer(Ended("completed", None), exit_status=0) | {"journal": jobs}, merged)
    (found.mirror.path / "run.json").write_text("{")
    part = found.close(merged)
    assert part.facts is None
    assert part.run.outcome == "failed" and "is not JSON" in (part.run.reason or "")
    merged.finish(facts(planned_jobs=[]))
    own.close()
    assert [one.job for one in open_run(tmp_path / "merged").job_records()] == ["n1.s1-1"]


def test_a_line_that_was_damaged_on_the_way_makes_no_job_count_twice(tmp_path: Path) -> None:
    found = node_test_node(Watcher())
    own = RunWriter(tmp_path / "own", facts(outcome="running", ended_at=None, planned_jobs=[]))
    names = ["s1-1", "s1-2", "s1-3"]
    for name in names:
        own.job(job(name, 1.0, 5.0))
    found.mirror = Mirror(tmp_path / "nodes" / "n1", (tmp_path / "own" / "run.json").read_bytes(), b"")
    merged = RunWriter(tmp_path / "merged", facts(outcome="running", ended_at=None, planned_jobs=[]))
    journal = (tmp_path / "own" / "journal" / "jobs.jsonl").read_bytes()
    damaged = journal.replace(b"s1-2", b"s1\xff2")
    found.take(answer(Ended("completed", None), exit_status=0) | {"journal": {"jobs.jsonl": damaged}}, merged)
    copy = found.mirror.begin_copy()
    shutil.copytree(tmp_path / "own", copy, dirs_exist_ok=True)
    found.mirror.replace(copy)
    found.close(merged)
    merged.finish(facts(planned_jobs=[]))
    own.close()
    jobs = [one.job for one in open_run(tmp_path / "merged").job_records()]
    assert sorted(jobs) == [f"n1.{name}" for name in names]


def test_a_nodes_process_that_is_stopped_is_told_once_for_each_stop() -> None:
    watcher = Watcher()
    found = node_test_node(watcher)
    for stopped in (None, 7, 7, None, 7):
        found.take(answer(stopped=stopped), None)
    told = "n1: the node's process 7 was stopped by a signal, and the run waits for it; kill -CONT 7 there "
    assert [text.startswith(told) for text in watcher.notices] == [True, True]
