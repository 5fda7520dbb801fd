"""The resources of a system, and how activities that use several at once share them."""

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


OWN = -1
"""In place of a resource: the activity runs as fast as it can by itself."""

NEARLY = 1e-12
ROOM = 1e-9
"""Of a resource: less than this of it left is none."""


ALIKE = 1e-6
"""Resources whose levels differ by less are equally full: what is left of a resource is a difference."""

MOST_ROUNDS = 20
"""Of filling up what a round left over; each uses up a resource."""


def shares(
    uses: Floats, turns: Floats, weighted: Floats, fastest: Floats, capacity: Floats
) -> tuple[Floats, Whole]:
    """Rates of the activities by progressive filling, and what bounds each.

    ``uses`` (activities, resources) is what one unit of an activity takes of each resource, ``turns`` how
    often it waits for it, and ``weighted`` what all alike activities behind the row take.  ``fastest``
    (units a second) is an activity's rate alone, ``capacity`` a second's worth of each resource.

    A queue is served in the order of arrival, so every turn waits equally long.  Users of a resource
    therefore get equal numbers of turns a second.  An activity takes the least of what its resources offer,
    and no more than ``fastest``; the others get what it leaves.

    First the activities are settled that take less than they are offered.  Then come all users of a resource
    that bounds each of them that wants more.  What they leave is offered again.

    With equal amounts a turn this is max-min fair.  No work is lost: an activity that is slower than alone
    uses a resource of which nothing is left.
    """
    bound = np.full(len(fastest), OWN, dtype=np.int64)
    if np.isfinite(fastest).all() and (fastest @ weighted <= capacity * (1 + NEARLY)).all():
        return fastest.copy(), bound
    used = turns > 0
    held = np.divide(uses, turns, out=np.full_like(turns, np.inf), where=used)
    rates, left = np.zeros(len(fastest)), capacity.copy()
    waiting = np.arange(len(fastest))
    for _ in range(MOST_ROUNDS):
        more, at = _filled(
            turns[waiting],
            held[waiting],
            weighted[waiting],
            fastest[waiting] - rates[waiting],
            left,
        )
        rates[waiting] += more
        bound[waiting] = at
        left = np.maximum(capacity - rates @ weighted, 0.0)
        room = np.where(used, left / capacity, np.inf).min(axis=1)
        waiting = np.flatnonzero((rates < fastest * (1 - NEARLY)) & (room > ROOM))
        if not waiting.size:
            break
    slower = rates < fastest * (1 - NEARLY)
    empty = (left / capacity)[bound] <= ROOM
    rest = np.where(used, left / capacity, np.inf).argmin(axis=1)
    return rates, np.where(slower, np.where(empty, bound, rest), OWN)


def _filled(
    turns: Floats, held: Floats, weighted: Floats, fastest: Floats, capacity: Floats
) -> tuple[Floats, Whole]:
    """Rates of one filling, of what is left, and which resource settled each.

    ``held`` is what a user takes with one turn.
    """
    rates, bound = np.zeros(len(fastest)), np.zeros(len(fastest), dtype=np.int64)
    used = turns > 0
    inverse = np.divide(1.0, turns, out=np.zeros_like(turns), where=used)
    taken = weighted * inverse
    left = capacity.copy()
    waiting = np.arange(len(fastest))
    while waiting.size:
        here = used[waiting]
        wanted = np.where(here, turns[waiting] * np.where(here, fastest[waiting, None], 0.0), 0.0)
        level = _levels(wanted, taken[waiting], left)
        offers = np.where(here, np.where(here, level, 0.0) * inverse[waiting], np.inf)
        which = offers.argmin(axis=1)
        best = offers[np.arange(len(waiting)), which]
        settled = fastest[waiting] <= best * (1 + NEARLY)
        rate = fastest[waiting]
        if not settled.any():
            offered = level * held[waiting].min(axis=0)
            settled, rate = _whole(which, here & (wanted > level * (1 - ALIKE)), offered), best
        chosen = waiting[settled]
        rates[chosen], bound[chosen] = rate[settled], which[settled]
        left = np.maximum(left - rates[chosen] @ weighted[chosen], 0.0)
        waiting = waiting[~settled]
    return rates, bound


def _levels(wanted: Floats, taken: Floats, left: Floats) -> Floats:
    """The most turns a second that each resource gives to one user.

    Users get equal numbers, but none gets more than is ``wanted``.  ``taken`` is what a turn takes.  Infinite
    where all can have what they want.
    """
    levels = np.full(len(left), np.inf)
    for column in np.flatnonzero((wanted * taken).sum(axis=0) > left):
        users = np.flatnonzero(taken[:, column])
        order = users[np.argsort(wanted[users, column])]
        turns, each = wanted[order, column], taken[order, column]
        before = np.concatenate([[0.0], np.cumsum(turns * each)[:-1]])
        behind = np.cumsum(each[::-1])[::-1]
        # The first user whose wish exceeds its share of what those with smaller wishes leave.
        share = (left[column] - before) / behind
        levels[column] = share[np.argmax(turns > share * (1 - NEARLY))]
    return levels


def _whole(which: Whole, wanting: NDArray[np.bool_], offered: Floats) -> NDArray[np.bool_]:
    """Which activities are settled next.

    They are the users of resources that bound all who want more of them.  If there is none, they are the
    users of the fullest resource, which offers least to one of its users.
    """
    bounded = np.bincount(which, minlength=wanting.shape[1])
    whole = (bounded == wanting.sum(axis=0)) & (bounded > 0)
    settled: NDArray[np.bool_] = whole[which]
    if not settled.any():
        candidates = np.where(bounded > 0, offered, np.inf)
        # All that are equally full: alike nodes are settled together.
        settled = (candidates <= candidates.min() * (1 + ALIKE))[which]
    return settled
