"""Runs over a real sshd on each of two nodes in network namespaces, reached by a configuration of ssh."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import compute

import mawl
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import read_qualification
from mawl.run.launch.setup import live_runs
from tests import needs
from tests.fakes.processes import dask_workers
from tests.fakes.second_slowdown import stretches
from tests.run.cluster.spaces import NO_SPACES, SUBNET, Spaces

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.tried("network namespaces", lambda: NO_SPACES)),
    needs.marks(needs.program("sshd")),
    needs.marks(needs.program("ssh")),
]

NAMES = ("alpha", "beta")
PORT = 2222
SLEEPERS = """
name = "sleepers"
[[sessions]]
name = "a"
stages = [[{ command = ["sleep", "300"] }]]
"""
CONFIGURATION = """
Host alpha wrongkey stranger
  HostName {alpha}
Host beta
  HostName {beta}
Host refused
  HostName {alpha}
  Port 2223
Host wrongkey
  UserKnownHostsFile {place}/wrong_hosts
Host *
  Port {port}
Host stranger
  IdentityFile {place}/stranger
Host * !stranger
  IdentityFile {place}/user
Host *
  IdentitiesOnly yes
  UserKnownHostsFile {place}/known_hosts
  GlobalKnownHostsFile /dev/null
"""
SERVER = """
Port {port}
ListenAddress {address}
HostKey {place}/host
PidFile none
AuthorizedKeysFile {place}/user.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
SetEnv PYTHONPATH={source}
"""


class Hosts:
    """The two nodes with their sshd, and a configuration that reaches them, and in vain some others."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.processes: list[subprocess.Popen[bytes]] = []
        for name in ("host", "user", "stranger"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
            subprocess.run(key, check=True)
        self.spaces = Spaces(NAMES)

    def start(self) -> None:
        """Every sshd, until a command can be run there."""
        place = self.place
        addresses = {name: self.spaces.address(name) for name in NAMES}
        for known, owner in (("known_hosts", "host"), ("wrong_hosts", "user")):
            public = " ".join((place / f"{owner}.pub").read_text().split()[:2])
            lines = [f"[{address}]:{PORT} {public}\n" for address in addresses.values()]
            (place / known).write_text("".join(lines))
        (place / "config").write_text(CONFIGURATION.format(**addresses, place=place, port=PORT))
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd(8) will have it
        for name, address in addresses.items():
            file = place / f"sshd-{name}"
            source = Path(mawl.__file__).parents[1]
            file.write_text(SERVER.format(port=PORT, address=address, place=place, source=source))
            command = [*self.spaces.inside(name), str(SSHD), "-D", "-f", str(file), "-E", f"{file}.log"]
            self.processes.append(subprocess.Popen(command))
        until(lambda: all(self.ssh(name) == 0 for name in NAMES))

    def ssh(self, name: str) -> int:
        """The exit status of a command there."""
        words = ["ssh", "-F", str(self.place / "config"), "-o", "BatchMode=yes", name, "true"]
        return subprocess.run([*self.spaces.inside(), *words], capture_output=True).returncode

    def mawl(
        self, directory: Path, *arguments: str, verb: str = "run", hosts: str = "alpha,beta"
    ) -> subprocess.Popen[str]:
        """A verb with ``--ssh`` in the hub; roles and the nodes' run folders in the directory."""
        roles = [f"--{role}={directory / role}" for role in ("data", "work", "util")]
        command = [sys.executable, "-m", "mawl", verb, *arguments, "--ssh", hosts, *roles]
        command += ["--ssh-config", str(self.place / "config"), "--node-runs", str(directory / "nodes")]
        return subprocess.Popen(
            [*self.spaces.inside(), *command],
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def heard_at(self, name: str | None) -> set[str]:
        """The addresses of a node (None: of the hub) at which something listens: sshd, what a run started."""
        command = [*self.spaces.inside(name), "ss", "--listening", "--tcp", "--numeric", "--no-header"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return {line.split()[3].rpartition(":")[0] for line in said.splitlines()}

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
            process.wait()
        self.spaces.close()


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with contextlib.closing(Hosts(tmp_path_factory.mktemp("ssh"))) as found:
        found.start()
        yield found


def until(so: Callable[[], bool]) -> None:
    """Wait until it is so, for a minute."""
    for _ in range(600):
        if so():
            return
        time.sleep(0.1)
    raise AssertionError("it did not become so")


def sleeping(hosts: Hosts, directory: Path, *arguments: str) -> subprocess.Popen[str]:
    """A run both of whose jobs have started."""
    (directory / "sleepers.toml").write_text(SLEEPERS)
    run = hosts.mawl(directory, "sleepers.toml", "--html", "no", *arguments)
    journal = directory / "runs" / "latest" / "journal" / "events.jsonl"
    until(
        lambda: run.poll() is not None or (journal.exists() and journal.read_text().count("job_started") == 2)
    )
    assert run.poll() is None, run.communicate()
    return run


def until_nothing_is_left(found: Run) -> None:
    """Wait until neither worker, nor ssh with its command line, nor a process of the run is there."""
    run_id = found.facts.run_id
    until(
        lambda: (
            not any(dask_workers(name) for name in NAMES)
            and not [name for name in live_runs() if name.startswith(run_id)]
        )
    )


def newest(directory: Path) -> Run:
    return open_run("latest", directory / "runs")


def test_two_hosts_are_two_nodes_and_nothing_is_left(hosts: Hosts, tmp_path: Path) -> None:
    run = hosts.mawl(tmp_path, "nano", "--html", "no")
    said, complaints = run.communicate(timeout=240)
    assert run.returncode == 0, complaints + said
    assert "distributed." not in complaints, "Dask speaks of its own"
    found = newest(tmp_path)
    assert [one.node for one in found.facts.node_runs] == list(NAMES)
    assert found.jobs.num_rows == 16 and compute.all(found.jobs.column("verified")).as_py()
    assert [open_run(found.path / "nodes" / name).jobs.num_rows for name in NAMES] == [8, 8]
    until_nothing_is_left(found)


def test_a_host_that_lets_nobody_in_is_named_with_what_ssh_said(hosts: Hosts, tmp_path: Path) -> None:
    no_python = ["--remote-python", str(tmp_path / "python")]
    expected = {
        "refused": (
            [],
            f"255): ssh: connect to host {hosts.spaces.address('alpha')} port 2223: Connection refused;",
        ),
        "wrongkey": ([], "255): Host key verification failed;"),
        "stranger": ([], "Permission denied (publickey"),
        "alpha": (no_python, f"127): env: '{tmp_path / 'python'}': No such file or directory;"),
    }
    runs = {
        host: hosts.mawl(tmp_path, "nano", *options, hosts=host) for host, (options, _) in expected.items()
    }
    for host, run in runs.items():
        _, complaints = run.communicate(timeout=60)
        assert run.returncode == 1 and complaints.count("\n") == 1, complaints
        assert complaints.startswith(f"mawl run: {host}: no worker could be started over ssh (exit status ")
        assert expected[host][1] in complaints
    until(lambda: not any(dask_workers(host) for host in expected))
    assert not (tmp_path / "runs").exists(), "no run was begun"


@pytest.mark.long(minutes=18)
def test_qualify_answers_for_two_hosts(hosts: Hosts, tmp_path: Path) -> None:
    asked = ("--minutes", "15", "--yes", "--output", "answer")
    said, complaints = hosts.mawl(tmp_path, *asked, verb="qualify").communicate(timeout=1500)
    record = read_qualification(tmp_path / "answer")
    answer = record.answer
    assert answer is not None and answer.nodes, complaints + said
    assert answer.sentence in " ".join(said.split())
    assert [node.name for node in record.nodes] == list(NAMES)
    assert record.nodes[1].machine == "alpha"
    # The slowdown is the one of all jobs of all measured runs; that of one node, of the runs with one.
    for part, purpose, nodes in ((answer.carried, "measured", 2), (answer.nodes.one, "one-node", 1)):
        runs = [run for run in record.runs if run.purpose == purpose and run.state == "finished"]
        folders = [tmp_path / "answer" / run.folder for run in runs]
        assert all(len(open_run(folder).facts.node_runs) == nodes for folder in folders)
        found = [one for folder in folders for one in stretches(folder)["slowdown"]]
        assert part.slowdown == pytest.approx(statistics.median(found)), purpose
    assert answer.nodes.limit == "not known", "both nodes are one machine"
    until_nothing_is_left(open_run(tmp_path / "answer" / record.runs[-1].folder))


def test_nothing_outlives_a_controller_that_is_killed(hosts: Hosts, tmp_path: Path) -> None:
    run = sleeping(hosts, tmp_path, "--node-timeout", "5")
    for name in NAMES:
        assert hosts.heard_at(name) == {"127.0.0.1", hosts.spaces.address(name)}
    assert hosts.heard_at(None) == {"127.0.0.1", f"{SUBNET}.1"}, "the scheduler in the controller's process"
    run.kill()
    run.communicate()
    found = newest(tmp_path)
    until_nothing_is_left(found)
    found = newest(tmp_path)
    assert found.facts.outcome == "interrupted"
    assert {job.outcome for job in found.job_records()} == {"lost"}


def test_a_host_that_disappears_is_lost_and_the_other_is_stopped(hosts: Hosts, tmp_path: Path) -> None:
    run = sleeping(hosts, tmp_path, "--node-timeout", "5")
    assert run.stderr is not None
    hosts.spaces.cut("beta")
    try:
        assert any("beta was lost" in line for line in run.stderr)
        run.send_signal(signal.SIGINT)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        found = newest(tmp_path)
        until_nothing_is_left(found)  # the lost host ends what it ran with its link still down
    finally:
        hosts.spaces.mend("beta")
    assert found.facts.outcome == "interrupted"
    assert {one.node: one.outcome for one in found.facts.node_runs} == {
        "alpha": "interrupted",
        "beta": "lost",
    }
    assert {job.job: job.outcome for job in found.job_records()} == {
        "alpha.a.1.sleep": "stopped",
        "beta.a.1.sleep": "lost",
    }
