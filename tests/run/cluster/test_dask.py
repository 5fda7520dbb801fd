"""Runs over a real Dask cluster on the loopback: four workers, a shifted clock, a killed worker, TLS."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import compute

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.records.store import Run, open_run
from mawl.run.cluster.dask_link import CONNECT_SECONDS, NO_SCHEDULER, connected
from mawl.run.launch.setup import live_runs
from tests.fakes.merged_sums import check_sums
from tests.run.cluster.conftest import Cluster

SLEEPERS = """
name = "sleepers"
[[sessions]]
name = "a"
stages = [[{ command = ["sleep", "6"] }], [{ command = ["sleep", "1"] }]]
"""
NAMES = ("node1", "node2", "node3", "node4")


def mawl(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``mawl run`` in a directory."""
    return subprocess.run(
        [sys.executable, "-m", "mawl", "run", *arguments, "--html", "no"],
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def started(directory: Path, cluster: Cluster, jobs: int, timeout_seconds: int = 10) -> subprocess.Popen[str]:
    """A run of the sleepers that goes on, so many of whose jobs have started."""
    arguments = ["sleepers.toml", "--cluster", cluster.address, "--html", "no"]
    arguments += ["--node-timeout", str(timeout_seconds)]
    run = subprocess.Popen(
        [sys.executable, "-m", "mawl", "run", *arguments], cwd=directory, stderr=subprocess.PIPE, text=True
    )
    journal = directory / "runs" / "latest" / "journal" / "events.jsonl"
    for _ in range(600):
        if journal.exists() and journal.read_text().count('"job_started"') >= jobs:
            return run
        time.sleep(0.1)
    raise AssertionError(run.communicate())


def until_gone(directory: Path) -> None:
    """Wait until no process carries the mark of the run that was made there, or of its part on a node."""
    run_id = (directory / "runs" / "latest").resolve().name
    for _ in range(200):
        if not [name for name in live_runs() if name.startswith(run_id)]:
            return
        time.sleep(0.1)
    raise AssertionError(f"jobs outlive their run: {live_runs()}")


def newest(directory: Path) -> Run:
    """The run that was made there."""
    return open_run("latest", directory / "runs")


@pytest.mark.lab
def test_four_workers_are_four_nodes_and_a_clock_that_is_off_is_corrected(
    cluster: Cluster, shifted: dict[str, str], tmp_path: Path
) -> None:
    for name in NAMES:
        cluster.worker(name, shifted if name == "node3" else None)
    cluster.wait(*NAMES)
    done = mawl(tmp_path, "nano", "--cluster", cluster.address)
    assert done.returncode == 0, done.stderr + done.stdout
    run = newest(tmp_path)
    assert run.jobs.num_rows == 32 and compute.all(run.jobs.column("verified")).as_py()
    check_sums(run.path)
    runs = {one.node: one for one in run.facts.node_runs}
    for name, one in runs.items():
        assert one.clock is not None and one.gate_after_seconds is not None
        expected = 100.25 if name == "node3" else 0.0
        assert one.clock.offset_seconds == pytest.approx(expected, abs=0.05)
        assert abs(one.clock.offset_seconds - expected) <= one.clock.error_seconds + 0.002
    moments = [one.gate_after_seconds or 0.0 for one in runs.values()]
    assert max(moments) - min(moments) < 0.5
    own_start = open_run(run.path / "nodes" / "node3").facts.started_at
    assert own_start - run.facts.started_at > 90, "the node's own folder has the node's own time"
    starts = {job.started_at for job in run.job_records() if job.started_at is not None}
    assert max(starts) - min(starts) < 60


@pytest.mark.lab
def test_a_killed_worker_costs_its_jobs_and_nothing_else(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "sleepers.toml").write_text(SLEEPERS)
    for name in NAMES[:2]:
        cluster.worker(name)
    cluster.wait(*NAMES[:2])
    run = started(tmp_path, cluster, jobs=2)
    os.kill(cluster.processes["node2"].pid, signal.SIGKILL)
    cluster.worker("late")
    _, said = run.communicate(timeout=120)
    assert run.returncode == 1, said
    facts = newest(tmp_path).facts
    assert {one.node: one.outcome for one in facts.node_runs} == {"node1": "completed", "node2": "lost"}
    outcomes = {job.job: job.outcome for job in newest(tmp_path).job_records()}
    assert outcomes["node1.a.2.sleep"] == "finished"
    assert outcomes["node2.a.1.sleep"] == "lost" and outcomes["node2.a.2.sleep"] == "not_started"
    assert "node2 was lost" in said
    until_gone(tmp_path)
    absent = collected(tmp_path)
    assert absent.returncode == 1 and "no worker there is called node2" in absent.stdout
    assert newest(tmp_path).facts == facts
    cluster.directory = tmp_path / "again"
    cluster.directory.mkdir()
    cluster.worker("node2")
    cluster.wait("node2")
    done = collected(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("node2: its run folder joined the run (stopped by SIGTERM)")
    outcomes = {job.job: job.outcome for job in newest(tmp_path).job_records()}
    assert outcomes["node2.a.1.sleep"] == "stopped" and len(outcomes) == 4
    check_sums(newest(tmp_path).path)
    assert not list((tmp_path / "cluster" / "node2" / "mawl-node-runs").iterdir())


def collected(directory: Path) -> subprocess.CompletedProcess[str]:
    """``mawl collect`` of the newest run of a directory."""
    return subprocess.run(
        [sys.executable, "-m", "mawl", "collect", "latest"],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.lab
def test_a_killed_controller_stops_the_nodes_and_leaves_a_readable_run(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "sleepers.toml").write_text(SLEEPERS.replace('"6"', '"60"'))
    cluster.worker("node1")
    cluster.wait("node1")
    run = started(tmp_path, cluster, jobs=1)
    run.kill()
    run.communicate()
    until_gone(tmp_path)
    assert newest(tmp_path).facts.outcome == "interrupted"
    assert {job.job: job.outcome for job in newest(tmp_path).job_records()} == {
        "node1.a.1.sleep": "lost",
        "node1.a.2.sleep": "not_started",
    }
    kept = open_run(next((tmp_path / "cluster" / "node1" / "mawl-node-runs").iterdir()))
    assert kept.facts.outcome_reason == "stopped by SIGTERM"


@pytest.mark.lab
def test_a_killed_scheduler_costs_the_jobs_that_ran_and_stops_the_nodes(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "sleepers.toml").write_text(SLEEPERS.replace('"6"', '"60"'))
    for name in NAMES[:2]:
        cluster.worker(name)
    cluster.wait(*NAMES[:2])
    # The nodes are asked beyond the time in which Dask's client tries to reach its scheduler again.
    run = started(tmp_path, cluster, jobs=2, timeout_seconds=int(CONNECT_SECONDS) + 5)
    os.kill(cluster.processes["scheduler"].pid, signal.SIGKILL)
    _, said = run.communicate(timeout=120)
    until_gone(tmp_path)
    assert run.returncode == 1, said
    assert "Traceback" not in said and "distributed" not in said
    found = newest(tmp_path)
    assert found.facts.outcome == "failed"
    for name in NAMES[:2]:
        assert f"{name} was lost: no answer for " in said and NO_SCHEDULER in said
        assert cluster.processes[name].wait(30) is not None, "workers end with their scheduler"
    assert str(found.facts.outcome_reason).count(NO_SCHEDULER) == 2
    assert {job.job: job.outcome for job in found.job_records()} == {
        "node1.a.1.sleep": "lost",
        "node1.a.2.sleep": "not_started",
        "node2.a.1.sleep": "lost",
        "node2.a.2.sleep": "not_started",
    }


@pytest.mark.lab
def test_without_the_right_certificate_nobody_gets_in(
    certificates: dict[str, dict[str, Path]], tmp_path: Path
) -> None:
    (tmp_path / "true.toml").write_text(
        'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
    )
    (tmp_path / "cluster").mkdir()
    files = certificates["ours"]
    tls = [
        "--tls-ca-file",
        str(files["ca"]),
        "--tls-cert",
        str(files["cert"]),
        "--tls-key",
        str(files["key"]),
    ]
    cluster = Cluster(tmp_path / "cluster", tls)
    try:
        cluster.worker("node1")
        cluster.wait("node1")
        said = {}
        for name, own in certificates.items():
            options = [word for kind, path in own.items() for word in (f"--tls-{kind}", str(path))]
            done = mawl(tmp_path, "true.toml", "--cluster", cluster.address, *options)
            said[name] = (done.returncode, done.stderr)
        assert said["ours"][0] == 0, said["ours"]
        assert said["theirs"][0] == 1 and "no Dask scheduler lets us in there" in said["theirs"][1]
        without = mawl(tmp_path, "true.toml", "--cluster", cluster.address)
        assert without.returncode == 2 and "needs certificates" in without.stderr
        cluster.tls = [word.replace("/ours/", "/theirs/") for word in tls]
        cluster.worker("stranger")
        time.sleep(3)
        assert "Registered to" not in (tmp_path / "cluster" / "stranger" / "output").read_text()
    finally:
        cluster.close()


@pytest.mark.parametrize("seconds", [0.0, 0.0001, 0.1])
def test_where_nobody_listens_the_address_is_named_with_the_reason(seconds: float) -> None:
    """Also on a machine so busy that the time is over before Dask has asked."""

    async def connect() -> None:
        async with connected("tcp://127.0.0.1:9", None, seconds=seconds):
            raise AssertionError("somebody listens on the port of discard")

    with pytest.raises(UnsuitableMachineError) as caught:
        asyncio.run(connect())
    assert str(caught.value).startswith("tcp://127.0.0.1:9: no Dask scheduler lets us in there: ")
    assert "object at" not in str(caught.value) and "refused" in str(caught.value)


@pytest.mark.parametrize(
    "address", ["nonsense", "tcp://", "tcp://nonsense", "gopher://a:1", "tcp://a:1/x", ""]
)
def test_what_is_no_address_is_refused_before_a_client_is_made(address: str) -> None:
    async def connect() -> None:
        async with connected(address, None, seconds=1.0):
            raise AssertionError("that was no address")

    with pytest.raises(UsageError, match="is no address of a scheduler; name it as tcp://HOST:PORT"):
        asyncio.run(connect())


def test_a_run_on_one_node_never_imports_dask(tmp_path: Path) -> None:
    code = (
        "import sys; from mawl.commands.main import main; from mawl.base.process import end_with; "
        "status = main(sys.argv[1:]); "
        "print([name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed')], status); "
        "end_with(lambda: 0)"
    )
    (tmp_path / "one.toml").write_text(
        'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{ command = ["true"] }]]\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "one.toml"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[] 0"
