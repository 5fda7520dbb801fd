"""More link, the same throughput, longer service times: then the storage behind the links is the limit.

Two runs over links of different rates tell what one does not (docs/design/comparison.md, Links).
"""

from __future__ import annotations

import msgspec

from mawl.analysis.comparison.sides import Side, centre
from mawl.analysis.windows import added
from mawl.model.thresholds import value_of
from mawl.spec.program_options import ROLES
from mawl.units import format_rate, format_ratio

LEAST_WIDER_RATIO = value_of("comparison.links.least_wider_ratio")
"""Links that differ by less are the same ones."""

FOLLOWED_RATIO = value_of("comparison.links.followed_ratio")
"""Throughput that grew by less than this share of what the links grew by did not follow them."""

LONGER_RATIO = value_of("comparison.links.longer_ratio")
"""Service times are long when they pass by so much what the wider links alone would have made of them."""

LEAST_BLOCKED_RATIO = value_of("comparison.links.least_blocked_ratio")
"""Jobs that are blocked in I/O for less of their time are not limited by it."""


class LinkFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Candidate over reference: the links, what the nodes' networks moved, and how long jobs were blocked in
    I/O for each application byte.  ``storage``: the rule names the storage as what limits the candidate."""

    link_ratio: float
    moved_ratio: float
    service_ratio: float
    blocked_ratio: float
    """Share of the candidate's real time blocked in I/O of all roles."""
    device_peak_ratio: float | None
    """Highest window of the storage servers' devices; None where none was watched on both sides."""
    storage: bool
    sentence: str


def link_finding(reference: Side, candidate: Side) -> LinkFinding | None:
    """The rule on two sides of which the candidate's links are wider; None where they are not, or a side
    does not say its links, its networks or its waits."""
    links = [centre(side.values("cluster.link_bytes_per_second")) for side in (reference, candidate)]
    link = _ratio(*links)
    networks = [centre(side.values("cluster.network_bytes_per_second")) for side in (reference, candidate)]
    moved = _ratio(*networks)
    service = _ratio(*(_blocked_per_byte(side) for side in (reference, candidate)))
    blocked, real = _blocked(candidate), centre(candidate.values("time.real_time_seconds"))
    if link is None or link < LEAST_WIDER_RATIO or moved is None or service is None:
        return None
    if blocked is None or not real:
        return None
    share = blocked / real
    storage = (
        moved - 1.0 < FOLLOWED_RATIO * (link - 1.0)
        and service > LONGER_RATIO / link
        and share >= LEAST_BLOCKED_RATIO
    )
    peak = _ratio(*(_device_peak(side) for side in (reference, candidate)))
    rates = " -> ".join(format_rate(rate) for rate in links if rate is not None)
    says = "the storage behind the links is the limit now" if storage else "this does not name the storage"
    device = (
        "" if peak is None else f", the storage server's devices {format_ratio(peak)} times at their peak"
    )
    return LinkFinding(
        link_ratio=link,
        moved_ratio=moved,
        service_ratio=service,
        blocked_ratio=share,
        device_peak_ratio=peak,
        storage=storage,
        sentence=f"links {format_ratio(link)} times as wide ({rates}), the networks moved "
        f"{format_ratio(moved)} times as much{device}; jobs were blocked {format_ratio(service)} times as "
        f"long for each byte, where the links alone would have made it {format_ratio(1.0 / link)}: {says}",
    )


def _ratio(reference: float | None, candidate: float | None) -> float | None:
    return candidate / reference if reference and candidate is not None else None


def _blocked(side: Side) -> float | None:
    """Job-seconds blocked in I/O of all roles."""
    return added([centre(side.values(f"wait.blocked_seconds.{role}")) for role in ROLES])


def _blocked_per_byte(side: Side) -> float | None:
    blocked = _blocked(side)
    whole = added([centre(side.values(f"io.application.{way}_bytes")) for way in ("read", "written")])
    return blocked / whole if blocked is not None and whole else None


def _device_peak(side: Side) -> float | None:
    """Sum over the storage servers of their highest windows; of several runs the middle one's."""
    found = []
    for run in side.runs:
        servers = run.summary.cluster.storage if run.summary.cluster else {}
        peaks = [one.device.peak.total_bytes_per_second for one in servers.values()]
        known = [peak for peak in peaks if peak is not None]
        if not known or len(known) < len(peaks):
            return None
        found.append(sum(known))
    return centre(found)
