"""Arguments of ``mawl run`` on several nodes, and which of them do not go together."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from mawl.errors import UsageError
from mawl.model.options import ROLES

NODE_TIMEOUT_SECONDS = 30.0

ONLY_OVER_SSH = ("listen", "remote_python", "ssh_config")
ONLY_ON_NODES = (
    "on", "nodes", "shared", "storage_node", "link", "on_lost_node", "node_timeout", "node_runs",
    *ONLY_OVER_SSH, "tls_ca", "tls_cert", "tls_key",
)  # fmt: skip
ONLY_ON_ONE = ("solo", "dry_run", "json", "probe")


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """--cluster, --ssh and what goes with them."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on every worker of a Dask cluster, each a node with the whole workload; ADDRESS is its "
        "scheduler's, such as tls://HOST:8786 or tcp://HOST:8786 (not encrypted: anyone who reaches it can "
        "run code on all nodes)",
    )
    parser.add_argument(
        "--ssh",
        metavar="HOST,...",
        help="run on these hosts: workers are started over ssh, for a scheduler in this process",
    )
    parser.add_argument(
        "--on",
        action="append",
        metavar="NODE=WORKLOAD",
        help="run this workload on this node, and nothing on nodes that are not named; may be repeated",
    )
    parser.add_argument(
        "--nodes",
        type=int,
        metavar="N",
        help="run on N nodes only, the first by their names (with --ssh: as they are named)",
    )
    parser.add_argument(
        "--shared",
        nargs="*",
        choices=ROLES,
        help="roles whose directories must be one file system on all nodes, checked before the start "
        "(default: data); without any, each node may have its own",
    )
    parser.add_argument(
        "--storage-node",
        action="append",
        metavar="NAME[=DEVICE,...]",
        help="watch this worker's machine as the storage server: it runs no session, and what its block "
        "devices (all, or these) and its network did joins the run; may be repeated",
    )
    parser.add_argument(
        "--link",
        metavar="RATE",
        help="what a node's link to the storage carries each way, such as 40Gbit or 5GB (a second): with a "
        "--storage-node the verdict tells network from storage by it",
    )
    parser.add_argument(
        "--on-lost-node",
        choices=("continue", "stop"),
        help="when a node dies, hangs or leaves the network: the others go on (default), or are stopped",
    )
    parser.add_argument(
        "--node-timeout",
        type=float,
        metavar="SECONDS",
        help="a node that is silent for so long is lost; after half of it a node that hears nothing stops "
        f"its jobs by itself (default: {NODE_TIMEOUT_SECONDS:g})",
    )
    parser.add_argument(
        "--node-runs",
        metavar="DIR",
        help="where a node keeps its run folder until it is copied, best on a local disk (default: "
        "mawl-node-runs where its worker was started)",
    )
    parser.add_argument(
        "--listen", metavar="HOST", help="with --ssh: the address of this machine that nodes connect to"
    )
    parser.add_argument(
        "--remote-python",
        metavar="FILE",
        help="with --ssh: the Python there that has mawl installed (default: this one's path)",
    )
    parser.add_argument(
        "--ssh-config",
        metavar="FILE",
        help="with --ssh: ssh reads this instead of your configuration (ssh -F)",
    )
    for name, what in (("ca", "certificate authority"), ("cert", "certificate"), ("key", "private key")):
        parser.add_argument(f"--tls-{name}", metavar="FILE", help=f"TLS: the {what}, in PEM form")


def on_nodes(arguments: argparse.Namespace, *, campaign: bool = False) -> bool:
    """Whether a run is meant for several nodes; UsageError for arguments that do not go together.

    ``campaign``: they are those of several runs, whose report may be JSON.
    """
    several = arguments.cluster is not None or arguments.ssh is not None
    if not several:
        _refuse(arguments, ONLY_ON_NODES, "goes with --cluster or --ssh")
        return False
    only_on_one = [name for name in ONLY_ON_ONE if not (campaign and name == "json")]
    _refuse(arguments, only_on_one, "does not go with a run on several nodes")
    if arguments.ssh is None:
        _refuse(arguments, ONLY_OVER_SSH, "goes with --ssh")
    elif arguments.cluster is not None:
        raise UsageError("--cluster and --ssh do not go together", cure="name the one or the other")
    return True


def _refuse(arguments: argparse.Namespace, names: Iterable[str], why: str) -> None:
    for name in names:
        if getattr(arguments, name) not in (None, False):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} {why}", cure=f"leave {option} out")
