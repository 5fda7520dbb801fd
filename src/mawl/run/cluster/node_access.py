"""A run on several nodes from beginning to end: over ssh, or over the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError, UsageError
from mawl.records.model.run import RunFacts
from mawl.records.spec.nodes import AS_ON_ALL, HostSettings, read_host_file
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import NodesSpec
from mawl.run.cluster.controller import ClusterRequest, Controller
from mawl.run.cluster.link import Certificates, Link
from mawl.run.cluster.node_check import NodesCheck, check_nodes, without_the_unfit
from mawl.run.cluster.ssh_link import agents_over_ssh, node_names
from mawl.run.launch.runner_watch import watched
from mawl.run.runner.loop import Interrupts
from mawl.run.runner.request import Listener

_CONTROLLER_STOPPED = (
    "the controller (process {}) was stopped by a signal: nodes that hear nothing for half of --node-timeout "
    "stop their jobs"
)


class NodeAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach the nodes: a scheduler that runs already (``address``), or hosts over ssh.

    ``settings`` are what differs on some of the nodes, by their names.
    """

    address: str | None = None
    hosts: tuple[str, ...] = ()
    settings: dict[str, HostSettings] = {}
    remote_python: str = "python3"
    ssh_config: str | None = None
    certificates: Certificates | None = None
    """For the scheduler."""

    @classmethod
    def of(cls, nodes: NodesSpec) -> NodeAccess:
        """As a run asks for it; over ssh a storage server is one of the hosts, named or not.

        Raises UsageError where a file of hosts cannot be used.
        """
        certificates = None
        if nodes.tls_ca and nodes.tls_cert and nodes.tls_key:
            certificates = Certificates(
                authority=Path(nodes.tls_ca).absolute(),
                certificate=Path(nodes.tls_cert).absolute(),
                key=Path(nodes.tls_key).absolute(),
            )
        in_file = {} if nodes.hosts is None else read_host_file(nodes.hosts)
        hosts = (*nodes.ssh, *in_file)
        named = [host.rpartition("@")[2] for host in hosts]
        storage: Iterable[str] = nodes.storage_node if nodes.over_ssh else ()
        return cls(
            address=nodes.cluster,
            hosts=(*hosts, *(name for name in storage if name not in named)),
            settings={host.rpartition("@")[2]: one for host, one in in_file.items() if one != AS_ON_ALL},
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
    *,
    goes_on: bool = False,
) -> RunFacts:
    """Run on the nodes ``chosen``, for which ``request`` makes the request.

    Where none is chosen: on all, or the ``first`` of them.

    ``storage`` are nodes that run nothing, whose tasks the request has, too.  All nodes are checked before
    anything starts; ``goes_on`` without those that cannot be reached or used.

    Raises MawlError where the cluster cannot be reached or has no such node, else as
    ``Controller.conduct``.  What the link raises at its end does not take away a run that is whole.
    """
    facts: RunFacts | None = None
    with Interrupts() as interrupts, watched(_CONTROLLER_STOPPED.format(os.getpid())):
        try:
            async with linked(reach, partial(_go_on, interrupts)) as (link, known):
                names = chosen_nodes(known, reach, chosen, storage, first)
                asked = await _checked(request(names), link, listener, goes_on=goes_on)
                facts = await Controller(asked, link, listener, interrupts).conduct()
        except Exception:
            if facts is None:
                raise
    assert facts is not None
    return facts


async def _checked(
    request: ClusterRequest, link: Link, listener: Listener, *, goes_on: bool
) -> ClusterRequest:
    """The request for the nodes that can take part; the table of all where one cannot, or is worth a word."""
    tasks = {task.node: task for task in (*request.tasks, *request.storage)}
    places = {name: {} if task.watch is not None else task.spec.directories() for name, task in tasks.items()}
    check = await check_nodes(link, places, request.shared)
    for line in check.lines() if check.checks and len(tasks) > 1 else ():
        listener.notice(line)
    fit = without_the_unfit(check, [task.node for task in request.tasks], goes_on=goes_on)
    return msgspec.structs.replace(
        request,
        tasks=[task for task in request.tasks if task.node in fit],
        storage=[task for task in request.storage if task.node not in check.unfit],
        absent=check.unfit,
    )


def look_at(nodes: NodesSpec, roles: Mapping[Role, Sequence[str]], chosen: Sequence[str] = ()) -> NodesCheck:
    """The check of the nodes that would run sessions, in order; ``chosen`` are those that must be there.

    Raises MawlError where the cluster cannot be reached, or has no such node.
    """

    async def checked() -> NodesCheck:
        reach = NodeAccess.of(nodes)
        async with linked(reach) as (link, known):
            names = chosen_nodes(known, reach, chosen, list(nodes.storage_node), nodes.nodes)
            places = {name: reach.settings.get(name, AS_ON_ALL).places(roles) for name in names}
            return await check_nodes(link, places, nodes.shared)

    return asyncio.run(checked())


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


def _go_on(interrupts: Interrupts) -> None:
    if interrupts.level:
        raise InterruptedRunError(f"{interrupts.name}: no job was started")


@contextlib.asynccontextmanager
async def linked_to(reach: NodeAccess, node: str) -> AsyncIterator[Link]:
    """A link to one of the nodes of a run that is over.

    Raises MawlError where the node cannot be reached.
    """
    hosts = tuple(host for host in reach.hosts if host.rpartition("@")[2] == node)
    if reach.address is None and not hosts:
        raise UnsuitableMachineError(
            f"the run does not say how {node} is reached", cure=f"copy its folder by hand: --from {node}=DIR"
        )
    async with linked(msgspec.structs.replace(reach, hosts=hosts)) as (link, known):
        if node not in known:
            raise UnsuitableMachineError(
                f"no worker there is called {node}", where=reach.address, cure="start it again on its host"
            )
        yield link


@contextlib.asynccontextmanager
async def linked(
    reach: NodeAccess, check: Callable[[], None] = lambda: None
) -> AsyncIterator[tuple[Link, list[str]]]:
    """The link and the nodes that are there now; a worker that joins later is not one of the run's nodes.

    A host without an agent says so when it is asked.  ``check`` is called while hosts are reached, and may
    raise.
    """
    if reach.address is None:
        names = node_names(reach.hosts)
        pythons = {name: one.python for name, one in reach.settings.items() if one.python is not None}
        async with agents_over_ssh(
            names, reach.remote_python, reach.ssh_config, check, pythons=pythons
        ) as link:
            yield link, list(names)
        return
    from mawl.run.cluster.dask_link import DaskLink, connected, workers_of

    async with connected(reach.address, reach.certificates) as client:
        workers = await workers_of(client)
        yield DaskLink(client, workers), list(workers)
