"""``mawl run`` on several nodes: the arguments, the nodes' tasks, and what is refused."""

from __future__ import annotations

import argparse
import contextlib
import copy
import re
import secrets
import sys
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mawl.commands.arguments import plan_of, settings, volume_order_of, volumes_of
from mawl.commands.cluster_arguments import NODE_TIMEOUT_SECONDS
from mawl.commands.extras import missing_package
from mawl.commands.failing import Failing, check_run
from mawl.commands.finished import EXIT_OF_OUTCOME, show
from mawl.commands.live import view
from mawl.config.settings import Settings
from mawl.errors import UsageError
from mawl.imports import importing
from mawl.plan.workload import Plan
from mawl.store.files import lies_in
from mawl.units import parse_size

if TYPE_CHECKING:  # what they import takes longer than most runs on one machine should wait for
    from mawl.cluster.conducting import Reach
    from mawl.cluster.controller import ClusterRequest
    from mawl.cluster.words import NodeTask

LEAST_TIMEOUT_SECONDS = 5.0
UNENCRYPTED = (
    "the scheduler is not encrypted: anyone who reaches it can run code on all nodes; use tls://HOST:PORT "
    "with --tls-ca, --tls-cert and --tls-key, or a network that only the nodes reach"
)


def run_on_nodes(arguments: argparse.Namespace, failing: Failing) -> int:
    """Conduct a run on the nodes, and report it like any other; exit status by outcome."""
    for package in ("dask", "distributed"):
        if find_spec(package) is None:
            raise missing_package(ModuleNotFoundError(name=package), "cluster")
    with importing():
        import asyncio

        from mawl.cluster.conducting import conduct

    chosen = settings()
    placed = _placed(arguments.on or [])
    plans = {name: _plan(arguments, chosen, workload) for name, workload in placed.items()}
    every = None if placed else _plan(arguments, chosen, arguments.workload)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    first = every or next(iter(plans.values()))
    run_id = f"{stamp}-{first.workload}-{secrets.token_hex(2)}"
    runs = chosen.runs(arguments.runs)
    folder = Path(arguments.output) if arguments.output else runs / run_id
    html = chosen.choice("html", arguments.html, ("yes", "no")) == "yes"

    # What the options say is refused before anything is reached or started.
    task = _task(arguments, chosen, run_id, first)

    storage = storage_nodes(arguments.storage_node or [], list(placed))
    link = parse_link(arguments.link) if arguments.link is not None else None

    def request(nodes: list[str]) -> ClusterRequest:
        made = _request(arguments, run_id, folder, runs if lies_in(folder, runs) else None)
        return msgspec.structs.replace(
            made,
            tasks=[_on(task, name, plans[name] if placed else first) for name in nodes],
            storage=[_watching(task, name, first, devices) for name, devices in storage.items()],
            link_bytes_per_second=link,
        )

    with contextlib.closing(view()) as watcher:
        facts = asyncio.run(
            conduct(
                _reach(arguments, storage), list(placed), request, watcher, list(storage), _nodes(arguments)
            )
        )
    return check_run(failing, show(folder, chosen, html=html), EXIT_OF_OUTCOME[facts.outcome])


def _nodes(arguments: argparse.Namespace) -> int | None:
    if arguments.nodes is not None and arguments.nodes < 1:
        raise UsageError(f"--nodes {arguments.nodes}: expected a number of nodes from 1")
    if arguments.nodes is not None and arguments.on:
        raise UsageError("--nodes does not go with --on, which names the nodes", cure="leave one out")
    nodes: int | None = arguments.nodes
    return nodes


def _placed(given: list[str]) -> dict[str, str]:
    """Node to workload of ``--on``."""
    found: dict[str, str] = {}
    for text in given:
        node, separator, workload = text.partition("=")
        if not separator or not node or not workload:
            raise UsageError(f"--on {text}: expected NODE=WORKLOAD, such as node1=mixed20")
        if node in found:
            raise UsageError(f"--on names {node} twice", cure="a node runs one workload")
        found[node] = workload
    return found


def storage_nodes(given: list[str], placed: list[str]) -> dict[str, list[str]]:
    """Node to devices of ``--storage-node NAME[=DEVICE,...]``; UsageError where that is none."""
    found: dict[str, list[str]] = {}
    for text in given:
        node, separator, listed = text.partition("=")
        devices = [name.strip() for name in listed.split(",") if name.strip()]
        if not node or (separator and not devices):
            raise UsageError(
                f"--storage-node {text}: expected NAME or NAME=DEVICE,..., such as server=sdb,sdc"
            )
        if node in found or node in placed:
            raise UsageError(f"{node} is named twice", cure="a storage node is named once, and has no --on")
        found[node] = devices
    return found


def parse_link(text: str) -> float:
    """Bytes a second of a link's rate: ``40Gbit`` (a second, as links are sold), or a size, ``5GB``."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgKMGT]?)(?:bit|bit/s|b/s|bps)", text.strip())
    rate = float(match[1]) * 1000 ** " KMGT".index(match[2].upper() or " ") / 8.0 if match else None
    if rate is None:
        try:
            rate = float(parse_size(text.strip().removesuffix("/s")))
        except UsageError:
            rate = 0.0
    if not rate > 0:
        raise UsageError(f"--link {text}: expected a rate such as 40Gbit or 5GB")
    return rate


def _plan(arguments: argparse.Namespace, chosen: Settings, workload: str) -> Plan:
    own = copy.copy(arguments)
    own.workload = workload
    return plan_of(own, chosen)


def _on(task: NodeTask, node: str, plan: Plan) -> NodeTask:
    """A node's own of the task that all have."""
    own = f"{task.run_id}-{node}"
    return msgspec.structs.replace(
        task, run_id=own, node=node, plan=plan, folder=str(Path(task.folder) / own)
    )


def _watching(task: NodeTask, node: str, plan: Plan, devices: list[str]) -> NodeTask:
    """The task of a storage server: the plan without its sessions."""
    none = msgspec.structs.replace(plan, workload="storage", title="watched", sessions=())
    return msgspec.structs.replace(_on(task, node, none), watch=devices)


def _task(arguments: argparse.Namespace, chosen: Settings, run_id: str, plan: Plan) -> NodeTask:
    """What all nodes have in common; the folder is that of their run folders."""
    from mawl.cluster.words import NodeTask

    limit = chosen.optional_text("memory_limit", arguments.memory_limit)
    if arguments.timeout is not None and not arguments.timeout > 0:
        raise UsageError(f"--timeout {arguments.timeout:g}: expected a number of seconds above 0")
    if arguments.drop_caches and arguments.cache != "cold":
        raise UsageError("--drop-caches goes with --cache cold")
    processes = chosen.whole("processes", None, 0, 0, 1024)
    directories = volumes_of(arguments, chosen).directories  # the same paths on every node
    return NodeTask(
        run_id=run_id,
        node="",
        plan=plan,
        roles={role: [str(path) for path in paths] for role, paths in directories.items()},
        folder=arguments.node_runs or "mawl-node-runs",
        lease_seconds=_timeout(arguments) / 2,
        command=sys.argv,
        start_mode=chosen.choice("start", arguments.start, ("zygote", "spawn")),
        on_failure=chosen.choice("on_failure", arguments.on_failure, ("continue", "abort")),
        cores=chosen.optional_text("cores", arguments.cores),
        memory_limit_bytes=parse_size(limit) if limit else None,
        timeout_seconds=arguments.timeout,
        volume_order=volume_order_of(arguments, chosen),
        cache=arguments.cache,
        drop_caches=arguments.drop_caches,
        compressibility=chosen.choice("compressibility", arguments.compressibility, ("no", "yes")) == "yes",
        processes=processes or None,
    )


def _timeout(arguments: argparse.Namespace) -> float:
    seconds = arguments.node_timeout
    if seconds is None:
        return NODE_TIMEOUT_SECONDS
    if not LEAST_TIMEOUT_SECONDS <= seconds < 1e6:
        raise UsageError(
            f"--node-timeout {seconds:g}: expected a number of seconds from {LEAST_TIMEOUT_SECONDS:g}"
        )
    return float(seconds)


def _request(arguments: argparse.Namespace, run_id: str, folder: Path, runs: Path | None) -> ClusterRequest:
    from mawl.cluster.controller import ClusterRequest

    return ClusterRequest(
        run_id=run_id,
        folder=folder.absolute(),
        tasks=[],
        shared=("data",) if arguments.shared is None else tuple(arguments.shared),
        on_lost_node=arguments.on_lost_node or "continue",
        node_timeout_seconds=_timeout(arguments),
        command=sys.argv,
        runs=runs,
    )


def _reach(arguments: argparse.Namespace, storage: Iterable[str]) -> Reach:
    """How to reach the nodes; over ssh a storage server is one of the hosts, named or not."""
    from mawl.cluster.conducting import Reach
    from mawl.cluster.connection import Certificates

    files = [arguments.tls_ca, arguments.tls_cert, arguments.tls_key]
    if any(files) and not all(files):
        raise UsageError("TLS needs three files", cure="give --tls-ca, --tls-cert and --tls-key")
    certificates = None
    if all(files):
        authority, certificate, key = (Path(file).absolute() for file in files)
        certificates = Certificates(authority=authority, certificate=certificate, key=key)
    if arguments.cluster is not None and not arguments.cluster.startswith("tls://"):
        print(f"warning: {UNENCRYPTED}", file=sys.stderr)
    hosts = [host for host in (arguments.ssh or "").split(",") if host]
    named = [host.rpartition("@")[2] for host in hosts]
    return Reach(
        address=arguments.cluster,
        hosts=(*hosts, *(name for name in storage if hosts and name not in named)),
        listen=arguments.listen,
        remote_python=arguments.remote_python or sys.executable,
        ssh_config=arguments.ssh_config,
        certificates=certificates,
    )
