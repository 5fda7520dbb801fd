"""How full the links and ports of a run were, and whether jobs waited for them or for the storage behind.

To tell the links from the server takes the rate of a link (``--link``) and a watched server
(``--storage-node``); without both they are one (docs/design/verdict.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mawl.figures.cluster import device_rates, network_rates, server_devices
from mawl.figures.host_parts import NETWORK_WAYS
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Rates, rates
from mawl.records.model.node import KIND_OF, PortKind
from mawl.records.model.run import RunFacts
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES

FULL_RATIO = value_of("limit.links.full_ratio")
"""A link that carries so much of its rate one way over a window has room for moments only."""

TOP_RATIO = value_of("limit.links.top_ratio")
"""A server's device is at its top in a window where it moves this share of the highest, one way."""

CARRYING_RATIO = value_of("limit.links.carrying_ratio")
"""Such a top is one only of a device that moves this share of what all links together carry: a device that
writes back a little all the time is always near its own highest window."""

FEWEST_TOP_WINDOWS = count_of("limit.links.fewest_top_windows")
"""And of one that stays there: a single high window shows what was asked for."""

IN_USE_RATIO = value_of("limit.links.in_use_ratio")
"""The same is said by a device that has a request in flight for this share of the time; one that is
throttled below its queue looks idle, so less says nothing."""


class LinkWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One window.  ``used_ratio`` is the mean over nodes of the busier direction's share of the link.

    ``waited`` is the time that jobs were inside I/O calls, in job-seconds a second; ``full`` is the part of
    it on nodes whose link was full, ``server`` that on others while the server's device was at its top.  The
    rest is not told."""

    used_ratio: float
    waited: float
    full: float
    server: float


def link_windows(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float]
) -> list[LinkWindow | None]:
    """The windows between ``edges``; None where no link was declared, no server watched, or a node's
    network or waits are not known."""
    none: list[LinkWindow | None] = [None] * (len(edges) - 1)
    link = facts.link_bytes_per_second
    if samples is None or not link or not facts.storage_runs or not samples.nodes:
        return none
    used = [_used(samples, node, link, edges) for node in samples.nodes]
    waited = [_waited(samples, node, edges) for node in samples.nodes]
    at_top = _at_top(facts, samples, link * len(samples.nodes), edges)
    return [
        _window([rates[at] for rates in used], [rates[at] for rates in waited], at_top[at])
        for at in range(len(edges) - 1)
    ]


def _window(
    used: Sequence[float | None], waited: Sequence[float | None], at_top: bool | None
) -> LinkWindow | None:
    # A node that runs nothing in a window leaves no waits, and needs no link.
    known = [
        (share, wait or 0.0)
        for share, wait in zip(used, waited, strict=True)
        if share is not None or wait is not None
    ]
    if not known or at_top is None or any(share is None for share, _ in known):
        return None
    whole = sum(wait for _, wait in known)
    full = sum(wait for share, wait in known if share is not None and share >= FULL_RATIO)
    return LinkWindow(
        used_ratio=sum(share for share, _ in known if share is not None) / len(known),
        waited=whole,
        full=full,
        server=whole - full if at_top else 0.0,
    )


def _used(samples: RunSamples, node: str, link: float, edges: Sequence[float]) -> Rates:
    """The busier direction's share of a node's link."""
    ways = [network_rates(samples, node, way, edges) for way in NETWORK_WAYS]
    return [
        None if None in row else max(rate or 0.0 for rate in row) / link for row in zip(*ways, strict=True)
    ]


def _waited(samples: RunSamples, node: str, edges: Sequence[float]) -> Rates:
    """Job-seconds a second inside I/O calls of all roles."""
    columns = [samples.changes(node, f"role.{role}.waited_seconds", edges) for role in ROLES]
    rows = [[change.per_second for change in row if change is not None] for row in zip(*columns, strict=True)]
    return [sum(row) if row else None for row in rows]


def _at_top(facts: RunFacts, samples: RunSamples, links: float, edges: Sequence[float]) -> list[bool | None]:
    found: list[bool | None] = [None] * (len(edges) - 1)
    for run in facts.storage_runs:
        in_use = _in_use(samples, run.node, server_devices(run, samples), edges)
        for column in device_rates(run, samples, edges).values():
            highest = max((rate for rate in column if rate is not None), default=0.0)
            least = max(TOP_RATIO * highest, CARRYING_RATIO * links)
            if sum(rate is not None and rate >= least for rate in column) < FEWEST_TOP_WINDOWS:
                least = math.inf
            for at, rate in enumerate(column):
                if rate is not None:
                    found[at] = bool(found[at]) or rate >= least or in_use[at]
    return found


def _in_use(samples: RunSamples, node: str, devices: Sequence[str], edges: Sequence[float]) -> list[bool]:
    columns = [samples.changes(node, f"device.{device}.busy_seconds", edges) for device in devices]
    return [
        all(change is not None and change.per_second >= IN_USE_RATIO for change in row)
        for row in zip(*columns, strict=True)
    ] or [False] * (len(edges) - 1)


def bonds(facts: RunFacts) -> set[tuple[str, str]]:
    """Nodes and interfaces that lie on others (bonds): their bytes are those of their members."""
    return {(node, port.name) for node, every in facts.ports.items() for port in every if port.members}


def used_by_port(
    facts: RunFacts, samples: RunSamples, edges: Sequence[float]
) -> dict[tuple[PortKind, str], list[float]]:
    """Of each port with a known speed the busier way's share of it in each window; 0 where it has no row."""
    found: dict[tuple[PortKind, str], list[float]] = {}
    for node, every in facts.ports.items():
        for port in every:
            if port.members or not port.bytes_per_second:
                continue
            ways = [rates(samples, [f"{port.series}.{way}_bytes"], edges, [node]) for way in NETWORK_WAYS]
            found[port.kind, f"{port.name} of {node}"] = [
                max(rate or 0.0 for rate in row) / port.bytes_per_second for row in zip(*ways, strict=True)
            ]
    return found


def port_windows(
    facts: RunFacts | None, samples: RunSamples, edges: Sequence[float]
) -> list[dict[PortKind, float]]:
    """The share of its speed that the fullest port of each kind carried, window by window.

    Only ports that carry bytes themselves count: a bond is resolved to its members.
    """
    windows: list[dict[PortKind, float]] = [{} for _ in edges[1:]]
    if facts is None:
        return windows
    for (kind, _), shares in used_by_port(facts, samples, edges).items():
        for window, share in zip(windows, shares, strict=True):
            window[kind] = max(share, window.get(kind, 0.0))
    return windows


def kinds_of_role(facts: RunFacts, role: str) -> set[PortKind]:
    """The kinds of ports over which a role's block devices are reached."""
    return {
        KIND_OF[volume.transport]
        for volume in facts.volumes
        if volume.role == role and volume.transport is not None
    }
