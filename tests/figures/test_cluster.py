"""The block of the nodes: sums, means, imbalance, first and last, and what is lost."""

from __future__ import annotations

import msgspec
import pytest

from mawl.reports.run_tables.nodes import NODES
from mawl.reports.tables import table_lines
from tests.fakes.altered_runs import on_nodes
from tests.fakes.stored_run import facts, job
from tests.fakes.views import BARE, as_summary, summary_of


def test_nodes_are_summed_averaged_and_compared() -> None:
    run, jobs = on_nodes()
    summary = summary_of(run, jobs)
    block = summary["cluster"]
    assert (block["first_done_seconds"], block["last_done_seconds"]) == (10.0, 30.0)
    assert block["imbalance_ratio"] == pytest.approx(0.5)
    assert block["gate_skew_seconds"] == pytest.approx(0.02)
    for name in ("real_time_seconds", "application_read_bytes"):
        parts = [node[name] for node in block["nodes"].values()]
        assert sum(parts) == pytest.approx(sum(getattr(one.usage, name) for one in jobs))
        assert block["mean"][name] == pytest.approx(sum(parts) / 2)
    mean = block["mean"]
    cpu = mean["user_cpu_seconds"] + mean["system_cpu_seconds"]
    assert mean["cpu_real_ratio"] == pytest.approx(cpu / mean["real_time_seconds"])
    text = "\n".join(table_lines(NODES, BARE, as_summary(summary)))
    assert "first node done after 10.0 s (n1), last after 30.0 s (n2): imbalance 0.50" in text
    assert "corrected, within" in text and text.splitlines()[1].startswith("n1")


def test_a_lost_node_is_named_and_is_neither_first_nor_last() -> None:
    run, jobs = on_nodes()
    lost = msgspec.structs.replace(run.node_runs[0], outcome="lost", reason="gone", clock=None)
    run = msgspec.structs.replace(run, node_runs=[lost, run.node_runs[1]])
    jobs[0] = msgspec.structs.replace(jobs[0], outcome="lost", ended_at=None)
    summary = summary_of(run, jobs)
    assert summary["cluster"]["lost"] == ["n1"]
    assert summary["cluster"]["first_done_seconds"] == summary["cluster"]["last_done_seconds"] == 30.0
    assert summary["cluster"]["mean"]["done_seconds"] == 30.0
    assert summary["cluster"]["nodes"]["n1"]["lost"] == 1
    assert "cluster.nodes.*.clock_offset_seconds" in summary["missing"]


def test_a_run_on_one_node_has_no_block_and_says_why() -> None:
    summary = summary_of(facts(), [job("s1-1", 1.0, 5.0)])
    assert summary["cluster"] is None and summary["missing"]["cluster"] == "the run was on one node"
    assert table_lines(NODES, BARE, as_summary(summary)) == []


def test_cores_of_one_machine_count_once() -> None:
    run, _ = on_nodes()
    first = run.nodes[0]
    second = msgspec.structs.replace(first, name="n2", same_machine_as=first.name)
    assert msgspec.structs.replace(run, nodes=[first, second]).machines() == [first]
