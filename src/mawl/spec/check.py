"""Whether a :class:`~mawl.spec.record.RunSpec` can be: the bounds of each option, and what goes with what."""

from __future__ import annotations

import msgspec

from mawl.errors import UsageError
from mawl.spec.option import options_of
from mawl.spec.places import refuse_overlaps, role_place
from mawl.spec.record import NodesSpec, RunSpec

ONLY_ON_ONE = ("solo", "probe")
ONLY_OVER_SSH = ("listen", "remote_python", "ssh_config")


def check(spec: RunSpec) -> RunSpec:
    """The spec itself; :class:`~mawl.errors.UsageError` with one sentence for the first that is wrong."""
    _check_values(spec)
    if spec.drop_caches and spec.cache != "cold":
        raise UsageError("--drop-caches goes with --cache cold")
    refuse_overlaps(
        {role: [role_place(role, place) for place in places] for role, places in spec.directories().items()}
    )
    if spec.nodes is not None:
        _check_values(spec.nodes)
        for name in ONLY_ON_ONE:
            if getattr(spec, name):
                raise _out(name, "does not go with a run on several nodes")
        _check_nodes(spec.nodes)
    return spec


def _check_values(part: msgspec.Struct) -> None:
    """Each value within its bounds; one that is its default is."""
    default = type(part)()
    for field, option in options_of(type(part)).items():
        value = getattr(part, field)
        if value != getattr(default, field):
            option.form.check(value, option.flag)


def _check_nodes(nodes: NodesSpec) -> None:
    if nodes.cluster is not None and nodes.ssh:
        raise UsageError("--cluster and --ssh do not go together", cure="name the one or the other")
    if nodes.cluster is None and not nodes.ssh:
        raise UsageError("a run on several nodes names none", cure="name them with --cluster or --ssh")
    for name in ONLY_OVER_SSH if not nodes.ssh else ():
        if getattr(nodes, name) is not None:
            raise _out(name, "goes with --ssh")
    if nodes.nodes is not None and nodes.on:
        raise UsageError("--nodes does not go with --on, which names the nodes", cure="leave one out")
    for name in nodes.storage_node:
        if name in nodes.on:
            raise UsageError(f"{name} is named twice", cure="a storage node is named once, and has no --on")
    files = (nodes.tls_ca, nodes.tls_cert, nodes.tls_key)
    if any(files) and not all(files):
        raise UsageError("TLS needs three files", cure="give --tls-ca, --tls-cert and --tls-key")


def _out(name: str, why: str) -> UsageError:
    flag = f"--{name.replace('_', '-')}"
    return UsageError(f"{flag} {why}", cure=f"leave {flag} out")
