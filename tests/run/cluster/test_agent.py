"""The agent as the worker's process has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mawl.records.store.folder import RunWriter
from mawl.run.cluster import agent
from mawl.run.cluster.agent import AgentTask
from mawl.run.cluster.messages import NodeTask
from mawl.run.launch.setup import live_runs
from tests.fakes.stored_run import facts


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
