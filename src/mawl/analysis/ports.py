"""How full the ports were that carry block storage; a bond is resolved to its members."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.series import RunSamples
from mawl.analysis.windows import rates
from mawl.model.ports import KIND_OF, PortKind
from mawl.model.run import RunFacts

WAYS = ("received", "sent")


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
            ways = [rates(samples, [f"{port.series}.{way}_bytes"], edges, [node]) for way in WAYS]
            found[port.kind, f"{port.name} of {node}"] = [
                max(rate or 0.0 for rate in row) / port.bytes_per_second for row in zip(*ways, strict=True)
            ]
    return found


def port_windows(
    facts: RunFacts | None, samples: RunSamples, edges: Sequence[float]
) -> list[dict[PortKind, float]]:
    """The share of the fullest port of each kind, window by window."""
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
