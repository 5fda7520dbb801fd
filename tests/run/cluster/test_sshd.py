"""Runs over a real sshd on each of three nodes in network namespaces, reached by a configuration of ssh."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pyarrow import compute

import mawl
from mawl.records.store import Run, open_run
from mawl.records.store.campaign import read_qualification
from mawl.run.launch.setup import live_runs
from tests import needs
from tests.fakes.merged_sums import check_sums
from tests.fakes.processes import agents
from tests.fakes.second_figures import slowdowns
from tests.run.cluster.spaces import NO_SPACES, Spaces

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.tried("network namespaces", lambda: NO_SPACES)),
    needs.marks(needs.program("sshd")),
    needs.marks(needs.program("ssh")),
]

THREE = ALPHA, BETA, GAMMA = [f"{name}{os.getpid()}" for name in ("alpha", "beta", "gamma")]
"""Several processes may test at once, and look for what is left by these names."""
NAMES = (ALPHA, BETA)
PORT = 2222
NOBODY = 65534
SLEEPERS = """
name = "sleepers"
[[sessions]]
name = "a"
stages = [[{ command = ["sleep", "300"] }]]
"""
CONFIGURATION = """
Host {names[0]} wrongkey stranger
  HostName {at[0]}
Host {names[1]}
  HostName {at[1]}
Host {names[2]}
  HostName {at[2]}
Host refused
  HostName {at[0]}
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
    """The three nodes with their sshd, and a configuration that reaches them, and in vain some others."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.processes: list[subprocess.Popen[bytes]] = []
        for name in ("host", "user", "stranger"):
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name)]
            subprocess.run(key, check=True)
        self.spaces = Spaces(THREE)

    def start(self) -> None:
        """Every sshd, until a command can be run there."""
        place = self.place
        addresses = {name: self.spaces.address(name) for name in THREE}
        for known, owner in (("known_hosts", "host"), ("wrong_hosts", "user")):
            public = " ".join((place / f"{owner}.pub").read_text().split()[:2])
            lines = [f"[{address}]:{PORT} {public}\n" for address in addresses.values()]
            (place / known).write_text("".join(lines))
        at = list(addresses.values())
        (place / "config").write_text(CONFIGURATION.format(names=THREE, at=at, place=place, port=PORT))
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd(8) will have it
        for name, address in addresses.items():
            file = place / f"sshd-{name}"
            source = Path(mawl.__file__).parents[1]
            file.write_text(SERVER.format(port=PORT, address=address, place=place, source=source))
            command = [*self.spaces.inside(name), str(SSHD), "-D", "-f", str(file), "-E", f"{file}.log"]
            self.processes.append(subprocess.Popen(command))
        until(lambda: all(self.ssh(name) == 0 for name in THREE))

    def ssh(self, name: str) -> int:
        """The exit status of a command there."""
        words = ["ssh", "-F", str(self.place / "config"), "-o", "BatchMode=yes", name, "true"]
        return subprocess.run([*self.spaces.inside(), *words], capture_output=True).returncode

    def mawl(
        self, directory: Path, *arguments: str, verb: str = "run", hosts: str = ",".join(NAMES)
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

    def sockets(self, name: str | None, *which: str) -> set[str]:
        """Sockets of a node (None: of the hub): their own end, an address and a port."""
        command = [*self.spaces.inside(name), "ss", *which, "--numeric", "--no-header"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return {line.split()[4] for line in said.splitlines()}

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


def sleeping(
    hosts: Hosts, directory: Path, *arguments: str, names: Sequence[str] = NAMES
) -> subprocess.Popen[str]:
    """A run all of whose jobs have started, one on each node."""
    (directory / "sleepers.toml").write_text(SLEEPERS)
    run = hosts.mawl(directory, "sleepers.toml", "--html", "no", *arguments, hosts=",".join(names))
    journal = directory / "runs" / "latest" / "journal" / "events.jsonl"
    until(
        lambda: (
            run.poll() is not None
            or (journal.exists() and journal.read_text().count("job_started") == len(names))
        )
    )
    assert run.poll() is None, run.communicate()
    return run


def until_nothing_is_left(found: Run) -> None:
    """Wait until neither agent, nor ssh with its command line, nor a process of the run is there."""
    run_id = found.facts.run_id
    until(
        lambda: (
            not any(agents(name) for name in THREE)
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
            f"255): ssh: connect to host {hosts.spaces.address(ALPHA)} port 2223: Connection refused;",
        ),
        "wrongkey": ([], "255): Host key verification failed;"),
        "stranger": ([], "Permission denied (publickey"),
        ALPHA: (no_python, f"127): env: '{tmp_path / 'python'}': No such file or directory;"),
    }
    runs = {
        host: hosts.mawl(tmp_path, "nano", *options, hosts=host) for host, (options, _) in expected.items()
    }
    for host, run in runs.items():
        _, complaints = run.communicate(timeout=60)
        assert run.returncode == 1 and complaints.count("\n") == 1, complaints
        assert complaints.startswith(f"mawl run: {host}: mawl could not be started over ssh (exit status ")
        assert expected[host][1] in complaints
    until(lambda: not any(agents(host) for host in expected))
    assert not (tmp_path / "runs").exists(), "no run was begun"


@pytest.mark.long(minutes=18)
def test_qualify_answers_for_two_hosts(hosts: Hosts, tmp_path: Path) -> None:
    asked = ("--minutes", "15", "--yes", "--anyway", "--output", "answer")
    said, complaints = hosts.mawl(tmp_path, *asked, verb="qualify").communicate(timeout=1500)
    record = read_qualification(tmp_path / "answer")
    answer = record.answer
    assert answer is not None and answer.nodes, complaints + said
    assert answer.sentence in " ".join(said.split())
    assert [node.name for node in record.nodes] == list(NAMES)
    assert record.nodes[1].machine == ALPHA
    # The slowdown is the geometric mean of the measured runs; that of one node, of the runs with one.
    for part, purpose, nodes in ((answer.carried, "measured", 2), (answer.nodes.one, "one-node", 1)):
        runs = [run for run in record.runs if run.purpose == purpose and run.state == "finished"]
        folders = [tmp_path / "answer" / run.folder for run in runs]
        assert all(len(open_run(folder).facts.node_runs) == nodes for folder in folders)
        found = [slowdowns(folder)["answer.slowdown"] for folder in folders]
        assert part.slowdown == pytest.approx(statistics.geometric_mean(found)), purpose
    assert answer.nodes.limit == "not known", "both nodes are one machine"
    until_nothing_is_left(open_run(tmp_path / "answer" / record.runs[-1].folder))


OPEN_PIPES = """
import os, sys
for pid in sys.argv[1:]:
    for end in range(3):
        try:
            os.close(os.open(f"/proc/{pid}/fd/{end}", os.O_WRONLY | os.O_NONBLOCK))
            print("opened", pid, end)
        except PermissionError:
            pass
"""


def test_another_user_finds_no_door_into_a_run_on_three_nodes(hosts: Hosts, tmp_path: Path) -> None:
    """Nothing listens but sshd, nothing is connected but ssh, and the pipes are the starting user's."""

    def as_nobody(code: str, *words: str) -> list[str]:
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        command = [*hosts.spaces.inside(), *user, sys.executable, "-c", code, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd="/")
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    run = sleeping(hosts, tmp_path, names=THREE)
    doors = [f"{hosts.spaces.address(name)}:{PORT}" for name in THREE]
    listening = ("--listening", "--tcp", "--udp", "--unix")
    try:
        for name, door in zip(THREE, doors, strict=True):
            assert hosts.sockets(name, *listening) == {door}
            assert hosts.sockets(name, "--tcp", "--udp") == {door}, "ssh's connection, and no other"
        assert hosts.sockets(None, *listening) == set()
        assert len(hosts.sockets(None, "--tcp", "--udp")) == len(THREE)
        run_id = newest(tmp_path).facts.run_id
        live = {name: pids for name, pids in live_runs().items() if name.startswith(run_id)}
        ours = [str(pid) for pids in live.values() for pid in pids]
        assert len(ours) > len(THREE) and as_nobody(OPEN_PIPES, str(run.pid), *ours) == []
    finally:
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
    until_nothing_is_left(newest(tmp_path))


def test_nothing_outlives_a_controller_that_is_killed(hosts: Hosts, tmp_path: Path) -> None:
    run = sleeping(hosts, tmp_path, "--node-timeout", "5")
    run.kill()
    run.communicate()
    found = newest(tmp_path)
    until_nothing_is_left(found)
    found = newest(tmp_path)
    assert found.facts.outcome == "interrupted"
    assert {job.outcome for job in found.job_records()} == {"lost"}


def agent_of(name: str) -> int:
    """The process of the agent on a node."""
    line = f"-P -m mawl.run.cluster agent {name}".encode().split()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if file.read_bytes().split(b"\0")[1:-1] == line:
                return int(file.parent.name)
    raise AssertionError(f"no agent on {name}")


def test_an_agent_that_is_stopped_is_said_to_be(hosts: Hosts, tmp_path: Path) -> None:
    run = sleeping(hosts, tmp_path)
    assert run.stderr is not None
    agent = agent_of(BETA)
    os.kill(agent, signal.SIGSTOP)
    try:
        said = next(line for line in run.stderr if line.startswith(f"{BETA} did not answer"))
        assert said.startswith(
            f"{BETA} did not answer within 5 s: its agent is stopped; a node stops its jobs "
        )
    finally:
        os.kill(agent, signal.SIGCONT)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
    until_nothing_is_left(newest(tmp_path))


def test_a_host_that_disappears_is_lost_the_other_is_stopped_and_what_it_kept_is_collected(
    hosts: Hosts, tmp_path: Path
) -> None:
    run = sleeping(hosts, tmp_path, "--node-timeout", "5")
    assert run.stderr is not None
    hosts.spaces.cut(BETA)
    try:
        lost = next(line for line in run.stderr if f"{BETA} was lost" in line)
        assert f"{BETA} did not answer within 5 s: its host cannot be reached" in lost
        run.send_signal(signal.SIGINT)
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)
        found = newest(tmp_path)
        until_nothing_is_left(found)  # the lost host ends what it ran with its link still down
    finally:
        hosts.spaces.mend(BETA)
    assert found.facts.outcome == "interrupted"
    assert {one.node: one.outcome for one in found.facts.node_runs} == {
        ALPHA: "interrupted",
        BETA: "lost",
    }
    assert {job.job: job.outcome for job in found.job_records()} == {
        f"{ALPHA}.a.1.sleep": "stopped",
        f"{BETA}.a.1.sleep": "lost",
    }
    command = [*hosts.spaces.inside(), sys.executable, "-m", "mawl", "collect", "latest"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert said.startswith(f"{BETA}: its run folder joined the run (stopped by SIGTERM)")
    assert [job.outcome for job in newest(tmp_path).job_records()] == ["stopped", "stopped"]
    assert not list((tmp_path / "nodes").iterdir()), "what came over is not kept there"
    check_sums(found.path)
    until_nothing_is_left(found)
