"""Which networks and fabrics count towards a sum, so that each byte counts once."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mawl.figures.host_parts import part_names
from mawl.figures.series import RunSamples

_LOOPBACK = re.compile(r"lo[0-9]*")
_UPPER = re.compile(
    r"(bond|team|br|virbr|docker|veth|vnet|tap|tun|vlan|cni|flannel|cali|lxcbr|lxdbr|lxc|ovs|macvtap|macvlan|ifb"
    r"|dummy|wg)([-_0-9].*|\+.*)?|(veth|cali|vnet|tap)[0-9a-z]+"
)
"""Bonds, bridges, tunnels and ends of containers: their bytes leave the machine over an interface below."""
_BELOW = re.compile(r"(.+?)[.@:].*")
"""A VLAN or an alias names the interface that it lies on."""
_INFINIBAND = re.compile(r"ib[0-9].*")
_FIBRE_CHANNEL = re.compile(r"(host|fcs)[0-9]+")


def counted_interfaces(names: Collection[str], fabrics: Collection[str] = ()) -> list[str]:
    """The interfaces whose bytes are those of no other; IP over InfiniBand counts at the fabric's port.

    Interfaces that lie on others count where none of another kind is there, as in a container.
    """
    every = {name for name in names if not _LOOPBACK.fullmatch(name)}
    if any(not _FIBRE_CHANNEL.fullmatch(fabric) for fabric in fabrics):
        every = {name for name in every if not _INFINIBAND.fullmatch(name)}
    own = {name for name in every if (below := _BELOW.fullmatch(name)) is None or below[1] not in every}
    return sorted({name for name in own if not _UPPER.fullmatch(name)} or own)


def network_parts(samples: RunSamples, node: str, without: Collection[str] = ()) -> list[str]:
    """Beginnings of the series of a node's networks and fabrics that count; ``without`` are interfaces that
    the run knows to lie on others."""
    fabrics = part_names(samples, node, "fabric")
    names = set(part_names(samples, node, "network")) - set(without)
    return [
        *(f"network.{name}" for name in counted_interfaces(names, fabrics)),
        *(f"fabric.{name}" for name in fabrics),
    ]


def network_series(
    samples: RunSamples, without: Collection[tuple[str, str]], ways: Sequence[str]
) -> list[str]:
    """Names of the counters of bytes that count on any node."""
    found: set[str] = set()
    for node in samples.nodes:
        known = {name for at, name in without if at == node}
        found |= {f"{part}.{way}_bytes" for part in network_parts(samples, node, known) for way in ways}
    return sorted(found)
