"""Which nodes share what, and who makes which table.

Tokens of nodes: those of a node that was killed are found by their machine, others are left alone.

A storage server beside the nodes: it runs nothing, its samples join the run, and no sum is over them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import MawlError, UnsuitableMachineError
from mawl.commands.main import main
from mawl.figures.view import StoredView
from mawl.plan.needs import TableNeed
from mawl.plan.workload import Plan
from mawl.records.store import open_run
from mawl.reports.run_tables.nodes import STORAGE_SERVERS
from mawl.reports.tables import table_lines
from mawl.run.cluster import agent
from mawl.run.cluster.collect import collect
from mawl.run.cluster.controller import check_shared_space, groups, require_shared, share_out
from mawl.run.cluster.messages import NodeResources, NodeTask, VisibleTokens
from mawl.run.cluster.node_facts import PREFIX, Owner, leftover_tokens, own_token
from tests.fakes.merged_sums import check_sums
from tests.fakes.views import as_summary, judged
from tests.run.cluster.test_controller import RUN, Lab, plan_of, until_gone

TOKENS = {"n1": "r-n1", "n2": "r-n2", "n3": "r-n3"}


def seen(*tokens: str) -> VisibleTokens:
    return VisibleTokens({"data": [list(tokens)], "work": [], "util": []})


def test_nodes_that_see_each_other_are_a_group_whatever_older_tokens_lie_there() -> None:
    found = {"n1": seen("r-n1", "r-n2", "old-n9"), "n2": seen("r-n1", "r-n2"), "n3": seen("r-n3")}
    assert groups("data", TOKENS, found) == [["n1", "n2"], ["n3"]]


def test_a_role_that_is_not_one_file_system_is_named_with_both_nodes() -> None:
    with pytest.raises(UnsuitableMachineError, match=r"/d: n1 does not see what n3 wrote there"):
        require_shared("data", ["/d"], TOKENS, {"n1": seen("r-n1", "r-n2"), "n3": seen("r-n3")})
    everything = seen(*TOKENS.values())
    require_shared("data", ["/d"], TOKENS, dict.fromkeys(TOKENS, everything))


def test_each_table_is_made_once_by_a_node_that_reads_it_and_evenly() -> None:
    big, middle, small, own = (
        TableNeed(name, 1.0, 1, size) for name, size in (("a", 50), ("b", 30), ("c", 25), ("d", 90))
    )
    parts = share_out(["n1", "n2"], {"n1": [big, middle, small], "n2": [big, middle, small, own]})
    made = [need for part in parts.values() for need in part]
    assert sorted(made) == sorted([big, middle, small, own])
    assert own in parts["n2"] and big in parts["n1"] and middle in parts["n1"]


def test_temporary_tables_of_nodes_that_share_must_fit_together() -> None:
    looked = {
        name: NodeResources(folder="", needed_bytes={"work": 60}, free_bytes={"work": 100})
        for name in ("n1", "n2")
    }
    check_shared_space("work", ["n1"], looked)
    with pytest.raises(UnsuitableMachineError, match=r"work of n1, n2 needs 120 B and 100 B are free"):
        check_shared_space("work", ["n1", "n2"], looked)


WRITE = "import sys; from mawl.run.cluster.node_facts import own_token; sys.stdout.buffer.write(own_token())"


def killed() -> bytes:
    """The token of a process that is gone."""
    return subprocess.run([sys.executable, "-c", WRITE], check=True, capture_output=True).stdout


def test_only_tokens_of_processes_that_are_gone_are_left_over(tmp_path: Path) -> None:
    gone = msgspec.json.decode(killed(), type=Owner)
    kinds = {
        "gone": killed(),
        "alive": own_token(),
        "elsewhere": msgspec.json.encode(msgspec.structs.replace(gone, boot_id="another machine")),
        "contained": msgspec.json.encode(msgspec.structs.replace(gone, pid_namespace="pid:[1]")),
        "empty": b"",
        "strange": b'{"pid": "x"}',
    }
    for name, content in kinds.items():
        (tmp_path / f"{PREFIX}{name}").write_bytes(content)
    (tmp_path / "else").write_bytes(killed())
    assert leftover_tokens([tmp_path, tmp_path, tmp_path / "none"]) == [tmp_path / f"{PREFIX}gone"]


def test_a_number_that_another_process_has_now_is_not_the_nodes(tmp_path: Path) -> None:
    own = msgspec.json.decode(own_token(), type=Owner)
    assert own.started_ticks is not None
    before = msgspec.structs.replace(own, started_ticks=own.started_ticks - 1)
    (tmp_path / f"{PREFIX}before").write_bytes(msgspec.json.encode(before))
    assert len(leftover_tokens([tmp_path])) == 1


def test_clean_removes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    work = tmp_path / "shared"
    work.mkdir()
    token = work / f"{PREFIX}c1-node1"
    token.write_bytes(killed())
    alive = work / f"{PREFIX}c1-node2"
    alive.write_bytes(own_token())
    assert main(["clean", "--work", str(work), "--dry-run"]) == 0
    assert token.exists() and f"would remove {token}" in capsys.readouterr().out
    assert main(["clean", "--work", str(work)]) == 0
    assert not token.exists() and alive.exists()
    # What runs of other tests left when they were killed is removed, too.
    told = capsys.readouterr().out.splitlines()
    assert f"removed {token}" in told and not [line for line in told if str(alive) in line]


SHORT = """
name = "short"
[[sessions]]
name = "a"
stages = [[{ command = ["sleep", "2.5"] }]]
"""


@pytest.fixture
def short(tmp_path: Path) -> Lab:
    """Two nodes whose only job is short."""
    (tmp_path / "short.toml").write_text(SHORT)
    plan = plan_of(str(tmp_path / "short.toml"))
    return Lab(tmp_path, {"node1": plan, "node2": plan}, lease_seconds=30.0)


def watching(lab: Lab, name: str, devices: list[str]) -> NodeTask:
    plan: Plan = msgspec.structs.replace(lab.tasks[0].plan, workload="storage", title="", sessions=())
    folder = str(lab.directory / "there" / f"{RUN}-{name}")
    return msgspec.structs.replace(
        lab.tasks[0], run_id=f"{RUN}-{name}", node=name, plan=plan, folder=folder, watch=devices
    )


@pytest.mark.lab
def test_a_storage_server_is_watched_by_the_same_clock_and_counts_in_no_sum(short: Lab) -> None:
    facts = short.conduct(storage=[watching(short, "sto", [])], link_bytes_per_second=5e6)
    assert (facts.outcome, facts.outcome_reason) == ("completed", None)
    assert facts.link_bytes_per_second == 5e6
    (server,) = facts.storage_runs
    assert (server.node, server.outcome, server.folder) == ("sto", "completed", "nodes/sto")
    assert server.clock is not None and abs(server.clock.offset_seconds) < 1.0
    assert [node.name for node in facts.nodes] == ["node1", "node2"], "it is no node of the run"
    assert facts.workload.name == "2xshort" and facts.workload.sessions == 2
    run = short.run()
    rows = [row for row in run.samples.to_pylist() if row["node"] == "sto"]
    moments = sorted({row["sampled_at"].timestamp() for row in rows})
    first = min(job.started_at for job in run.job_records() if job.started_at is not None)
    assert len(moments) >= 3 and moments[0] <= first + 0.5
    assert any(row["series"].startswith("host.") for row in rows)
    summary = judged(StoredView(run))
    assert summary["cluster"]["storage"]["sto"]["outcome"] == "completed"
    parts = [name for kind in ("device", "network") for name in summary["host"][kind] or {}]
    assert parts and all(name.startswith("node") for name in parts)
    assert table_lines(STORAGE_SERVERS, StoredView(run), as_summary(summary))[0].startswith("storage  ")
    assert open_run(short.folder / "nodes" / "sto").facts.outcome == "completed"
    assert judged(StoredView(short.node("sto")))["jobs"]["total"] == 0
    until_gone([f"{RUN}-node1", f"{RUN}-node2", f"{RUN}-sto"])


@pytest.mark.lab
def test_a_storage_server_that_is_lost_costs_a_remark_and_no_job(short: Lab) -> None:
    def before(node: str, function: str) -> None:
        journal = short.folder / "journal" / "events.jsonl"
        if journal.exists() and "gate_released" in journal.read_text():
            short.link.gone.add("sto")

    short.link.before = before
    facts = short.conduct("stop", storage=[watching(short, "sto", [])])
    assert facts.outcome == "completed"
    assert facts.storage_runs[0].outcome == "lost"
    assert any("storage sto was not watched to the end (lost)" in remark for remark in facts.remarks)
    summary = judged(StoredView(short.run()))
    assert summary["cluster"]["storage"]["sto"]["reason"] == "the worker of sto is gone"
    short.link.gone.clear()
    agent._CHILDREN[f"{RUN}-sto"].end()
    samples = short.run().samples.num_rows
    assert collect(short.folder, lambda _: contextlib.nullcontext(short.link), {}).joined == ["sto"]
    facts = short.run().facts
    assert (facts.outcome, facts.storage_runs[0].outcome) == ("completed", "interrupted")
    assert short.run().samples.num_rows > samples
    check_sums(short.folder)


@pytest.mark.lab
def test_a_watch_that_a_signal_cut_short_is_not_completed(short: Lab) -> None:
    ended: list[int] = []

    def before(node: str, function: str) -> None:
        journal = short.folder / "journal" / "events.jsonl"
        if not ended and journal.exists() and "gate_released" in journal.read_text():
            ended.append(agent._CHILDREN[f"{RUN}-sto"]._process.pid)
            os.kill(ended[0], signal.SIGTERM)

    short.link.before = before
    facts = short.conduct(storage=[watching(short, "sto", [])])
    assert facts.outcome == "completed"
    assert facts.storage_runs[0].outcome == "interrupted"
    assert any("storage sto was not watched to the end (interrupted)" in remark for remark in facts.remarks)
    there = open_run(short.folder / "nodes" / "sto").facts
    assert (there.outcome, there.outcome_reason) == ("interrupted", "stopped by SIGTERM")


def test_a_device_that_is_not_there_is_refused_before_the_start(short: Lab) -> None:
    with pytest.raises(MawlError, match="sto: has no block device /dev/none9"):
        short.conduct(storage=[watching(short, "sto", ["/dev/none9"])])
    until_gone([f"{RUN}-node1", f"{RUN}-node2"])
    assert not short.folder.exists()
