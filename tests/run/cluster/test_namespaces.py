"""Four nodes in network namespaces of this machine: the whole workload, and each failure for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import compute

from mawl.records.store import Run, open_run
from mawl.run.launch.setup import live_runs
from tests import needs
from tests.fakes.merged_sums import check_sums
from tests.files import text_of
from tests.run.cluster.conftest import Cluster
from tests.run.cluster.spaces import NO_SPACES, SUBNET, Spaces

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.tried("network namespaces", lambda: NO_SPACES)),
]

NAMES = ("node1", "node2", "node3", "node4")
WRITERS = text_of(__file__, "writers.toml")


class Namespaces(Cluster):
    """A cluster in network namespaces on one bridge; the controller is beside the scheduler."""

    def __init__(self, directory: Path) -> None:
        self.spaces = Spaces(NAMES)
        super().__init__(directory, host=f"{SUBNET}.1", inside=self.spaces.inside())

    def node(self, name: str, *before: str) -> None:
        """Start a node's worker in its namespace, below what ``before`` begins with."""
        self.worker(name, host=self.spaces.address(name), inside=[*self.spaces.inside(name), *before])

    def mawl(self, directory: Path, *arguments: str) -> subprocess.Popen[str]:
        """``mawl run`` beside the scheduler."""
        words = ["run", *arguments, "--cluster", self.address, "--insecure"]
        return subprocess.Popen(
            [*self.inside, sys.executable, "-m", "mawl", *words],
            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def close(self) -> None:
        super().close()
        self.spaces.close()


@pytest.fixture
def spaces(tmp_path: Path) -> Iterator[Namespaces]:
    """The namespaces with a scheduler and no worker."""
    (tmp_path / "cluster").mkdir()
    found = Namespaces(tmp_path / "cluster")
    yield found
    found.close()


def newest(directory: Path) -> Run:
    return open_run("latest", directory / "runs")


@pytest.mark.parametrize(
    ("workload", "jobs"), [("nano", 8), pytest.param("mixed20", 71, marks=pytest.mark.long(minutes=6))]
)
def test_a_workload_on_four_nodes_is_one_run_of_verified_jobs(
    spaces: Namespaces, tmp_path: Path, workload: str, jobs: int
) -> None:
    for name in NAMES:
        spaces.node(name)
    spaces.wait(*NAMES)
    scale = () if workload == "nano" else ("--scale", "smoke")
    done = spaces.mawl(tmp_path, workload, *scale, "--html", "no")
    said, complaints = done.communicate(timeout=1500)
    assert done.returncode == 0, complaints + said
    run = newest(tmp_path)
    assert run.jobs.num_rows == 4 * jobs
    assert compute.all(run.jobs.column("verified")).as_py()
    own = [open_run(run.path / "nodes" / name) for name in NAMES]
    check_sums(run.path)
    assert [one.jobs.num_rows for one in own] == [jobs] * 4
    assert set(run.samples.column("node").to_pylist()) == set(NAMES)


@pytest.mark.parametrize(
    "failure",
    [
        "killed",
        "unreachable",
        *(pytest.param(one, marks=pytest.mark.long(minutes=1)) for one in ("stopped", "full")),
    ],
)
def test_a_failure_costs_one_node_and_the_run_says_what_happened(
    spaces: Namespaces, tmp_path: Path, failure: str
) -> None:
    (tmp_path / "writers.toml").write_text(WRITERS)
    work = tmp_path / "mawl-work"
    work.mkdir()
    small = f'mount -t tmpfs -o size=20m tmpfs {work} && exec "$@"'
    for name in NAMES:
        before = ["unshare", "-m", "sh", "-c", small, "sh"] if (failure, name) == ("full", "node2") else []
        spaces.node(name, *before)
    spaces.wait(*NAMES)
    run = spaces.mawl(tmp_path, "writers.toml", "--html", "no", "--node-timeout", "10")
    until(lambda: started(tmp_path) >= 8, run)
    worker = spaces.processes["node2"].pid
    act: dict[str, Callable[[], None]] = {
        "killed": lambda: os.kill(worker, signal.SIGKILL),
        "stopped": lambda: os.kill(worker, signal.SIGSTOP),
        "unreachable": lambda: spaces.spaces.cut("node2"),
        "full": lambda: None,
    }
    act[failure]()
    _, complaints = run.communicate(timeout=180)
    assert run.returncode == 1, complaints
    found = newest(tmp_path)
    outcomes = {one.node: one.outcome for one in found.facts.node_runs}
    jobs = {job.job: job for job in found.job_records()}
    assert len(jobs) == 12
    for name in ("node1", "node3", "node4"):
        assert outcomes[name] == "completed"
        assert {jobs[f"{name}.{own}"].outcome for own in ("a.1.sh", "a.2.true", "b.1.sleep")} == {"finished"}
    if failure == "full":
        assert outcomes["node2"] == "failed"
        assert jobs["node2.a.1.sh"].outcome == "failed" and jobs["node2.b.1.sleep"].outcome == "finished"
    else:
        assert outcomes["node2"] == "lost" and "node2 was lost" in complaints
        assert jobs["node2.a.1.sh"].outcome == "lost" and jobs["node2.b.1.sleep"].outcome == "lost"
        assert jobs["node2.a.2.true"].outcome == "not_started"
        assert "node2 was lost" in (jobs["node2.a.2.true"].reason or "")
    until(lambda: not [name for name in live_runs() if name.startswith(found.facts.run_id)], None)


def started(directory: Path) -> int:
    """Jobs that the merged journal knows to have started."""
    journal = directory / "runs" / "latest" / "journal" / "events.jsonl"
    return journal.read_text().count('"job_started"') if journal.exists() else 0


def until(so: Callable[[], bool], run: subprocess.Popen[str] | None) -> None:
    """Wait until it is so, for a minute."""
    for _ in range(600):
        if so():
            return
        assert run is None or run.poll() is None, run.communicate() if run else ""
        time.sleep(0.1)
    raise AssertionError("it did not become so")
