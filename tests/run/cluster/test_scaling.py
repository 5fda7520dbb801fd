"""A series over the nodes of a real Dask cluster on the loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.records.store import open_run
from tests.run.cluster.conftest import Cluster
from tests.run.cluster.test_dask import mawl

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
