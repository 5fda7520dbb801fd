"""Which parts of a system lie on which, for drawings and for sums, and what recordings name of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from mawl.base.units import counted_noun, format_bits, format_memory
from mawl.figures.host_parts import part_names
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Timeline
from mawl.records.model.node import Port
from mawl.records.model.run import NodeFacts, RunFacts, VolumeFacts
from mawl.records.model.summary.storage import ArrayVolumeFigures
from mawl.records.spec.program_options import ROLES, Role

MOST_UNPARTITIONED_RATIO = 0.001
"""Of a disk's bytes that may lie outside of its partitions: tables, and probes of file systems at start."""

MOST_ROUNDED_RATIO = 0.1
"""How far the sum of partitions may lie from their disk where each has one decimal (``iostat -h``)."""

MOST_APART_RATIO = 0.02
"""How far bytes written to a disk of a mirror lie from those of the mirror: bitmaps and superblocks."""
_ARRAY = re.compile(r"md[0-9_]+.*|dev9-[0-9]+")
"""Software RAID (md), by name and by major."""

CURE = "name the devices that count with --role"

_DISK = re.compile(
    r"(x?vd|sd|hd|ubd|dasd|fio|scini|rssd)[a-z]{1,3}|(nvme[0-9]+n|mmcblk|pmem|rsxx|skd|nbd|rbd|hdisk)[0-9]+"
    r"|cciss[!/]c[0-9]+d[0-9]+|c[0-9]+(t[0-9A-F]+)?d[0-9]+"
)
_UPPER = re.compile(
    r"(dm-|md|loop|ram|zram|zd|sr|cd|fd|bcache|drbd|emcpower|hdiskpower|vpath|dlmfdrv|VxVM|vol)[0-9a-z]*"
    r"|(luks|mpath|crypt).*|nvme[0-9]+c[0-9]+n[0-9]+|(?!dev[0-9]).*-.*"
)
"""Names of devices whose bytes are those of others below them, or of no disk.  LVM joins group and volume
with a dash."""

_PARTITION = re.compile(r"(.*[0-9])p[0-9]+|(.*?[a-z])[0-9]+")
NVME = 259
"""The major of NVMe disks, and of their partitions."""
_NUMBER = re.compile(r"dev([0-9]+)-([0-9]+)")
_MINORS = {
    **dict.fromkeys((8, *range(65, 72), *range(128, 136)), 16),  # sd
    **dict.fromkeys((3, 22), 64),  # hd
    **dict.fromkeys(range(104, 112), 16),  # cciss
    94: 4,  # dasd
    179: 8,  # mmcblk
    202: 16,  # xvd
    NVME: 1,  # disks and partitions are numbered alike, see numbered_partitions
}
"""Majors of disks, and how many minor numbers each disk has with its partitions."""

_GIVEN_OUT = range(240, 255)
"""Majors of device-mapper and of virtio disks, among others."""
_VIRTIO_MINORS = 16


class DeviceLayer(msgspec.Struct, frozen=True):
    """``devices`` to add up, sorted; empty, with the ``reason``, where names and numbers do not decide it."""

    devices: tuple[str, ...]
    reason: str | None = None
    remark: str | None = None
    """What may count twice."""


def bottom_layer(names: Collection[str]) -> DeviceLayer:
    """The devices of one machine that together moved each byte once, of all that a recording names.

    A recording names devices and not what lies on what.  Names and device numbers tell most of it (Linux
    Documentation/admin-guide/devices.txt; majors from 240 on are given out as drivers come).  Where they do
    not, there is a reason and no device: no figure is better than one that counts bytes twice.
    """
    whole = {name for name in names if not (_parents(name) & set(names))}
    given_out = {name for name in whole if (number := _number(name)) is not None and number[0] in _GIVEN_OUT}
    virtio = _virtio(given_out)
    disks = {name for name in whole if _is_disk(name)} | virtio
    upper = {name for name in whole if _is_upper(name)} | (given_out - virtio if disks else set())
    rest = whole - disks - upper
    if disks and rest:
        return _undecided(rest, "may lie on other devices of the recording")
    if disks:
        return DeviceLayer(tuple(sorted(disks)))
    if len(rest | upper) > 1 and (given_out or rest & upper or (upper and not _alike(upper))):
        return _undecided(rest | upper, "may lie on each other")
    return DeviceLayer(tuple(sorted(rest or upper)))


def numbered_partitions(totals: Mapping[str, float]) -> tuple[set[str], str | None]:
    """Of the bytes that each device moved, by name: NVMe partitions that only a number names.

    A recorder that was asked for partitions (``sadc -S XDISK``) lists them right after their disk, and
    together they moved what it moved, but for reads of its partition table.  One device that moved what
    the one before it moved may be its only partition or its pair in an array: then there is a reason.  There
    is one too where several moved about what the one before them moved: a recorder may have rounded.
    """
    numbers = sorted(
        number[1] for name in totals if (number := _number(name)) is not None and number[0] == NVME
    )
    found: set[str] = set()
    for at, first in enumerate(numbers):
        disk = f"dev{NVME}-{first}"
        whole, own, about = totals[disk], list[str](), ""
        if disk in found or whole <= 0:
            continue
        for step, minor in enumerate(numbers[at + 1 :], start=1):
            if minor != first + step:
                break
            own.append(f"dev{NVME}-{minor}")
            parts = [totals[name] for name in own if totals[name] > 0]
            if (1 - MOST_UNPARTITIONED_RATIO) * whole <= sum(parts) <= whole:
                if len(parts) == 1:
                    return set(), f"{own[-1]} may be a partition of {disk}, or its pair in an array: {CURE}"
                found |= set(own)
                about = ""
                break
            if len(parts) > 1 and abs(sum(parts) - whole) <= MOST_ROUNDED_RATIO * whole:
                about = f"{own[0]} to {own[-1]} may be partitions of {disk}: {CURE}"
        if about:
            return set(), about
    return found, None


def _undecided(names: Collection[str], why: str) -> DeviceLayer:
    some = sorted(names)
    shown = ", ".join(some[:3]) + (f" and {len(some) - 3} more" if len(some) > 3 else "")
    return DeviceLayer((), f"the block devices {shown} {why}, and their names do not show it: {CURE}")


def _alike(names: Collection[str]) -> bool:
    """Whether they are of one driver, such as several image files, which do not lie on each other."""
    return len({name.rstrip("0123456789") for name in names}) == 1


def _is_disk(name: str) -> bool:
    number = _number(name)
    if number is not None:
        return number[0] in _MINORS
    # A partition whose disk is not listed stands for it.
    return any(_DISK.fullmatch(one) is not None for one in (name, *_parents(name)))


def _is_upper(name: str) -> bool:
    number = _number(name)
    if number is not None:
        return number[0] not in _MINORS and number[0] not in _GIVEN_OUT
    return not _is_disk(name) and _UPPER.fullmatch(name) is not None


def _virtio(given_out: Collection[str]) -> set[str]:
    """Of devices with a number that was given out: the disks of virtio, where their minors tell them.

    Virtio gives each disk 16 minors, of which the first is the disk's; device-mapper counts one by one.  So
    two disks and more are told by their gaps.  One disk with partitions looks as several mapped devices do.
    """
    minors: dict[int, set[int]] = {}
    for name in given_out:
        number = _number(name)
        assert number is not None
        minors.setdefault(number[0], set()).add(number[1])
    found: set[str] = set()
    for major, own in minors.items():
        first = {minor for minor in own if minor % _VIRTIO_MINORS == 0}
        of_disks = all(minor - minor % _VIRTIO_MINORS in first for minor in own)
        if len(first) > 1 and of_disks and own != set(range(len(own))):
            found |= {f"dev{major}-{minor}" for minor in first}
    return found


def _number(name: str) -> tuple[int, int] | None:
    """Major and minor of ``dev8-16``."""
    match = _NUMBER.fullmatch(name)
    return (int(match[1]), int(match[2])) if match else None


def _parents(name: str) -> set[str]:
    """What a name may be a partition of: ``sda`` of sda1, ``nvme0n1`` of nvme0n1p1, ``dev8-0`` of dev8-1."""
    number = _number(name)
    if number is not None:
        whole = number[1] - number[1] % _MINORS.get(number[0], 1)
        return {f"dev{number[0]}-{whole}"} - {name}
    match = _PARTITION.fullmatch(name)
    return {part for part in match.groups() if part} if match else set()


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

    All of it is in the facts of a run: switches, zones and the inside of an array are not drawn.  The list
    is empty if the run does not know what holds its roles.
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


NO_JOBS = "no job was imported, only recordings of hosts or storage"

_RECORDED = ("host.", "device.")


def interval_seconds(facts: RunFacts, samples: RunSamples | None) -> float:
    """How far the samples of an imported run lie apart: the longest median step of the processors or of a
    kind of part, of any node; 0 for other runs."""
    if facts.kind != "imported" or samples is None:
        return 0.0
    longest = 0.0
    for node in samples.nodes:
        kinds = {name.partition(".")[0]: name for name in samples.names(node) if name.startswith(_RECORDED)}
        steps = [
            float(np.median(np.diff(times)))
            for name in kinds.values()
            if (times := samples.times(node, name)) is not None and len(times) > 2
        ]
        longest = max(longest, max(steps, default=0.0))
    return longest


def recorded_timeline(facts: RunFacts, samples: RunSamples | None) -> Timeline | None:
    """The time of an imported run without jobs: from the first sample of any host to the last."""
    if facts.kind != "imported" or samples is None:
        return None
    spans = [
        (float(times[0]), float(times[-1]))
        for node in samples.nodes
        for name in samples.names(node)
        if name.startswith(_RECORDED) and (times := samples.times(node, name)) is not None
    ]
    if not spans:
        return None
    start, end = min(first for first, _ in spans), max(last for _, last in spans)
    if end <= start:
        return None
    return Timeline(
        started_at=start,
        ended_at=end,
        active_seconds=end - start,
        peak_concurrent=None,
        mean_concurrent=None,
        seconds_near_peak=None,
        at_once_unknown=NO_JOBS,
    )


def disks(samples: RunSamples) -> DeviceLayer:
    """Block devices of all nodes that together count each byte once; empty, with the reason, where unknown.

    A device that counts on one node and lies on others on the next gives no sum over both.
    """
    by_node = {node: whole_devices(samples, node) for node in samples.nodes}
    for layer in by_node.values():
        if layer.reason is not None:
            return layer
    found = {device for layer in by_node.values() for device in layer.devices}
    remark = next((layer.remark for layer in by_node.values() if layer.remark), None)
    for node, layer in by_node.items():
        upper = found & set(part_names(samples, node, "device")) - set(layer.devices)
        if upper:
            return DeviceLayer((), f"{min(upper)} is a disk on one node and lies on others on {node}")
    return DeviceLayer(tuple(sorted(found)), remark=remark)


def whole_devices(samples: RunSamples, node: str) -> DeviceLayer:
    """``disks`` of one node."""
    names = set(part_names(samples, node, "device"))
    moved = {
        name: (_moved(samples, node, name, "read"), _moved(samples, node, name, "written")) for name in names
    }
    partitions, reason = numbered_partitions({name: sum(both) for name, both in moved.items()})
    if reason is not None:
        return DeviceLayer((), reason)
    return mirrored(bottom_layer(names - partitions), moved)


def mirrored(layer: DeviceLayer, moved: Mapping[str, tuple[float, float]]) -> DeviceLayer:
    """The devices with each mirror (RAID 1) for its disks; ``moved`` are bytes read and written by name.

    Of a mirror each disk wrote what the mirror wrote, and the disks together read what it read: no other
    array does.  Where an array of md is there whose disks wrote more than it, and it is none, a remark says
    that its bytes written count at each disk.
    """
    counted = set(layer.devices)
    upper = {name for name in moved if _is_upper(name) and name not in counted}
    for array in sorted(upper, key=lambda name: (_ARRAY.fullmatch(name) is None, name)):
        read, written = moved[array]
        disks = {name for name in counted if _near(moved[name][1], written)}
        if written and len(disks) > 1 and _near(sum(moved[name][0] for name in disks), read):
            counted = counted - disks | {array}
    rest = sum(moved[name][1] for name in counted & {*layer.devices})
    unsure = [
        name
        for name in sorted(upper - counted)
        if _ARRAY.fullmatch(name) and moved[name][1] and not _near(rest, moved[name][1])
    ]
    remark = None
    if unsure and len(counted & {*layer.devices}) > 1:
        remark = (
            f"bytes of {unsure[0]} count at the disks below it, as the recording does not say which: a byte "
            f"that it writes to several of them counts as often ({CURE})"
        )
    return msgspec.structs.replace(layer, devices=tuple(sorted(counted)), remark=remark)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= MOST_APART_RATIO * max(one, other)


def _moved(samples: RunSamples, node: str, device: str, way: str) -> float:
    series = samples.series(node, f"device.{device}.{way}_bytes")
    if series is None:
        return 0.0
    known = series.values[np.isfinite(series.values)]
    return float(known[-1] - known[0]) if len(known) else 0.0
