"""A run on several nodes: the task of each node, and how to reach it."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mawl.base.errors import UsageError
from mawl.base.process import importing
from mawl.commands.arguments import volumes_of
from mawl.commands.progress import view
from mawl.commands.terminal import require_cluster
from mawl.plan.environment import without_values
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan, shipped
from mawl.records.model.run import RunFacts
from mawl.records.spec.nodes import AS_ON_ALL, HostSettings
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import NodesSpec, RunSpec
from mawl.records.store.files import lies_in

if TYPE_CHECKING:
    from mawl.run.cluster.controller import ClusterRequest
    from mawl.run.cluster.messages import NodeTask


def run_on_nodes(spec: RunSpec, nodes: NodesSpec, command: Sequence[str]) -> tuple[Path, RunFacts]:
    """Conduct a run on the nodes; its folder and its facts."""
    check_reach(nodes)
    with importing():
        from mawl.run.cluster.controller import ClusterRequest
        from mawl.run.cluster.node_access import NodeAccess, conduct

    plans = {
        name: plan_of(msgspec.structs.replace(spec, workload=workload)) for name, workload in nodes.on.items()
    }
    first = next(iter(plans.values())) if plans else plan_of(spec)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    run_id = f"{stamp}-{first.workload}-{secrets.token_hex(2)}"
    runs = Path(spec.runs)
    folder = Path(spec.output) if spec.output else runs / run_id
    task, reach = _shared_task(spec, nodes, run_id, first, command), NodeAccess.of(nodes)
    own = reach.settings

    def request(names: list[str]) -> ClusterRequest:
        return ClusterRequest(
            run_id=run_id,
            folder=folder.absolute(),
            tasks=[
                _node_task(
                    task, name, own.get(name), plans.get(name, first), nodes.on.get(name, spec.workload)
                )
                for name in names
            ],
            storage=[
                _storage_task(task, name, own.get(name), first, devices)
                for name, devices in nodes.storage_node.items()
            ],
            link_bytes_per_second=nodes.link_bytes_per_second,
            shared=nodes.shared,
            on_lost_node=nodes.on_lost_node,
            node_timeout_seconds=nodes.node_timeout_seconds,
            command=list(command),
            runs=runs if lies_in(folder, runs) else None,
        )

    storage = list(nodes.storage_node)
    with contextlib.closing(view()) as watcher:
        facts = asyncio.run(
            conduct(
                reach,
                list(plans),
                request,
                watcher,
                storage,
                nodes.nodes,
                goes_on=nodes.start_with_those_that_come,
            )
        )
    return folder, facts


def _node_task(
    task: NodeTask, node: str, settings: HostSettings | None, plan: Plan, workload: str
) -> NodeTask:
    own, settings = f"{task.run_id}-{node}", settings or AS_ON_ALL
    return msgspec.structs.replace(
        task,
        run_id=own,
        node=node,
        spec=msgspec.structs.replace(task.spec, **settings.places(task.spec.directories())),
        plan=without_values(plan),
        workload=workload if workload in shipped() else str(Path(workload).absolute()),
        folder=str(Path(settings.node_runs or task.folder) / own),
    )


def _storage_task(
    task: NodeTask, node: str, settings: HostSettings | None, plan: Plan, devices: Sequence[str]
) -> NodeTask:
    """The task of a storage server: the plan without its sessions."""
    none = msgspec.structs.replace(plan, workload="storage", title="watched", sessions=())
    return msgspec.structs.replace(_node_task(task, node, settings, none, ""), watch=list(devices))


def _shared_task(
    spec: RunSpec, nodes: NodesSpec, run_id: str, plan: Plan, command: Sequence[str]
) -> NodeTask:
    """What all nodes have in common; the folder is that of their run folders."""
    from mawl.run.cluster.messages import NodeTask

    return NodeTask(
        run_id=run_id,
        node="",
        plan=without_values(plan),
        spec=msgspec.structs.replace(spec, **places_on_nodes(spec, nodes)),
        folder=nodes.node_runs,
        lease_seconds=nodes.node_timeout_seconds / 2,
        command=list(command),
    )


def places_on_nodes(spec: RunSpec, nodes: NodesSpec) -> dict[Role, tuple[str, ...]]:
    """The same paths on every node; relative ones are over ssh below the home directory there, else here."""
    if nodes.over_ssh:
        return spec.directories()
    return {role: tuple(map(str, paths)) for role, paths in volumes_of(spec).directories.items()}


def show_check(spec: RunSpec, nodes: NodesSpec, *, for_scripts: bool = False) -> int:
    """Print the table of the nodes that a run would use, as JSON ``for_scripts``.

    Returns 1 where one cannot take part, else 0.
    """
    check_reach(nodes)
    with importing():
        from mawl.run.cluster.node_access import look_at

    check = look_at(nodes, places_on_nodes(spec, nodes), list(nodes.on))
    print(msgspec.json.encode(check).decode() if for_scripts else "\n".join(check.lines()))
    return 1 if check.unfit else 0


def check_reach(nodes: NodesSpec) -> None:
    """Raise where the nodes cannot be reached, or others could reach them; warn where others may.

    Who reaches a scheduler without TLS runs code on all nodes, as the user who started them.
    """
    if nodes.cluster is None:
        return
    require_cluster()
    if nodes.cluster.startswith("tls://"):
        return
    cure = "use tls://HOST:PORT with --tls-ca, --tls-cert and --tls-key, or reach the nodes with --ssh"
    if not nodes.insecure and not _is_loopback(nodes.cluster):
        raise UsageError(
            "this scheduler has no encryption, so anyone who reaches it can run code on all nodes",
            where=nodes.cluster,
            cure=f"{cure}; --insecure is for a network that only the nodes reach",
        )
    who = "anyone who reaches it" if nodes.insecure else "anyone who reaches it, such as every user here,"
    print(
        f"warning: the scheduler has no encryption: {who} can run code on all nodes; {cure}", file=sys.stderr
    )


def _is_loopback(address: str) -> bool:
    """Whether a scheduler's address is one that only this machine reaches."""
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
