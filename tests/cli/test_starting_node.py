"""A controller killed while its node starts: the node ends with its lease, and one clean leaves nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.run.launch.setup import live_runs
from tests.cli.conftest import Command
from tests.run.cluster.conftest import Cluster, clustered

pytestmark = pytest.mark.lab

PATIENCE_SECONDS = 60.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    yield from clustered(tmp_path / "cluster", "node1")


def nodes_of(mawl: Command) -> list[int]:
    """The processes of this test's node: by their mark and their command."""
    folders = [folder.name for folder in (mawl.directory / "runs").glob("2*")]
    return [
        pid
        for run, pids in live_runs().items()
        for pid in pids
        if any(run.startswith(f"{folder}-") for folder in folders)
        and b"mawl.run.cluster" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_its_mark_is_found_and_it_ends_with_its_lease(mawl: Command, cluster: Cluster) -> None:
    process = mawl.start("run", "nano", "--cluster", cluster.address, "--node-timeout", "10")
    ends = time.monotonic() + PATIENCE_SECONDS
    while not (found := nodes_of(mawl)) and time.monotonic() < ends:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert found
    while nodes_of(mawl) and time.monotonic() < ends:
        time.sleep(0.1)
    assert nodes_of(mawl) == []
    assert mawl("clean").returncode == 0
    assert mawl("clean").stdout == "nothing to clean\n"
    assert mawl.leftovers() == []
