"""What a run on several nodes is asked to be: the part of ``RunSpec`` about nodes."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.spec.forms import (
    MOST_NODES,
    Choice,
    DevicePairs,
    Form,
    Number,
    Option,
    Pairs,
    Rate,
    Several,
    Switch,
    Whole,
)
from mawl.records.spec.hosts import Hosts
from mawl.records.spec.program_options import ROLES, OnLostNode, Role

LEAST_NODE_TIMEOUT_SECONDS = 5.0


class NodesSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A run on several nodes: a cluster that is there (``cluster``), or hosts (``ssh``, ``hosts``)."""

    cluster: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="ADDRESS",
            help="run on every worker of a Dask cluster, each a node with the whole workload; ADDRESS is its "
            "scheduler's, such as tls://HOST:8786",
            group="nodes",
            brief="run on every worker of a Dask cluster",
        ),
    ] = None
    ssh: Annotated[
        tuple[str, ...],
        Option(
            form=Hosts(),
            metavar="HOST,...",
            help="run on these hosts, such as a,b or node[01-64]: mawl is started there over ssh, and all "
            "messages go through ssh",
            group="nodes",
            brief="run on these hosts; mawl is started there over ssh",
        ),
    ] = ()
    hosts: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="the same, from a file with a host or a range in each line, and behind it what differs "
            "there: python=FILE data=DIR work=DIR util=DIR node_runs=DIR",
        ),
    ] = None
    start_with_those_that_come: Annotated[
        bool,
        Option(
            form=Switch(),
            help="leave out hosts or workers that cannot be reached or used, and run on the others "
            "(default: start nothing)",
        ),
    ] = False
    on: Annotated[
        dict[str, str],
        Option(
            form=Pairs("NODE=WORKLOAD, such as node1=mixed20", twice="a node runs one workload"),
            metavar="NODE=WORKLOAD",
            help="run this workload on this node, and nothing on nodes that are not named; may be repeated",
        ),
    ] = {}
    nodes: Annotated[
        int | None,
        Option(
            form=Whole(1, MOST_NODES, of="nodes"),
            metavar="N",
            help="run on N nodes only, the first by their names (with --ssh: as they are named)",
        ),
    ] = None
    shared: Annotated[
        tuple[Role, ...],
        Option(
            form=Several(*ROLES, of="role", least=0),
            help="roles whose directories must be one file system on all nodes, checked before the start "
            "(default: data); without any, each node may have its own",
        ),
    ] = ("data",)
    storage_node: Annotated[
        dict[str, tuple[str, ...]],
        Option(
            form=DevicePairs(
                "NAME or NAME=DEVICE,..., such as server=sdb,sdc",
                twice="a storage node is named once, and has no --on",
            ),
            metavar="NAME[=DEVICE,...]",
            help="watch this host (with --ssh) or this worker's machine as the storage server: it runs no "
            "session, and what its block devices (all, or these) and its network did joins the run; may be "
            "repeated",
        ),
    ] = {}
    link_bytes_per_second: Annotated[
        float | None,
        Option(
            name="link",
            form=Rate(),
            metavar="RATE",
            help="what a node's link to the storage carries each way, such as 40Gbit or 5GB (a second): with "
            "a --storage-node the verdict tells network from storage by it",
        ),
    ] = None
    on_lost_node: Annotated[
        OnLostNode,
        Option(
            form=Choice("continue", "stop"),
            help="when a node dies, hangs or leaves the network: the others go on (default), or are stopped",
        ),
    ] = "continue"
    node_timeout_seconds: Annotated[
        float,
        Option(
            name="node_timeout",
            form=Number(
                LEAST_NODE_TIMEOUT_SECONDS,
                999_999.0,
                expected=f"a number of seconds from {LEAST_NODE_TIMEOUT_SECONDS:g}",
            ),
            metavar="SECONDS",
            help="a node that is silent for so long is lost; after half of it a node that hears nothing "
            "stops its jobs by itself (default: 30)",
        ),
    ] = 30.0
    node_runs: Annotated[
        str,
        Option(
            form=Form(),
            metavar="DIR",
            help="where a node keeps its run folder until it is copied, best on a local disk (default: "
            "mawl-node-runs where its worker was started; with --ssh in the home directory)",
        ),
    ] = "mawl-node-runs"
    remote_python: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="with --ssh: the Python there that has mawl installed (default: this one's path)",
        ),
    ] = None
    ssh_config: Annotated[
        str | None,
        Option(
            form=Form(),
            metavar="FILE",
            help="with --ssh: ssh reads this instead of your configuration (ssh -F)",
        ),
    ] = None
    insecure: Annotated[
        bool,
        Option(
            form=Switch(),
            help="with --cluster: accept a scheduler beyond this machine without encryption "
            "(tcp://HOST:8786): anyone who reaches it can run code on all nodes",
        ),
    ] = False
    tls_ca: Annotated[
        str | None,
        Option(form=Form(), metavar="FILE", help="with --cluster: the certificate authority, in PEM form"),
    ] = None
    tls_cert: Annotated[
        str | None, Option(form=Form(), metavar="FILE", help="with --cluster: the certificate, in PEM form")
    ] = None
    tls_key: Annotated[
        str | None, Option(form=Form(), metavar="FILE", help="with --cluster: the private key, in PEM form")
    ] = None

    @property
    def over_ssh(self) -> bool:
        return bool(self.ssh or self.hosts)
