"""What a drawing of the system shows: nodes, file systems, devices and storage, and which uses which.

All of it is in the facts of a run.  What these lack (switches, zones, the inside of an array) is not drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mawl.model.ports import Port
from mawl.model.run import NodeFacts, RunFacts, VolumeFacts
from mawl.model.summary.arrays import ArrayVolumeFigures
from mawl.spec.program_options import ROLES, Role
from mawl.units import counted_noun, format_bits, format_memory

MOST_NAMES = 3


class Drawn(NamedTuple):
    """A box: its lines (the first is its name), the roles whose files it holds, and the boxes it uses.

    ``uses`` are positions of boxes in the next layer that is not empty.
    """

    lines: tuple[str, ...]
    roles: tuple[Role, ...] = ()
    uses: tuple[int, ...] = ()


class _Place(NamedTuple):
    """A file system, which several nodes may have under one name; the directory if its mount is not known."""

    mount: str
    kind: str
    source: str
    network: bool


def layers(facts: RunFacts, arrays: Sequence[ArrayVolumeFigures] = ()) -> list[list[Drawn]]:
    """Nodes, file systems, devices, arrays, from the top; empty layers are left out.

    The list is empty if the run does not know what holds its roles.
    """
    if not facts.volumes or not facts.nodes:
        return []
    places: dict[_Place, list[VolumeFacts]] = {}
    for volume in facts.volumes:
        places.setdefault(_place(volume), []).append(volume)
    pairs = [(members, _devices(facts, members)) for members in _shared(places)]
    groups = [members for members, one in pairs if one.lines]
    devices = [one for _, one in pairs if one.lines]
    systems = [
        Drawn(
            (place.mount, *_kind(place, volumes, len(facts.nodes))),
            _roles(volumes),
            tuple(at for at, members in enumerate(groups) if place in members),
        )
        for place, volumes in places.items()
    ]
    nodes = [
        Drawn(
            (node.name, *_size(node), *_ports(facts.ports.get(node.name, ()))),
            uses=tuple(
                at
                for at, volumes in enumerate(places.values())
                if any(one.node == node.name for one in volumes)
            ),
        )
        for node in facts.nodes
    ]
    behind = _arrays(arrays)
    devices = [
        one._replace(uses=tuple(at for at, array in enumerate(behind) if {*one.roles} & {*array.roles}))
        for one in devices
    ]
    return [layer for layer in (nodes, systems, devices, behind) if layer]


def _place(volume: VolumeFacts) -> _Place:
    source = (volume.source or "") if volume.network else ""
    return _Place(volume.mount_point or volume.directory, volume.file_system or "", source, volume.network)


def _kind(place: _Place, volumes: Sequence[VolumeFacts], nodes: int) -> Iterable[str]:
    """``xfs: data, work``; of a run on several nodes also which of them have it."""
    yield f"{place.kind or 'file system'}: {', '.join(_roles(volumes))}"
    having = len({one.node for one in volumes})
    if nodes > 1 and place.network:
        yield "shared"
    elif nodes > 1:
        yield "on each node" if having == nodes else f"on {having} of {nodes} nodes"


def _roles(volumes: Iterable[VolumeFacts]) -> tuple[Role, ...]:
    found = {one.role for one in volumes}
    return tuple(role for role in ROLES if role in found)


def _shared(places: dict[_Place, list[VolumeFacts]]) -> list[dict[_Place, list[VolumeFacts]]]:
    """File systems that share a disk or a server, together."""
    groups: list[tuple[set[tuple[str, str]], dict[_Place, list[VolumeFacts]]]] = []
    for place, volumes in places.items():
        disks = {(one.node, disk) for one in volumes for disk in one.disks}
        if place.network:
            disks = {("", place.source.partition(":")[0])}
        common = [group for group in groups if group[0] & disks]
        groups = [group for group in groups if group not in common]
        whole: dict[_Place, list[VolumeFacts]] = {}
        for known, members in common:
            disks, whole = disks | known, {**whole, **members}
        groups.append((disks, {**whole, place: volumes}))
    return [members for _, members in groups]


def _devices(facts: RunFacts, members: dict[_Place, list[VolumeFacts]]) -> Drawn:
    """The disks below some file systems, or the server; without lines if the run knows neither."""
    volumes = [one for held in members.values() for one in held]
    roles = _roles(volumes)
    if any(place.network for place in members):
        server = next(iter(members)).source.partition(":")[0]
        return Drawn((server or "another machine", "reached over a network"), roles)
    by_node: dict[str, dict[str, None]] = {}
    for one in volumes:
        by_node.setdefault(one.node, {}).update(dict.fromkeys(one.disks))
    names = list(dict.fromkeys(name for held in by_node.values() for name in held))
    if not names:
        return Drawn((), roles)
    counts = sorted({len(held) for held in by_node.values()})
    number = counted_noun(counts[0], "disk") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} disks"
    attached = sorted({one.transport for one in volumes if one.transport})
    shown = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    each = " a node" if len(by_node) > 1 else ""
    return Drawn(
        (
            shown,
            f"{number}{each}{' by ' + ', '.join(attached) if attached else ''}",
            *_models(facts, by_node),
        ),
        roles,
    )


def _models(facts: RunFacts, by_node: dict[str, dict[str, None]]) -> Iterable[str]:
    found: dict[str, None] = {}
    for node, names in by_node.items():
        inventory = facts.inventories.get(node)
        blocks = inventory.families.get("block", {}) if inventory else {}
        models = (blocks.get(name, {}).get("model") for name in names)
        found.update({str(model): None for model in models if model})
    if len(found) == 1:
        yield from found
    elif found:
        yield f"{len(found)} models"


def _size(node: NodeFacts) -> Iterable[str]:
    if node.cores is not None:
        yield counted_noun(node.cores, "vCPU" if node.core_basis == "vCPU" else "core")
    if node.memory_bytes is not None:
        yield format_memory(node.memory_bytes)


def _ports(ports: Iterable[Port]) -> Iterable[str]:
    """``2 x fc, 16 Gb/s``: ports of a kind, and their speed if all have the same."""
    held: dict[str, list[Port]] = {}
    for port in ports:
        if not port.members:
            held.setdefault(port.kind, []).append(port)
    for kind, some in held.items():
        speeds = {port.bytes_per_second for port in some}
        speed = speeds.pop() if len(speeds) == 1 else None
        yield f"{len(some)} x {kind}" + (f", {format_bits(8 * speed)}" if speed else "")


def _arrays(volumes: Sequence[ArrayVolumeFigures]) -> list[Drawn]:
    """Each array with the number of its volumes, if its statistics are part of the run."""
    by_array: dict[str, list[ArrayVolumeFigures]] = {}
    for one in volumes:
        by_array.setdefault(one.array, []).append(one)
    return [
        Drawn(
            (name or "array", counted_noun(len(held), "volume")),
            tuple(role for role in ROLES if any(one.role == role for one in held)),
        )
        for name, held in by_array.items()
    ]
