"""What each device, network interface, fabric port and network mount of the hosts did.

Busy processors: one definition for the whole run and for its windows (docs/design/host.md).

Which networks and fabrics count towards a sum, so that each byte counts once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from mawl.figures.series import CounterChange, RunSamples, fewest_seconds, gain, quotients
from mawl.figures.sessions import highest
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.host import (
    DeviceFigures,
    FabricPort,
    Interface,
    MeanAndPeakRate,
    MeanAndPeakTime,
    NetworkMount,
)

NETWORK_WAYS = ("received", "sent")
PARTS = ("device", "network", "fabric", "mount")
Kind = TypeVar("Kind")


def devices(facts: RunFacts, samples: RunSamples, edges: Sequence[float]) -> dict[str, DeviceFigures]:
    """The figures of every block device by its name; ``NODE:NAME`` where there are several nodes."""
    return _every("device", facts, samples, edges, _device)


def interfaces(facts: RunFacts, samples: RunSamples, edges: Sequence[float]) -> dict[str, Interface]:
    """The same of every network interface."""
    return _every("network", facts, samples, edges, _interface)


def ports(facts: RunFacts, samples: RunSamples, edges: Sequence[float]) -> dict[str, FabricPort]:
    """The same of every fabric port."""
    return _every("fabric", facts, samples, edges, _port)


def mounts(facts: RunFacts, samples: RunSamples, edges: Sequence[float]) -> dict[str, NetworkMount]:
    """The same of every network mount."""
    return _every("mount", facts, samples, edges, _mount)


def _every(
    kind: str,
    facts: RunFacts,
    samples: RunSamples,
    edges: Sequence[float],
    figures: Callable[[_Part], Kind],
) -> dict[str, Kind]:
    return {
        name if len(samples.nodes) == 1 else f"{node}:{name}": figures(
            _Part(facts, samples, node, kind, name, edges)
        )
        for node in samples.nodes
        for name in part_names(samples, node, kind)
    }


def _device(part: _Part) -> DeviceFigures:
    gains = part.gains("reads", "writes", "read_bytes", "written_bytes", "flushes")
    requests, seconds = part.of_both()
    counts = [part.gain(figure) for figure in requests]
    busy, queue = part.per_second("busy_seconds"), part.per_second("queue_seconds")
    return DeviceFigures(
        **gains,
        known_seconds=part.known_seconds(gains),
        read_await_seconds=part.await_of(("reads",), ("read_seconds",)),
        write_await_seconds=part.await_of(("writes",), ("write_seconds",)),
        requests=None if None in counts else sum(value or 0.0 for value in counts),
        await_seconds=part.await_of(requests, seconds),
        utilisation_ratio=busy,
        queue_length=queue,
        roles=roles_on(part.facts, part.node, part.name),
    )


def _interface(part: _Part) -> Interface:
    gains = part.gains(*(f"{way}_{what}" for what in ("bytes", "errors", "drops") for way in NETWORK_WAYS))
    return Interface(
        **gains,
        known_seconds=part.known_seconds(gains),
        received_bytes_per_second=part.rate("received_bytes"),
        sent_bytes_per_second=part.rate("sent_bytes"),
    )


def _port(part: _Part) -> FabricPort:
    gains = part.gains("received_bytes", "sent_bytes", "link_failures")
    return FabricPort(
        **gains,
        known_seconds=part.known_seconds(gains),
        received_bytes_per_second=part.rate("received_bytes"),
        sent_bytes_per_second=part.rate("sent_bytes"),
    )


def _mount(part: _Part) -> NetworkMount:
    own = ("application_read_bytes", "application_written_bytes", "read_bytes", "written_bytes")
    gains = part.gains(*own, "retransmissions")
    return NetworkMount(
        **gains,
        known_seconds=part.known_seconds(gains),
        read_await_seconds=part.await_of(("reads",), ("read_seconds",)),
        write_await_seconds=part.await_of(("writes",), ("write_seconds",)),
    )


def part_names(samples: RunSamples, node: str, kind: str) -> list[str]:
    """Names of the parts of a kind; a name may hold dots (a mount's path), a figure does not."""
    prefix = f"{kind}."
    named = {
        name[len(prefix) :].rpartition(".")[0] for name in samples.names(node) if name.startswith(prefix)
    }
    return sorted(named)


def roles_on(facts: RunFacts, node: str, device: str) -> list[str]:
    found = {volume.role: None for volume in facts.volumes if volume.node == node and device in volume.layers}
    return list(found)


class _Part:
    """One part's counters over windows."""

    def __init__(
        self, facts: RunFacts, samples: RunSamples, node: str, kind: str, name: str, edges: Sequence[float]
    ) -> None:
        self.facts, self.node, self.name = facts, node, name
        self._samples, self._edges = samples, edges
        self._prefix = f"{kind}.{name}"
        self._whole = (edges[0], edges[-1])

    def _over(self, figure: str, edges: Sequence[float]) -> list[CounterChange | None]:
        return self._samples.changes(self.node, f"{self._prefix}.{figure}", edges)

    def gain(self, figure: str) -> float | None:
        change = self._gained(figure)
        return None if change is None else change.amount

    def gains(self, *figures: str) -> dict[str, float | None]:
        return {figure: self.gain(figure) for figure in figures}

    def per_second(self, figure: str) -> float | None:
        change = self._gained(figure)
        return None if change is None else change.per_second

    def _gained(self, figure: str) -> CounterChange | None:
        return gain(self.facts, self._samples, self.node, f"{self._prefix}.{figure}", self._whole)

    def known_seconds(self, figures: Iterable[str]) -> float | None:
        """How much of the time samples cover, of the least known of these counters."""
        return fewest_seconds(self._gained(figure) for figure in figures)

    def of_both(self) -> tuple[Sequence[str], Sequence[str]]:
        """The counters of requests of both directions and of their time: one where the source has one."""
        if f"{self._prefix}.requests" in self._samples.names(self.node):
            return ("requests",), ("request_seconds",)
        return ("reads", "writes"), ("read_seconds", "write_seconds")

    def await_of(self, requests: Sequence[str], seconds: Sequence[str]) -> MeanAndPeakTime:
        """Time of requests over requests: over the whole time, and in the highest window."""
        mean, windows = (
            quotients(self._sum(seconds, edges), self._sum(requests, edges))
            for edges in (self._whole, self._edges)
        )
        return MeanAndPeakTime(mean=mean[0], peak=highest(windows))

    def _sum(self, figures: Sequence[str], edges: Sequence[float]) -> list[CounterChange | None]:
        rows = zip(*(self._over(figure, edges) for figure in figures), strict=True)
        return [
            None
            if None in row
            else CounterChange(
                sum(change.amount for change in row if change), max(c.seconds for c in row if c)
            )
            for row in rows
        ]

    def rate(self, figure: str) -> MeanAndPeakRate:
        change = self._over(figure, self._whole)[0]
        windows = self._over(figure, self._edges)
        return MeanAndPeakRate(
            mean=None if change is None else change.per_second,
            peak=highest([None if window is None else window.per_second for window in windows]),
        )


CPU_KINDS = ("user", "system", "interrupt", "iowait", "idle", "steal")
BUSY_KINDS = ("user", "system", "interrupt")
"""iowait is idle time, and steal somebody else's."""

ALWAYS_TOLD = ("user", "system")
"""Recorders such as nmon and vmstat do not tell interrupts from the rest of the kernel."""


def busy_seconds(seconds: Mapping[str, float | None]) -> float | None:
    """Busy time of all processors, from their time by kind; None where a kind of it is not known."""
    if any(seconds[kind] is None for kind in ALWAYS_TOLD):
        return None
    return sum(value for kind in BUSY_KINDS if (value := seconds[kind]) is not None)


def whole_seconds(seconds: Mapping[str, float | None]) -> float:
    """All of the processors' time that is known, by kind; kernels before 2.6.11 have no steal."""
    return sum(value for kind in CPU_KINDS if (value := seconds[kind]) is not None)


def busy_ratio(seconds: Mapping[str, float | None]) -> float | None:
    """Busy over all time, also per second of both; None where busy time is not known, or no time went by."""
    busy, whole = busy_seconds(seconds), whole_seconds(seconds)
    return busy / whole if busy is not None and whole > 0 else None


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
