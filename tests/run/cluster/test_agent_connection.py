"""The line between a node's process and its agent: the lease, the last resort, a pipe nobody reads.

The agent as the worker's process has it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from mawl.records.store.folder import RunWriter
from mawl.run.cluster import agent
from mawl.run.cluster import messages as module
from mawl.run.cluster.agent import AgentTask
from mawl.run.cluster.messages import (
    AgentConnection,
    AgreedOpening,
    GateReady,
    Halt,
    NodeProgress,
    NodeTask,
    OpenGate,
    StartPlan,
    TokenSearch,
    from_node,
)
from mawl.run.launch.setup import live_runs
from mawl.run.runner.request import Status
from tests.fakes.stored_run import facts


class Ends:
    """A line with its other ends, and what it did."""

    def __init__(self) -> None:
        read, self.tell = os.pipe()
        self.hear, write = os.pipe()
        self.given_up = threading.Event()
        self.line = AgentConnection(read, write, self.given_up.set)
        self.signals: list[int] = []

    def send(self, *words: msgspec.Struct) -> None:
        for word in words:
            os.write(self.tell, msgspec.json.encode(word) + b"\n")

    def until(self, number: int) -> bool:
        for _ in range(100):
            if number in self.signals:
                return True
            time.sleep(0.02)
        return False


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ends]:
    """Signals that the line sends are written down."""
    monkeypatch.setattr(module, "LAST_RESORT_SECONDS", 0.1)
    found = Ends()
    before = {
        number: signal.signal(number, lambda sent, _: found.signals.append(sent))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    yield found
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_controller_that_is_silent_for_the_lease_ends_the_process(ends: Ends) -> None:
    ends.line.listen(1.0)
    for _ in range(15):  # each word, and each empty line, renews it
        os.write(ends.tell, b"\n")
        time.sleep(0.1)
    assert ends.signals == []
    assert ends.until(signal.SIGTERM)
    assert ends.given_up.wait(2), "what SIGTERM does not end is killed"


def test_the_end_of_the_agent_is_noticed_at_once(ends: Ends) -> None:
    ends.line.listen(1000.0)
    os.close(ends.tell)
    assert ends.until(signal.SIGTERM)


def test_words_come_in_order_and_halts_are_signals(ends: Ends) -> None:
    os.write(ends.tell, b'{"task":1}\n')
    assert ends.line.first() == b'{"task":1}'
    ends.line.listen(5.0)
    ends.send(TokenSearch(), StartPlan(), Halt(1))
    assert [ends.line.words.get(timeout=2) for _ in range(2)] == [TokenSearch(), StartPlan()]
    assert ends.until(signal.SIGINT)
    os.close(ends.tell)
    assert ends.until(signal.SIGTERM)


def test_a_status_that_finds_the_pipe_full_is_dropped(ends: Ends) -> None:
    status = Status(
        elapsed_seconds=1.0, sessions=1, open_sessions=1, jobs=1, waiting=0, running=1, ended=0, failed=0,
        read_bytes_per_second=0.0, written_bytes_per_second=0.0,
    )  # fmt: skip
    for _ in range(2000):
        ends.line.say(NodeProgress(status))
    words = os.read(ends.hear, 2**20).split(b"\n")
    assert 10 < len(words) < 2000
    assert all(from_node(word) == NodeProgress(status) for word in words[:-2])
    ends.line.say(GateReady(3))


def test_the_gate_opens_at_the_moment_of_this_machines_clock(ends: Ends) -> None:
    opening = AgreedOpening(ends.line, lambda: 100.0)
    opening.ready(3)
    assert from_node(os.read(ends.hear, 4096).strip()) == GateReady(3)
    assert opening.pause_seconds() is None
    ends.line.listen(5.0)
    ends.send(OpenGate(100.25))
    for _ in range(100):
        if opening.pause_seconds() is not None:
            break
        time.sleep(0.02)
    assert opening.pause_seconds() == 0.25
    ends.line.open_at = 99.0
    assert opening.pause_seconds() == 0.0
    os.close(ends.tell)
    assert ends.until(signal.SIGTERM)


def test_it_imports_neither_arrow_nor_the_runner() -> None:
    code = "import sys, mawl.run.cluster.agent; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "mawl.run.cluster.agent" in modules
    assert not {name.partition(".")[0] for name in modules} & {"pyarrow", "numpy", "pandas", "dask"}
    assert not [
        name
        for name in modules
        if name.startswith(("mawl.run.runner", "mawl.plan", "mawl.run.cluster.messages"))
    ]


def test_what_it_reads_of_a_task_is_there() -> None:
    fields = {field.name: field.type for field in msgspec.structs.fields(NodeTask)}
    own = msgspec.structs.fields(AgentTask)
    assert {field.name: field.type for field in own} == {field.name: fields[field.name] for field in own}


def test_its_process_carries_the_mark_of_the_run_from_the_start(tmp_path: Path) -> None:
    child = agent.Child(AgentTask("run-node1", str(tmp_path), 15.0), b"", ["cat"])
    try:
        assert "run-node1" in live_runs()
    finally:
        child.end()
    assert "run-node1" not in live_runs()


def test_small_files_come_together_and_a_large_one_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("a", 3), ("b", 4), ("c", 9), ("d", 1)):
        (tmp_path / name).write_bytes(name.encode() * size)
    monkeypatch.setattr(agent, "_FOLDERS", {"run": tmp_path})
    monkeypatch.setattr(agent, "MOST_BYTES", 10)
    assert agent.pieces("run", [("a", 0), ("b", 0), ("c", 0), ("d", 0)]) == [b"aaa", b"bbbb", b"ccc"]
    assert agent.pieces("run", [("c", 3), ("d", 0)]) == [b"cccccc", b"d"]
    assert agent.pieces("run", [("gone", 0)]) == [b""]


def test_it_hands_out_the_folder_of_a_run_that_is_over_and_removes_it_once_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "_FOLDERS", {})
    folder = tmp_path / "kept"
    made = facts(run_id="run-node2", outcome="running")
    with RunWriter(folder, made):
        assert agent.adopt("run-node2", str(folder)) == f"{folder}: its run is still under way there"
    wrong = f"{folder} is the folder of the run run-node2, not of run-node1"
    assert agent.adopt("run-node1", str(folder)) == wrong
    assert "is not a run folder" in str(agent.adopt("run-node2", str(tmp_path)))
    with pytest.raises(KeyError):
        agent.files("run-node2")
    assert agent.adopt("run-node2", str(folder)) is None
    assert "run.json" in dict(agent.files("run-node2"))
    agent.finish("run-node2", False)
    assert folder.exists() and agent.adopt("run-node2", str(folder)) is None
    agent.finish("run-node2", True)
    assert not folder.exists()
