"""A run over a Dask cluster from beginning to end: connect, choose the nodes, conduct, let go."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mawl.cluster.connection import (
    CONNECT_SECONDS,
    TUNED,
    Certificates,
    DaskLink,
    connected,
    first_workers,
    own_scheduler,
    workers_of,
)
from mawl.cluster.controller import ClusterRequest, Controller
from mawl.cluster.ssh import (
    SshWorkers,
    address_towards,
    names_of,
    tls_arguments,
    worker_command,
)
from mawl.errors import UnsuitableMachineError, UsageError
from mawl.launch.runner_watch import watched
from mawl.model.run import RunFacts
from mawl.runner.interrupts import Interrupts
from mawl.runner.request import Listener
from mawl.spec.record import NodesSpec

START_SECONDS = 60.0
"""For workers over ssh: a Python that starts from a shared file system takes its time."""

_STOPPED = (
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
    :meth:`~mawl.cluster.controller.Controller.conduct`.
    """
    with Interrupts() as interrupts, watched(_STOPPED.format(os.getpid())):
        async with workers(reach) as (client, known):
            names = chosen_of(known, reach, chosen, storage, first)
            link = DaskLink(client, {name: known[name] for name in (*names, *storage)})
            return await Controller(request(names), link, listener, interrupts).conduct()


def chosen_of(
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
    names = names_of(reach.hosts)
    listen = reach.listen or address_towards(reach.hosts[0], reach.ssh_config)
    files = reach.certificates
    tls = tls_arguments(files.authority, files.certificate, files.key) if files else []
    with contextlib.closing(SshWorkers(reach.ssh_config)) as started:
        async with own_scheduler(listen, files) as address:
            for name, host in names.items():
                started.start(name, host, worker_command(name, address, reach.remote_python, TUNED, tls))
            async with connected(address, files, CONNECT_SECONDS) as client:
                yield client, await first_workers(client, len(names), START_SECONDS, started.check)
