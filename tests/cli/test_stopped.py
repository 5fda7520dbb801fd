"""SIGSTOP of each process in turn, and of all: what the run says of it, how soon, and how it ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.records.store import open_run
from mawl.run.launch.setup import live_runs
from tests.cli.conftest import Command
from tests.run.cluster.conftest import Cluster, clustered

pytestmark = pytest.mark.lab

SLEEPER = 'name = "one"\n[[sessions]]\nname = "a"\nstages = [[{{ command = ["sleep", "{}"] }}]]\n'
LONGEST_SECONDS = 20.0


def sleeper_of(run_id: str) -> int:
    """The job's own process, once it runs."""
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends:
        for pid in live_runs().get(run_id, []):
            with contextlib.suppress(OSError):  # it has just ended
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"sleep\0"):
                    return pid
        time.sleep(0.05)
    pytest.fail("the job never ran")


def running(mawl: Command, sleeps_seconds: float) -> tuple[subprocess.Popen[str], str, int]:
    """A run of one sleeping job that has begun: its process, its id, and the job's own process."""
    (mawl.directory / "one.toml").write_text(SLEEPER.format(sleeps_seconds))
    process = mawl.start("run", "one.toml")
    [folder] = appeared(mawl)
    return process, folder.name, sleeper_of(folder.name)


def appeared(mawl: Command) -> list[Path]:
    """The run's folder, once it is there."""
    ends = time.monotonic() + LONGEST_SECONDS
    while not (folders := list((mawl.directory / "runs").glob("2*"))) and time.monotonic() < ends:
        time.sleep(0.05)
    return folders


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    yield from clustered(tmp_path / "cluster", "node1")


@pytest.mark.parametrize("then", ["continued", "interrupted"])
def test_a_process_of_a_job_that_is_stopped_is_told_and_the_run_ends(mawl: Command, then: str) -> None:
    process, run, sleeper = running(mawl, 2.5)
    os.kill(sleeper, signal.SIGSTOP)
    try:
        assert process.stderr is not None
        said = ""
        while f"process {sleeper} was stopped by a signal" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        if then == "interrupted":
            process.send_signal(signal.SIGTERM)
    finally:
        os.kill(sleeper, signal.SIGCONT) if then == "continued" else None
    output, errors = process.communicate(timeout=60)
    assert process.returncode == (0 if then == "continued" else 130), output + errors
    assert live_runs().get(run) is None


STOPS = """
name = "stops"
[[sessions]]
name = "a"
stages = [[{{ command = ["sh", "-c", {}], name = "stops" }}], [{{ command = ["true"], name = "next" }}]]
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -STOP $PPID; exit 0", "which measures the job, was stopped by a signal for more than 5 s"),
        ("while :; do kill -STOP $PPID; done", "which measures the job, was stopped by a signal"),
        ("trap 'kill -STOP $PPID' TERM; sleep 300 & wait; sleep 300", "at its time limit of 2 s"),
    ],
    ids=["and ends", "again and again", "when it should end"],
)
def test_a_job_that_stops_its_keeper_fails_without_times(mawl: Command, script: str, said: str) -> None:
    (mawl.directory / "stops.toml").write_text(STOPS.format(json.dumps(script)))
    limit = ["--timeout", "2"] if "time limit" in said else []
    done = mawl("run", "stops.toml", *limit)
    assert done.returncode == 1, done.stderr
    jobs = {job.job: job for job in open_run("latest", mawl.directory / "runs").job_records()}
    assert said in (jobs["stops"].reason or "")
    assert jobs["stops"].usage.real_time_seconds is None
    assert jobs["next"].outcome == "finished"


def test_a_command_that_stops_its_keeper_is_not_measured(mawl: Command) -> None:
    done = mawl("measure", "--", "sh", "-c", "kill -STOP $PPID")
    assert done.returncode == 127 and "which measures the job, was stopped by a signal" in done.stderr


def test_a_runner_that_is_stopped_is_told_and_goes_on_and_its_report_has_the_gap(mawl: Command) -> None:
    process, run, _ = running(mawl, 12)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        assert process.stderr is not None
        said = ""
        while f"the runner (process {process.pid}) was stopped by a signal" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        assert Path(f"/proc/{process.pid}/stat").read_text().split()[2] == "T"
    finally:
        os.kill(process.pid, signal.SIGCONT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, output + errors
    summary = json.loads(mawl("report", "--format", "json").stdout)
    found = [one["sentence"] for one in summary["validity"]["findings"] if one["rule"] == "sampling"]
    assert found and "gaps between samples" in found[0]
    assert summary["jobs"]["finished"] == 1
    assert live_runs().get(run) is None


def test_nothing_stays_when_all_are_stopped_and_the_runner_is_killed(mawl: Command) -> None:
    process, run, _ = running(mawl, 300)
    for pid in [process.pid, *live_runs()[run]]:
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.communicate(timeout=60)
    ends = time.monotonic() + LONGEST_SECONDS
    while live_runs().get(run) and time.monotonic() < ends:
        time.sleep(0.05)
    assert live_runs().get(run) is None
    assert mawl("clean").returncode == 0
    assert mawl("clean").stdout == "nothing to clean\n"


@pytest.mark.parametrize("then", ["continued", "interrupted"])
def test_a_nodes_process_that_is_stopped_is_told_and_the_run_ends(
    mawl: Command, cluster: Cluster, then: str
) -> None:
    (mawl.directory / "one.toml").write_text(SLEEPER.format(8))
    process = mawl.start("run", "one.toml", "--cluster", cluster.address, "--node-timeout", "60")
    [folder] = appeared(mawl)
    of_node = f"{folder.name}-node1"
    node = sleeper_of(of_node)
    while b"mawl.run.cluster" not in Path(f"/proc/{node}/cmdline").read_bytes().split(b"\0"):
        node = int(Path(f"/proc/{node}/stat").read_text().split()[3])
    os.kill(node, signal.SIGSTOP)
    try:
        assert process.stderr is not None
        said = ""
        while f"the node's process {node} was stopped by a signal" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        if then == "interrupted":
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
    finally:
        os.kill(node, signal.SIGCONT) if then == "continued" else None
    output, errors = process.communicate(timeout=120)
    assert process.returncode == (0 if then == "continued" else 130), output + errors
    assert live_runs().get(of_node) is None


@pytest.mark.parametrize("then", ["continued", "killed"])
def test_a_campaign_that_is_stopped_is_told_and_goes_on(mawl: Command, then: str) -> None:
    (mawl.directory / "one.toml").write_text(SLEEPER.format(0.1))
    process = mawl.start("run", "one.toml", "--repeat", "2")
    ends = time.monotonic() + LONGEST_SECONDS
    while not list((mawl.directory / "runs").rglob("*-run/run.json")) and time.monotonic() < ends:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGSTOP)
    assert process.stderr is not None
    said = ""
    try:
        while f"the campaign (process {process.pid}) was stopped by a signal" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
    finally:
        os.kill(process.pid, signal.SIGCONT if then == "continued" else signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == (0 if then == "continued" else -signal.SIGKILL), output + errors
    if then == "killed":
        [record] = (mawl.directory / "runs").glob("*/campaign.json")
        mawl.ok("run", "--continue", str(record.parent))


@pytest.mark.parametrize("whom", ["worker", "scheduler", "controller"])
@pytest.mark.parametrize("then", ["continued", "interrupted"])
def test_a_part_of_a_cluster_that_is_stopped_is_told_once_and_the_run_ends(
    mawl: Command, cluster: Cluster, whom: str, then: str
) -> None:
    (mawl.directory / "one.toml").write_text(SLEEPER.format(14))
    process = mawl.start("run", "one.toml", "--cluster", cluster.address, "--node-timeout", "60")
    [folder] = appeared(mawl)
    of_node = f"{folder.name}-node1"
    sleeper_of(of_node)
    sentence, pid = {
        "worker": ("node1 did not answer within 5 s", cluster.processes["node1"].pid),
        "scheduler": ("the scheduler did not answer within 1 s", cluster.processes["scheduler"].pid),
        "controller": (f"the controller (process {process.pid}) was stopped by a signal", process.pid),
    }[whom]
    os.kill(pid, signal.SIGSTOP)
    assert process.stderr is not None
    began, said = time.monotonic(), ""
    try:
        while sentence not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        noticed_seconds = time.monotonic() - began
        if then == "interrupted":
            process.send_signal(signal.SIGTERM)
    finally:
        os.kill(pid, signal.SIGCONT)
    output, errors = process.communicate(timeout=120)
    logging.getLogger(__name__).info("%s: noticed after %.1f s", whom, noticed_seconds)
    assert (said + errors).count(sentence) == 1 and "Traceback" not in said + errors
    assert process.returncode == (0 if then == "continued" else 130), output + errors
    assert live_runs().get(of_node) is None
