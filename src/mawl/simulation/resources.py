"""The resources of a system as the engine shares them: a column each, with what a second holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mawl.simulation.system import Device, NodeKind, System, seeks_of

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

PAUSED_RATIO = 0.15
"""Of the memory: from so much that is dirty, Linux pauses writers (its defaults are 10 and 20 %)."""

CORES, LINK, FABRIC = "cores", "link", "fabric"


@dataclass(frozen=True)
class NamedResource:
    """One resource: ``limit`` is what a verdict calls it, ``group`` whose (None: all share it)."""

    limit: str
    group: int | None
    capacity: float
    spinning_streams: float | None = None


@dataclass(frozen=True)
class NodeGroup:
    """``count`` nodes of one kind that do the same work, and so advance alike: one stands for all.

    ``number`` is the place of the kind among the system's.
    """

    kind: NodeKind
    count: int
    number: int = 0


class Resources:
    """The columns of a system with its nodes in groups."""

    def __init__(
        self,
        system: System,
        groups: Sequence[NodeGroup],
        seek_ratio: float = 1.0,
        machine_bytes: float | None = None,
    ) -> None:
        self.system, self.groups = system, tuple(groups)
        self.seek_ratio, self.machine_bytes = seek_ratio, machine_bytes
        self.places: list[NamedResource] = []
        self._columns: dict[tuple[int | None, str, str], int] = {}
        for number, group in enumerate(groups):
            kind = group.kind
            if not system.one_machine:
                self._add(number, CORES, "", kind.cores * kind.core_speed)
            for direction in ("read", "write"):
                if kind.link_bytes_per_second is not None:
                    self._add(number, LINK, direction, kind.link_bytes_per_second)
            for name in dict.fromkeys(name for names in kind.roles.values() for name in names):
                device = system.device(name)
                if device.local:
                    self._device(number, device)
        if system.one_machine:
            self._add(None, CORES, "", groups[0].kind.cores * groups[0].kind.core_speed)
        each, both = system.fabric_bytes_per_second, system.fabric_shared_bytes_per_second
        for what, capacity in (("read", each), ("write", each), ("shared", both)):
            if capacity is not None:
                self._add(None, FABRIC, what, capacity)
        for device in system.devices:
            if not device.local:
                self._device(None, device)
        self.capacity = np.array([place.capacity for place in self.places])
        self.limits = [place.limit for place in self.places]
        self.in_turns = any(len(names) > 1 for group in groups for names in group.kind.roles.values())
        self._spinning = [
            (column, self._directions(place), place.spinning_streams)
            for column, place in enumerate(self.places)
            if place.spinning_streams is not None
        ]

    def _add(
        self, group: int | None, limit: str, what: str, capacity: float, spinning: float | None = None
    ) -> None:
        self._columns[group, limit, what] = len(self.places)
        self.places.append(NamedResource(limit, group, capacity, spinning))

    def _device(self, group: int | None, device: Device) -> None:
        spinning = device.spinning_streams
        self._add(group, device.name, "read", device.read_bytes_per_second, spinning)
        self._add(group, device.name, "write", device.write_bytes_per_second, spinning)
        if device.shared_bytes_per_second is not None:
            self._add(group, device.name, "shared", device.shared_bytes_per_second, spinning)
        if device.requests_per_second is not None:
            self._add(group, device.name, "requests", device.requests_per_second)

    def _directions(self, place: NamedResource) -> list[int]:
        """The columns of a device whose users are its streams."""
        return [self._columns[place.group, place.limit, direction] for direction in ("read", "write")]

    def column(self, group: int, limit: str, what: str = "") -> int | None:
        """The column of a group's own resource, else of the shared one of that name; None without one."""
        own = self._columns.get((group, limit, what))
        return self._columns.get((None, limit, what)) if own is None else own

    def weight(self, group: int, column: int) -> float:
        """How many alike users a row of the group stands for on a resource: all nodes' where it is shared."""
        return float(self.groups[group].count) if self.places[column].group is None else 1.0

    def dirty_bytes(self, group: int, held_bytes: float) -> float:
        """How much may be dirty on a node before writers wait for the device; its jobs hold ``held_bytes``.

        Linux holds writers back from halfway between ``vm.dirty_background_ratio`` and ``vm.dirty_ratio``
        of the machine's memory, also if the jobs have only a part of it; no more than this part can be dirty.
        """
        memory = self.groups[group].kind.memory_bytes
        free = max(memory - held_bytes, 0.0)
        machine = free if self.machine_bytes is None else max(self.machine_bytes, memory)
        return min(free, PAUSED_RATIO * machine)

    def capacities(self, counts: Floats, parts: Floats) -> Floats:
        """A second's worth of every resource for the activities on it, as max-min sharing may hand it out.

        ``counts`` (activities, resources) is how many alike users a row stands for, 0 where it uses nothing;
        ``parts`` (the same) the part of its time at a role's devices that each is at this one.

        Where a role's files take turns over several devices, each is at one of them: a device is in use for
        the part ``1 - product of (1 - part)`` of the time, as if they chose independently (the occupancy
        problem; docs/design/simulation.md).  It is 1 for a role on one device.

        A spinning device's head goes from stream to stream: a part 1 - 1/n of its requests begins with a
        seek, so n streams together get 1 / (1 + k (1 - 1/n)) of what one gets, with k so that it is half
        at ``spinning_streams``; of these seeks ``seek_ratio`` are made.  Of streams in turns n is the mean
        while the device is in use.
        """
        if not self._spinning and not self.in_turns:
            return self.capacity
        capacity = self.capacity.copy()
        if self.in_turns:
            capacity *= _in_use(counts, parts)
        for column, columns, half in self._spinning:
            there = counts[:, columns] * parts[:, columns]
            in_use = _in_use(counts[:, columns].reshape(-1, 1), parts[:, columns].reshape(-1, 1))
            streams = max(float(there.sum() / in_use[0]), 1.0)
            capacity[column] /= 1.0 + self.seek_ratio * seeks_of(half) * (1.0 - 1.0 / streams)
        return capacity

    def fastest(self, uses: Floats, parts: Floats) -> tuple[Floats, Whole]:
        """The rates at which activities go through devices that they use in turns, one at a time, and where.

        Others on the same devices make none faster than that; infinite for what takes no turns.
        """
        rates = np.divide(parts * self.capacity, uses, out=np.full_like(uses, np.inf), where=uses > 0)
        rates[parts >= 1.0] = np.inf
        at = rates.argmin(axis=1)
        return rates[np.arange(len(at)), at], at


def _in_use(counts: Floats, parts: Floats) -> Floats:
    """The part of the time that some activity is at each resource; 1 of those that nobody uses."""
    idle = ((1.0 - parts) ** counts).prod(axis=0)
    return np.where(counts.any(axis=0), 1.0 - idle, 1.0)
