"""``mawl collect``: what a lost node kept joins its run, each job once, and a refusal changes nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pyarrow import compute

from mawl.advice import judge
from mawl.advice.bounds import AnswerBounds
from mawl.base.errors import MawlError, UsageError
from mawl.commands.main import main
from mawl.figures.view import StoredView
from mawl.records.store import open_run
from mawl.records.store.files import lock
from mawl.run.cluster import agent
from mawl.run.cluster.collect import Collection, collect
from tests.fakes.merged_sums import check_sums
from tests.fakes.second_figures import compare
from tests.fakes.views import judged
from tests.run.cluster.test_controller import RUN, Lab, half, once_running, short, until_gone
from tests.run.cluster.test_controller import leftovers_of_killed_nodes as leftovers_of_killed_nodes
from tests.run.cluster.test_controller import sleepers as sleepers

NODE2 = f"{RUN}-node2"


def joined(lab: Lab, **given: Path) -> Collection:
    """Collect over the lab's link."""
    asked = len(lab.link.asked)
    found = collect(lab.folder, lambda _: contextlib.nullcontext(lab.link), given)
    assert {node for node, _ in lab.link.asked[asked:]} <= {"node2"}, "only what was left behind"
    return found


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder, hidden ones, too, with a digest of what it holds."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lost_while_copied(directory: Path) -> Lab:
    """A run of short jobs whose second node is gone as soon as its folder is asked for."""
    lab = short(directory)

    def before(node: str, function: str) -> None:
        if (node, function) == ("node2", "pieces") and (lab.folder / "nodes" / ".node2").exists():
            lab.link.gone.add("node2")

    lab.link.before = before
    facts = lab.conduct()
    lab.link.before = lambda node, function: None
    second = facts.node_runs[1]
    assert (facts.outcome, second.outcome, second.whole) == ("failed", "failed", False)
    assert second.left_behind == str(directory / "there" / NODE2), "the folder alone, without a reason"
    return lab


@pytest.mark.lab
def test_a_node_that_was_lost_while_its_jobs_ran_joins_with_its_own_outcome(sleepers: Lab) -> None:
    def lose() -> None:
        sleepers.link.gone.add("node2")
        agent._CHILDREN[NODE2].end()
        agent._CHILDREN[f"{RUN}-node1"].tell([(10**6, b'{"type":"halt","level":2}')])

    once_running(sleepers, 4, lose)
    assert sleepers.conduct().node_runs[1].outcome == "lost"
    sleepers.link.gone.clear()
    there = sleepers.directory / "there" / NODE2
    own = open_run(there, compacting=False)
    assert joined(sleepers) == Collection(joined=["node2"])
    assert not there.exists(), "it was copied"
    facts = sleepers.run().facts
    second = facts.node_runs[1]
    assert (second.outcome, second.reason) == ("interrupted", own.facts.outcome_reason)
    assert (second.whole, second.left_behind) == (True, None)
    assert second.collected == "the worker of node2 is gone"
    assert facts.outcome == "failed" and f"node2: {second.reason}" in (facts.outcome_reason or "")
    assert any("node2 was collected after the run" in remark for remark in facts.remarks)
    assert not any("node2 left its run folder behind" in remark for remark in facts.remarks)
    check_sums(sleepers.folder)
    outcomes = {job.job: (job.outcome, job.reason) for job in sleepers.run().job_records()}
    assert len(outcomes) == sleepers.run().jobs.num_rows == 8
    assert outcomes["node2.a.1.sleep"][0] == "finished"
    assert judge.judged(StoredView(sleepers.run())).answer.answer == "not known"
    before = content(sleepers.folder)
    assert joined(sleepers) == Collection()
    assert content(sleepers.folder) == before, "collecting twice changes nothing"
    assert {entry.name for entry in sleepers.folder.iterdir() if entry.name.startswith(".")} == set()
    until_gone([f"{RUN}-node1", NODE2])


@pytest.mark.lab
def test_a_node_that_was_lost_while_it_was_copied_makes_the_run_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "MOST_BYTES", 20_000)
    lab = lost_while_copied(tmp_path)
    lab.link.gone.clear()
    assert joined(lab) == Collection(joined=["node2"])
    facts = lab.run().facts
    assert (facts.outcome, facts.outcome_reason) == ("completed", None)
    assert [run.outcome for run in facts.node_runs] == ["completed", "completed"]
    assert [job.outcome for job in lab.run().job_records()] == ["finished", "finished"]
    check_sums(lab.folder)
    samples = lab.run().samples
    host = samples.filter(compute.starts_with(samples.column("series"), "host."))
    assert set(host.column("node").to_pylist()) == {"node1"}, "one machine tells of itself once"
    parts = [facts.controller_overhead, *(lab.node(name).facts.overhead for name in ("node1", "node2"))]
    assert facts.overhead.cpu_seconds == pytest.approx(sum(part.cpu_seconds or 0.0 for part in parts))
    assert all(part.cpu_seconds for part in parts)
    compare(judged(StoredView(lab.run()), AnswerBounds()), lab.folder)
    agent.finish(NODE2, False)


@pytest.mark.lab
def test_what_is_refused_changes_nothing_and_a_copy_by_hand_joins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = lost_while_copied(tmp_path)
    there, by_hand = tmp_path / "there" / NODE2, tmp_path / "by-hand"
    shutil.copytree(there, by_hand)
    run, kept = content(lab.folder), content(there)

    def refused(why: str, **given: Path) -> None:
        found = joined(lab, **given)
        assert found.joined == [] and why in found.failed["node2"]
        assert (content(lab.folder), content(there), content(by_hand)) == (run, kept, kept)

    refused("the worker of node2 is gone")
    lab.link.gone.clear()
    refused(f"is the folder of the run {RUN}-node1, not of {NODE2}", node2=lab.folder / "nodes" / "node1")
    refused("is not a run folder", node2=tmp_path)
    with held(there):
        refused("its run is still under way there")
    with held(by_hand):
        refused("its run is still under way there", node2=by_hand)
    lies: list[Callable[[Any], Any]] = [half, lambda sizes: [("../../x", 1)], lambda sizes: 17]
    for lie in lies:
        lab.link.lie = partial(lied, lie)
        refused("")
    lab.link.lie = lambda node, function, found: found
    with held(lab.folder), pytest.raises(MawlError, match="still under way"):
        joined(lab)
    with pytest.raises(UsageError, match="the run has no node node3"):
        joined(lab, node3=by_hand)
    capsys.readouterr()
    assert main(["collect", str(lab.folder)]) == 1
    assert "the run does not say how node2 is reached" in capsys.readouterr().out
    assert (content(lab.folder), content(there)) == (run, kept)

    (lab.folder / "report.html").write_text("old")
    assert main(["collect", str(lab.folder), "--from", f"node2={by_hand}"]) == 0
    assert "node2: its run folder joined the run (completed)" in capsys.readouterr().out
    assert (lab.folder / "report.html").read_text() != "old"
    assert content(by_hand) == content(there) == kept, "what was copied by hand stays"
    check_sums(lab.folder)
    assert main(["collect", str(lab.folder), "--from", f"node2={by_hand}"]) == 0
    assert capsys.readouterr().out == "nothing was collected\n"
    agent.finish(NODE2, False)


def lied(lie: Callable[[Any], Any], node: str, function: str, found: Any) -> Any:
    return lie(found) if (node, function) == ("node2", "files") else found


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder as its writer does when it begins."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        lock(at)
        yield
    finally:
        os.close(at)


KILLED_AT = """
import os, sys
from pathlib import Path
from mawl.run.cluster.collect import collect
renames, rename = int(sys.argv[1]), Path.rename
def counted(self, target):
    global renames
    renames -= 1
    if renames < 0:
        os.kill(os.getpid(), 9)
    return rename(self, target)
Path.rename = counted
collect(Path(sys.argv[2]), None, {"node2": Path(sys.argv[3])})
"""


@pytest.mark.lab
def test_a_collection_that_is_killed_at_any_rename_leaves_a_run_that_opens(tmp_path: Path) -> None:
    lab = lost_while_copied(tmp_path)
    there, at, status = tmp_path / "there" / NODE2, 0, -9
    while status == -9:
        folder = tmp_path / f"killed-{at}"
        shutil.copytree(lab.folder, folder)
        command = [sys.executable, "-c", KILLED_AT, str(at), str(folder), str(there)]
        status = subprocess.run(command).returncode
        killed = open_run(folder)
        names = killed.jobs.column("job").to_pylist()
        assert sorted(names) == ["node1.a.1.true", "node2.a.1.true"], at
        assert killed.facts.outcome in ("failed", "completed") and killed.steps.num_rows >= 0
        found = collect(folder, None, {"node2": there})  # type: ignore[arg-type]
        assert found.failed == {} and open_run(folder).facts.outcome == "completed"
        check_sums(folder)
        assert not list(folder.glob(".mawl-*")), at
        at += 1
    assert status == 0 and at > 8
    agent.finish(NODE2, False)
