"""``mawl qualify`` over a real Dask cluster on the loopback: what it sees, and a plan that it makes.

A series over the nodes of a real Dask cluster on the loopback.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import NodesSpec
from mawl.records.store import open_run
from mawl.records.store.campaign import read_qualification
from mawl.run.cluster.node_access import look_at
from tests.run.cluster.conftest import Cluster
from tests.run.cluster.test_dask import mawl


def qualify(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a directory."""
    return subprocess.run(
        [sys.executable, "-m", "mawl", "qualify", "--anyway", *words],
        cwd=directory,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


@pytest.mark.lab
def test_nodes_are_seen_before_a_run_and_a_missing_one_is_named(cluster: Cluster, tmp_path: Path) -> None:
    cluster.worker("node1")
    cluster.wait("node1")
    nodes, roles = NodesSpec(cluster=cluster.address), {role: [str(tmp_path)] for role in ROLES}
    found = look_at(nodes, roles).looks
    assert [*found] == ["node1"] and {*found["node1"].systems[0].directories} == {str(tmp_path)}
    with pytest.raises(UsageError, match="no node is called node2; the cluster has node1"):
        look_at(nodes, roles, ["node1", "node2"])
    done = qualify(tmp_path, "--cluster", cluster.address, "--yes")
    assert done.returncode == 2 and "1 node is no cluster: only node1 would run sessions" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.lab
@pytest.mark.long(minutes=2)
def test_a_plan_for_two_nodes_is_calibrated_on_the_first(cluster: Cluster, tmp_path: Path) -> None:
    for name in ("node1", "node2"):
        cluster.worker(name)
    cluster.wait("node1", "node2")
    done = qualify(tmp_path, "--cluster", cluster.address, "--minutes", "5", "--plan", "--output", "q")
    assert done.returncode == 0, done.stderr
    assert "2 nodes   52 jobs, " in done.stdout and "  one node  26 jobs, " in done.stdout
    record = read_qualification(tmp_path / "q")
    assert [(node.name, node.machine) for node in record.nodes] == [("node1", None), ("node2", "node1")]
    calibration = open_run(tmp_path / "q" / record.runs_for("calibration")[0].folder)
    assert [run.node for run in calibration.facts.node_runs] == ["node1"]
    cluster.processes["node2"].terminate()
    cluster.processes["node2"].wait(30)
    gone = qualify(tmp_path, "--continue", "q", "--yes")
    assert gone.returncode == 2 and "no node is called node2; the cluster has node1" in gone.stderr
    assert read_qualification(tmp_path / "q").runs == record.runs, "nothing was begun"


ONE = 'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["sleep", "1"] }]]\n'


@pytest.mark.lab
def test_a_series_runs_on_the_first_nodes_back_and_forth(cluster: Cluster, tmp_path: Path) -> None:
    for name in ("node1", "node2"):
        cluster.worker(name)
    cluster.wait("node1", "node2")
    (tmp_path / "one.toml").write_text(ONE)
    done = mawl(
        tmp_path, "one.toml", "--cluster", cluster.address, "--scaling", "1,2", "--repeat", "2",
        "--output", "series", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [slot["folder"] for slot in found["slots"]] == [
        "001-nodes-1", "002-nodes-2", "003-nodes-2", "004-nodes-1",
    ]  # fmt: skip
    nodes = [
        [node.name for node in open_run(tmp_path / "series" / slot["folder"]).facts.nodes]
        for slot in found["slots"]
    ]
    assert nodes == [["node1"], ["node1", "node2"], ["node1", "node2"], ["node1"]]
    rows = found["scaling"]
    assert [(row["nodes"], row["runs"]) for row in rows] == [(1, 2), (2, 2)]
    assert rows[0]["elapsed_ratio"] == 1.0 and rows[1]["elapsed_ratio"] > 0.0
    more = mawl(tmp_path, "one.toml", "--cluster", cluster.address, "--nodes", "3")
    assert more.returncode == 2
    assert "the cluster has fewer than 3 nodes: it has node1, node2" in more.stderr
