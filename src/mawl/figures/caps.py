"""What control groups let the run move at the devices of its roles (docs/design/caps.md)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mawl.base.units import format_plain, format_rate
from mawl.figures.missing import Missing
from mawl.figures.sessions import rates
from mawl.figures.throughput import MEMORY_FILE_SYSTEMS, role_places, why_no_devices
from mawl.records.model.node import Direction
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.storage import Caps, DirectionCap, PlaceCaps
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

if TYPE_CHECKING:
    from mawl.figures.view import RunView

Device = tuple[str, str]
"""Node and name of a block device."""

DIRECTIONS: tuple[Direction, ...] = ("read", "write")
NEAR_RATIO = value_of("limit.cap.near_ratio")
ABOVE_RATIO = value_of("limit.cap.above_ratio")
"""A device that moves more than this many times a cap is not held by it."""

UNITS = ("bytes_per_second", "requests_per_second")
NO_CAP = "no cap"
PARTLY = "only a part of its bytes is capped"
NOT_RECORDED = "not known: the run did not look for caps (before format 2.4, or not measured by mawl)"


class CoveringCap(NamedTuple):
    """A cap, the device that it applies to, and the devices of roles that move all their bytes through it."""

    device: Device
    direction: Direction
    unit: str
    value: int
    file: str
    carries: frozenset[Device]


def caps_block(facts: RunFacts, missing: Missing) -> Caps:
    """``caps`` of a summary: of each role, and of all devices of the roles together, each once.

    A figure is null, with the reason, if there is no cap, if mawl could not read it, or if it applies to only
    a part of the bytes of the place.
    """
    found = {}
    for role in ROLES:
        volumes = [volume for volume in facts.volumes if volume.role == role]
        places = {(volume.node, device) for volume in volumes for device in volume.devices}
        found[role] = _of_place(f"caps.{role}", places, volumes, _unknown(volumes), missing)
    path, why = "caps.together", why_no_devices(facts) or _unknown(facts.volumes)
    return Caps(**found, together=_of_place(path, role_places(facts), facts.volumes, why, missing))


def cap_of(caps: Caps, place: str, direction: str) -> DirectionCap:
    """The caps of a place, which is a role or ``together``, in one direction."""
    cap: DirectionCap = getattr(getattr(caps, place), direction)
    return cap


def at_cap(view: RunView) -> dict[float, frozenset[tuple[Role, Direction]]]:
    """The roles and directions whose devices moved what caps on bytes allow, by the start of active windows.

    Only where that is nearly all that the devices of all roles moved in the direction.
    """
    if view.over_time is None:
        return {}
    found: list[set[tuple[Role, Direction]]] = [set() for _ in view.active]
    samples, windows = view.over_time
    for role in ROLES:
        places = sorted({(volume.node, device) for volume in view.volumes(role) for device in volume.devices})
        for way, figure in zip(DIRECTIONS, ("read_bytes", "written_bytes"), strict=True):
            allowed = cap_of(view.summary.caps, role, way).bytes_per_second
            if allowed is None:
                continue
            flows = [
                rates(samples, [f"device.{device}.{figure}"], windows.active_edges, [node])
                for node, device in places
            ]
            for at, moved in enumerate(zip(*flows, strict=True)):
                own = sum(one or 0.0 for one in moved)
                everywhere = view.active[at].device[way]
                alone = everywhere is not None and own >= NEAR_RATIO * everywhere
                if None not in moved and alone and NEAR_RATIO <= own / allowed <= ABOVE_RATIO:
                    found[at].add((role, way))
    return {moment.start_seconds: frozenset(here) for moment, here in zip(view.active, found, strict=True)}


def cap_in_force(facts: RunFacts, role: Role, way: Direction) -> str | None:
    """The caps of a role in one direction in words, ``no cap`` included; None if they are not known.

    Caps on only a part of its devices are listed one by one.
    """
    volumes = [volume for volume in facts.volumes if volume.role == role]
    if _unknown(volumes):
        return None
    cap = cap_of(caps_block(facts, {}), role, way)
    parts = []
    for unit in UNITS:
        form = format_rate if unit == "bytes_per_second" else _requests
        value, own = getattr(cap, unit), [one for one in _held(volumes) if one[1:3] == (way, unit)]
        some = sorted(f"{form(one.value)} at {one.device[1]}" for one in own)
        parts += some if value is None else [form(value)]
    return ", ".join(parts) or NO_CAP


def _requests(rate: float) -> str:
    return f"{format_plain(rate)} requests/s"


def _of_place(
    path: str,
    places: Collection[Device],
    volumes: Sequence[VolumeFacts],
    why: str | None,
    missing: Missing,
) -> PlaceCaps:
    held = [] if why else _held(volumes)
    found = {}
    for way in DIRECTIONS:
        used: list[CoveringCap] = []
        values: dict[str, int | None] = {}
        for unit in UNITS:
            own = [cap for cap in held if (cap.direction, cap.unit) == (way, unit)]
            values[unit], of = least_cover(places, own)
            used += of
            if values[unit] is None:
                missing[f"{path}.{way}.{unit}"] = why or _partly(own) or _none(volumes)
        found[way] = DirectionCap(
            **values,
            devices=sorted({cap.device[1] for cap in used}),
            files=sorted({cap.file for cap in used}),
        )
    return PlaceCaps(**found)


def bytes_cap(
    volumes: Sequence[VolumeFacts], places: Collection[Device], direction: Direction
) -> tuple[int | None, list[str]]:
    """Bytes a second that devices may move together in a direction, and the files that cap them; None without
    a cap on all of them."""
    own = [cap for cap in _held(volumes) if (cap.direction, cap.unit) == (direction, "bytes_per_second")]
    value, used = least_cover(places, own)
    return value, sorted({cap.file for cap in used})


def least_cover(
    places: Collection[Device], caps: Sequence[CoveringCap]
) -> tuple[int | None, list[CoveringCap]]:
    """The most that all these devices can move together, and the caps whose sum this is; None without a sum.

    Each counted path from a device of a role downwards is one line.  So the devices above one device are a
    subset of the devices above any device below it, or the two sets have no device in common.  Caps are taken
    in the order of how many devices they apply to, the fewest first.  A cap replaces what was counted of its
    devices so far if it is less.
    """
    parts: list[tuple[frozenset[Device], float, list[CoveringCap]]] = [
        (frozenset({place}), math.inf, []) for place in sorted(places)
    ]
    for cap in sorted(caps, key=lambda cap: (len(cap.carries), cap.value)):
        inside = [part for part in parts if part[0] & cap.carries]
        if inside and cap.value < sum(value for _, value, _ in inside):
            own = frozenset[Device]().union(*(devices for devices, _, _ in inside))
            parts = [part for part in parts if part not in inside] + [(own, float(cap.value), [cap])]
    total = sum(value for _, value, _ in parts)
    if not parts or not math.isfinite(total):
        return None, []
    return round(total), [cap for _, _, used in parts for cap in used]


def _held(volumes: Sequence[VolumeFacts]) -> list[CoveringCap]:
    """The caps of volumes, each device, direction and unit once: all volumes on a device list it."""
    carried: dict[tuple[Device, Direction, str, int, str], set[Device]] = {}
    for volume in volumes:
        for cap in volume.caps or ():
            for unit in UNITS:
                value = getattr(cap, unit)
                if value is not None:
                    key = ((volume.node, cap.device), cap.direction, unit, value, cap.file)
                    carried.setdefault(key, set()).update((volume.node, one) for one in cap.carries)
    return [CoveringCap(*key, frozenset(devices)) for key, devices in carried.items()]


def _unknown(volumes: Sequence[VolumeFacts]) -> str | None:
    """Why the caps of a place are not known; None if they are.

    File systems in memory have no caps, so they are left out if the place also has others.
    """
    if not volumes:
        return "not known: the run does not say what holds the role"
    here = [volume for volume in volumes if volume.counted_at is None] or volumes
    on_devices = [volume for volume in here if volume.file_system not in MEMORY_FILE_SYSTEMS] or here
    unknown = [volume.caps_reason or NOT_RECORDED for volume in on_devices if volume.caps is None]
    return unknown[0] if unknown else None


def _partly(caps: Sequence[CoveringCap]) -> str | None:
    devices = sorted({cap.device[1] for cap in caps})
    return f"{PARTLY}, at {', '.join(devices)}" if devices else None


def _none(volumes: Sequence[VolumeFacts]) -> str:
    reasons = [volume.caps_reason for volume in volumes if volume.caps_reason and not volume.caps]
    return reasons[0] if reasons else "no cap of this kind is set"
