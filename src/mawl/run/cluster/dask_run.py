"""A run over a Dask cluster from beginning to end; workers can be started over ssh, one on each host.

The system's own ``ssh`` is used, so that names, users, keys and jump hosts are those of the user's
configuration, or of a file of its kind (``-F``).  It never prompts (BatchMode).  Workers end with their
scheduler.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.records.model.run import RunFacts
from mawl.records.spec.run_spec import NodesSpec
from mawl.run.cluster.connection import (
    CONNECT_SECONDS,
    LOOPBACK,
    TUNED,
    Certificates,
    DaskLink,
    connected,
    first_workers,
    own_scheduler,
    workers_of,
)
from mawl.run.cluster.controller import ClusterRequest, Controller
from mawl.run.launch.runner_watch import watched
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.request import Listener

END_SECONDS = 5.0
DEATH_SECONDS = 15
"""How long a worker looks for its scheduler, which was there before it, until it ends."""
SSH_PORT = 22
SSH_CONNECT_SECONDS = 30
"""How long ssh tries a host that does not answer, where its configuration does not say (``ConnectTimeout``);
well before the run gives its workers up."""


def node_names(hosts: Sequence[str]) -> dict[str, str]:
    """Node name (the host without its user) to what ssh is given; UsageError for two of one name."""
    found: dict[str, str] = {}
    if not hosts:
        raise UsageError("--ssh names no host", cure="give hosts as ssh knows them: --ssh a,b")
    for host in hosts:
        name = host.rpartition("@")[2]
        if not name or host.startswith("-"):
            raise UsageError(f"--ssh: {host!r} is no host", cure="give hosts as ssh knows them: --ssh a,b")
        if name in found:
            raise UsageError(f"--ssh names {name} twice", cure="a node is a machine: name each once")
        found[name] = host
    return found


def address_towards(host: str, config: str | None = None) -> str:
    """The address of this machine from which packets to a host leave; no packet is sent to it.

    The host's own address is the one that ssh would go to: ``HostName`` of its configuration.
    """
    name = _ssh_settings(host, config).get("hostname", host)
    try:
        family, _, _, _, place = socket.getaddrinfo(name, SSH_PORT, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(place)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise UnsuitableMachineError(
            f"no address of this machine is known that {name} would reach",
            why=(error.strerror or str(error)).lower(),
            cure="name one with --listen",
        ) from None


def _ssh_settings(host: str, config: str | None) -> dict[str, str]:
    """What ssh's configuration says of a host (ssh(1), -G): its keywords in small letters, and their values.

    One that nothing sets has ssh's own default, or ``none``.
    """
    asked = subprocess.run(
        [*_ssh_program(config), "-G", "--", host], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if asked.returncode != 0:
        raise UnsuitableMachineError(
            f"ssh does not say how it reaches {host} (exit status {asked.returncode})",
            why=_last_line(asked.stderr),
            cure="try ssh -G with that host by hand",
        )
    return dict(line.partition(" ")[::2] for line in asked.stdout.splitlines())


def ssh_command(host: str, config: str | None) -> list[str]:
    """The beginning of the command line that runs something on a host: what the configuration says counts.

    Options of a command line come before it, so the time to connect is given only where it names none.
    """
    options = ["-o", "BatchMode=yes"]
    if _ssh_settings(host, config).get("connecttimeout", "none") == "none":
        options += ["-o", f"ConnectTimeout={SSH_CONNECT_SECONDS}"]
    return [*_ssh_program(config), *options, "--", host]


def _ssh_program(config: str | None) -> list[str]:
    program = shutil.which("ssh")
    if program is None:
        raise UnsuitableMachineError("ssh is not installed", cure="install an ssh client")
    return [program, *(("-F", config) if config is not None else ())]


def _last_line(text: str) -> str | None:
    lines = text.strip().splitlines()
    return lines[-1].strip().removesuffix(".") if lines else None


def worker_command(
    name: str, scheduler: str, python: str, settings: Mapping[str, object], tls: Sequence[str]
) -> str:
    """The command line for the remote shell: a tuned worker on the address that ssh came in by.

    It is one for ``sh``, whatever shell the user has there: others do not split ``$SSH_CONNECTION``.
    """
    variables = [
        f"DASK_{key.upper().replace('.', '__').replace('-', '_')}={value}" for key, value in settings.items()
    ]
    words = [
        *("exec", "env", *variables, python, "-m", "dask", "worker", scheduler, "--name", name),
        *("--no-nanny", "--nthreads", "1", "--memory-limit", "0"),
        *("--no-dashboard", "--dashboard-address", LOOPBACK),
        *("--death-timeout", str(DEATH_SECONDS), *tls),
    ]
    # SSH_CONNECTION (ssh(1)): client address, client port, server address, server port.
    script = f'set -- $SSH_CONNECTION; {shlex.join(words)} --host "$3"'
    return shlex.join(["exec", "sh", "-c", script])


class SshWorkers:
    """The ssh processes; ``check`` raises when one has ended."""

    def __init__(self, config: str | None = None) -> None:
        self._config = config
        self._processes: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}

    def start(self, name: str, host: str, command: str) -> None:
        command_line = [*ssh_command(host, self._config), command]
        output = tempfile.TemporaryFile()  # noqa: SIM115
        process = subprocess.Popen(
            command_line,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is the controller's to understand
        )
        self._processes[name] = (process, output)

    def check(self) -> None:
        """UnsuitableMachineError, with its last line, where an ssh has ended."""
        for name, (process, output) in self._processes.items():
            if process.poll() is not None:
                output.seek(0)
                raise UnsuitableMachineError(
                    f"no worker could be started over ssh (exit status {process.returncode})",
                    where=name,
                    why=_last_line(output.read().decode(errors="replace")),
                    cure="try ssh to that host by hand, and name its Python with --remote-python",
                )

    def close(self) -> None:
        """Wait for the workers, which end with their scheduler; end those that do not."""
        ends_at = time.monotonic() + END_SECONDS
        for process, output in self._processes.values():
            try:
                process.wait(max(ends_at - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
            output.close()


def tls_arguments(authority: Path, certificate: Path, key: Path) -> list[str]:
    """What a worker is told of its certificates, which lie in the same places there."""
    return ["--tls-ca-file", str(authority), "--tls-cert", str(certificate), "--tls-key", str(key)]


START_SECONDS = 60.0
"""For workers over ssh: a Python that starts from a shared file system takes its time."""

_CONTROLLER_STOPPED = (
    "the controller (process {}) was stopped by a signal: nodes that hear nothing for half of --node-timeout "
    "stop their jobs"
)


class NodeAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the nodes: a scheduler that runs already (``address``), or hosts over ssh."""

    address: str | None = None
    hosts: tuple[str, ...] = ()
    listen: str | None = None
    remote_python: str = "python3"
    ssh_config: str | None = None
    certificates: Certificates | None = None

    @classmethod
    def of(cls, nodes: NodesSpec) -> NodeAccess:
        """As a run asks for it; over ssh a storage server is one of the hosts, named or not."""
        certificates = None
        if nodes.tls_ca and nodes.tls_cert and nodes.tls_key:
            authority, certificate, key = (
                Path(file).absolute() for file in (nodes.tls_ca, nodes.tls_cert, nodes.tls_key)
            )
            certificates = Certificates(authority=authority, certificate=certificate, key=key)
        named = [host.rpartition("@")[2] for host in nodes.ssh]
        storage: Iterable[str] = nodes.storage_node if nodes.ssh else ()
        return cls(
            address=nodes.cluster,
            hosts=(*nodes.ssh, *(name for name in storage if name not in named)),
            listen=nodes.listen,
            remote_python=nodes.remote_python or sys.executable,
            ssh_config=nodes.ssh_config,
            certificates=certificates,
        )


async def conduct(
    reach: NodeAccess,
    chosen: Sequence[str],
    request: Callable[[list[str]], ClusterRequest],
    listener: Listener,
    storage: Sequence[str] = (),
    first: int | None = None,
) -> RunFacts:
    """Run on the nodes ``chosen``, for which ``request`` makes the request.

    Where none is chosen: on all, or the ``first`` of them.

    ``storage`` are nodes that run nothing, whose tasks the request has, too.

    Raises MawlError where the cluster cannot be reached or has no such node, else as
    ``Controller.conduct``.
    """
    with Interrupts() as interrupts, watched(_CONTROLLER_STOPPED.format(os.getpid())):
        async with workers(reach) as (client, known):
            names = chosen_nodes(known, reach, chosen, storage, first)
            link = DaskLink(client, {name: known[name] for name in (*names, *storage)})
            return await Controller(request(names), link, listener, interrupts).conduct()


def chosen_nodes(
    known: Collection[str],
    reach: NodeAccess,
    chosen: Sequence[str],
    storage: Sequence[str],
    first: int | None,
) -> list[str]:
    """The nodes that run sessions, of those that are known: the chosen, else the first of them, else all.

    Raises MawlError where the cluster has no such node.
    """
    unknown = [name for name in (*chosen, *storage) if name not in known]
    if unknown:
        raise UsageError(
            f"no node is called {unknown[0]}", cure=f"the cluster has {', '.join(known) or 'none'}"
        )
    if not known:
        raise UnsuitableMachineError(
            "the cluster has no worker",
            where=reach.address,
            cure="start one on each node: dask worker ADDRESS --name NODE",
        )
    free = [name for name in known if name not in storage]
    if first is not None and first > len(free):
        raise UsageError(
            f"the cluster has fewer than {first} nodes", why=f"it has {', '.join(free) or 'none'}"
        )
    names = list(chosen) or free[:first]
    if not names:
        raise UsageError("every node is a storage node", cure="leave one for the sessions")
    return names


@contextlib.asynccontextmanager
async def workers(reach: NodeAccess) -> AsyncIterator[tuple[Any, dict[str, str]]]:
    """The client and the workers that are there now; one that joins later is none of the run's nodes."""
    if reach.address is not None:
        async with connected(reach.address, reach.certificates) as client:
            yield client, await workers_of(client)
        return
    names = node_names(reach.hosts)
    listen = reach.listen or address_towards(reach.hosts[0], reach.ssh_config)
    files = reach.certificates
    tls = tls_arguments(files.authority, files.certificate, files.key) if files else []
    with contextlib.closing(SshWorkers(reach.ssh_config)) as started:
        async with own_scheduler(listen, files) as address:
            for name, host in names.items():
                started.start(name, host, worker_command(name, address, reach.remote_python, TUNED, tls))
            async with connected(address, files, CONNECT_SECONDS) as client:
                yield client, await first_workers(client, len(names), START_SECONDS, started.check)
