"""How far forecasts of a kind were off where they were compared with measured times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from mawl.simulation.forecast import Base, Question, is_uncached
from mawl.simulation.measured_errors import (
    BedKind,
    TimeFigure,
    bed_ratios,
    central_range,
    published_ratios,
)
from mawl.simulation.own_system import MEMORY_PATH, is_assumed
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import Device, NodeKind, System
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_change

MOST_STORAGE_FACTOR = 8.0
"""Of a role's bandwidth; the lab beds went from one capped volume to eight."""

MOST_LINK_FACTOR = 1.4
"""Of the links of nodes before a storage server that was watched; as on the lab bed behind the range."""

LEAST_CORES_FACTOR = 0.5
"""Of the cores: the drawn beds had one in place of two."""

LEAST_MEMORY_FACTOR, MOST_MEMORY_FACTOR = 0.5, 3.0
"""Of the memory of a run with a page cache, on the drawn beds."""

LEAST_LATE_REQUESTS_PER_SECOND = 490.0
"""Of the devices that answered late on the drawn beds."""

MOST_LATENCY_SECONDS = 0.011
"""Of a request to a device that was measured without: on the drawn beds up to 10 ms and what fio added."""

MOST_CALIBRATION_ERROR_RATIO = 0.10
"""A run that its own simulation misses by more is not understood, and has no range on another system."""

SAME_RATIO = 0.01
"""A factor this near to 1 changes nothing."""

MOST_MISSED_RATIO = 0.21
"""A run that its own simulation misses by more has no range on a system like the papers'.

The fit missed the papers' fitted systems by at most so much when this was decided, and misses them by 0.13
since 2026-11-27.
"""

ErrorBasis = Literal["lab beds", "published systems"]
"""``lab beds`` also stands for drawn beds: the name is older than these."""


class ErrorRange(msgspec.Struct, frozen=True, kw_only=True):
    """Measured over forecast times of the forecasts of a kind, the smallest first, and on which systems."""

    ratios: list[float]
    basis: ErrorBasis

    @property
    def low_ratio(self) -> float:
        """The least of what a forecast may be off by, as :func:`central_range` has it."""
        return central_range(self.ratios)[0]

    @property
    def high_ratio(self) -> float:
        """The most of it."""
        return central_range(self.ratios)[1]


def error_range_of(
    base: Base, question: Question, scenario: Scenario, figure: TimeFigure
) -> ErrorRange | str:
    """How far forecasts of this kind were off in a figure; the reason where that is not known.

    The error of the lab beds and drawn beds where one of these was of this kind.  Else that of the papers'
    systems, whose forecasts began without a measured run and which the model was not fitted on: other cores,
    clocks, memory, nodes and devices at once (docs/reference/published-forecasts.md).  It holds for a run
    that the model misses by no more than those that it was fitted on.  ``time.real_time_seconds`` stands for
    a slowdown, too.
    """
    factors = factors_of(base, question, scenario)
    doubts = doubts_of(base, scenario, factors, MOST_CALIBRATION_ERROR_RATIO)
    if not unchecked_of(base, question, scenario) and not doubts:
        return ErrorRange(ratios=bed_ratios(bed_kind_of(base, factors), figure), basis="lab beds")
    doubts = doubts_of(base, scenario, factors, MOST_MISSED_RATIO)
    if doubts:
        return "; ".join(doubts)
    return ErrorRange(ratios=published_ratios(), basis="published systems")


def bed_kind_of(base: Base, factors: Mapping[str, float | None]) -> BedKind:
    """The beds whose forecasts are like this one, by the page cache of the run and by what differs."""
    if is_uncached(base.facts):
        return "uncached"
    return "memory" if _differs(factors["memory"]) else "cached"


def unchecked_of(base: Base, question: Question, scenario: Scenario) -> list[str]:
    """What differs from the measured system in a way that no forecast of a lab bed or a drawn bed did."""
    factors = factors_of(base, question, scenario)
    uncached = is_uncached(base.facts)
    watched = bool(base.facts.storage_runs) and not uncached
    beyond = [reason for name, factor in factors.items() for reason in _beyond(name, factor, watched=watched)]
    changes = drawn_changes(base, factors, scenario)
    other_rates = any(_differs(factors[f"storage.{role}"]) for role in ROLES)
    if changes and "latency" not in changes and other_rates:
        changes = [*changes, "devices"]
    if changes and _differs(factors["link"]):
        changes = [*changes, "link"]
    at_once = (
        [] if len(changes) < 2 else [f"{' and '.join(changes)} differ at once: no such forecast was checked"]
    )
    kept = [KEPT_REACH] if question.kept_reach and "memory" in changes else []
    cached = [
        f"other {name}: such forecasts were checked only for runs with --cache none"
        for name in ("cores", "latency")
        if name in changes and not uncached
    ]
    return [*beyond, *_unlike(base, scenario), *at_once, *cached, *kept, *scenario.remarks]


KEPT_REACH = "the page cache keeps what it kept with other memory: no such forecast was checked"


def drawn_changes(base: Base, factors: Mapping[str, float | None], scenario: Scenario) -> list[str]:
    """What differs of cores, memory and latency, of which each drawn bed had one.

    A drawn device that answers late had another bandwidth, too.
    """
    found = [name for name in ("cores", "memory") if factors[name] is not None and _differs(factors[name])]
    late = any(
        _of_role(scenario.system, role, "latency_seconds") != _of_role(base.own, role, "latency_seconds")
        for role in ROLES
    )
    return [*found, "latency"] if late else found


def _differs(factor: float | None) -> bool:
    return factor is None or abs(factor - 1.0) > SAME_RATIO


def doubts_of(
    base: Base, scenario: Scenario, factors: Mapping[str, float | None], most_error_ratio: float
) -> list[str]:
    """What speaks against the run as a base of any forecast; it may miss itself by ``most_error_ratio``."""
    error, found = base.error_ratio, []
    if error is None or abs(error) > most_error_ratio:
        found.append(_off(error))
    if base.demand.lacks:
        found.append("the run does not record all of its demand")
    other_devices = any(
        _of_role(scenario.system, role, figure) != _of_role(base.own, role, figure)
        for role in ROLES
        for figure in OF_DEVICES
    )
    if not base.described and (other_devices or any(_differs(factor) for factor in factors.values())):
        found.append(
            "only the used rates of the devices are known, not what they can do: probe them, or describe "
            "them (--measured-on)"
        )
    return found


def _beyond(name: str, factor: float | None, *, watched: bool) -> list[str]:
    """Why a factor has no range, if it has none; ``watched``: the run's storage server was."""
    if factor is None:
        return [f"how far {name} lies from what was measured is not known"]
    if name.startswith("storage."):
        if 1.0 / MOST_STORAGE_FACTOR <= factor <= MOST_STORAGE_FACTOR:
            return []
        return [
            f"{name} is {factor:.3g} times the measured: forecasts were checked up to "
            f"{MOST_STORAGE_FACTOR:g} times"
        ]
    if name == "link" and watched and 1.0 <= factor <= MOST_LINK_FACTOR * (1.0 + SAME_RATIO):
        return []
    if not _differs(factor):
        return []
    if name == "cores" and LEAST_CORES_FACTOR <= factor < 1.0:
        return []
    if name == "memory" and LEAST_MEMORY_FACTOR <= factor <= MOST_MEMORY_FACTOR:
        return []
    return [f"{name} is {factor:.3g} times the measured: too few such forecasts were compared with runs"]


def factors_of(base: Base, question: Question, scenario: Scenario) -> dict[str, float | None]:
    """Asked over measured; of roles it is the bandwidth of their devices, in the direction that differs most.

    Cores, their speed, memory and links are those of the first kind of node; None where a side is not
    known, or has no bound and the other has one.
    """
    now, own = scenario.system, base.own
    kind, before = now.nodes[0], own.nodes[0]
    sessions = len(scenario.plans[0].sessions) / len(base.plans[0].sessions)
    return {
        "nodes": now.node_count / own.node_count,
        "sessions": sessions,
        "scale": question.scale_factor,
        "cores": kind.cores / before.cores,
        "core_speed": kind.core_speed / before.core_speed,
        "memory": None if is_assumed(own, MEMORY_PATH) else kind.memory_bytes / before.memory_bytes,
        "link": _over(kind.link_bytes_per_second, before.link_bytes_per_second),
        "fabric": _over(now.fabric_bytes_per_second, own.fabric_bytes_per_second)
        if now.fabric_shared_bytes_per_second == own.fabric_shared_bytes_per_second
        else None,
        **{f"storage.{role}": _rate_factor(now, kind, own, before, role) for role in ROLES},
    }


def _rate_factor(now: System, kind: NodeKind, own: System, before: NodeKind, role: Role) -> float:
    """That of reads, of writes or of both together, whichever differs most."""
    rates = zip(_rates(now, kind, role), _rates(own, before, role), strict=True)
    return max((asked / measured for asked, measured in rates), key=lambda factor: abs(math.log(factor)))


OF_DEVICES = {
    "latency_seconds": "latency",
    "requests_per_second": "the bound on requests",
    "spinning_streams": "how throughput falls with streams",
}
"""What a device has beside its bandwidth, and how a reason calls it."""


def _unlike(base: Base, scenario: Scenario) -> list[str]:
    """What differs from the measured system that no factor tells."""
    now, own, uncached = scenario.system, base.own, is_uncached(base.facts)
    found = []
    kinds = max(len(now.nodes), len(own.nodes))
    if kinds > 1:
        found.append(f"there are {kinds} kinds of nodes: too few such forecasts were compared with runs")
    for role in ROLES:
        late = _is_late(now, own, role)
        for figure, words in OF_DEVICES.items():
            asked, measured = _of_role(now, role, figure), _of_role(own, role, figure)
            checked = (asked == {None} and not uncached) if figure == "spinning_streams" else late
            if asked != measured and not checked:
                found.append(
                    f"{words} of the devices of {role} differs: "
                    "too few such forecasts were compared with runs"
                )
    return found


def _of_role(system: System, role: Role, figure: str) -> set[float | None]:
    return {getattr(system.device(name), figure) for name in system.nodes[0].roles[role]}


def _is_late(now: System, own: System, role: Role) -> bool:
    """Whether devices without latency were replaced by some that answer late, as on the drawn beds."""
    latencies, requests = (_of_role(now, role, name) for name in ("latency_seconds", "requests_per_second"))
    return (
        _of_role(own, role, "latency_seconds") == {0.0}
        and all(0.0 < (one or 0.0) <= MOST_LATENCY_SECONDS for one in latencies)
        and all(one is None or one >= LEAST_LATE_REQUESTS_PER_SECOND for one in requests)
    )


def _over(now: float | None, before: float | None) -> float | None:
    if now is None and before is None:
        return 1.0
    return None if now is None or before is None else now / before


def _rates(system: System, kind: NodeKind, role: Role) -> tuple[float, float, float]:
    """What the devices of a role read, write, and move in both directions together, in bytes a second."""
    devices = [system.device(name) for name in kind.roles[role]]
    reads, writes, both = zip(*(_bounded(device) for device in devices), strict=True)
    return sum(reads), sum(writes), sum(both)


def _bounded(device: Device) -> tuple[float, float, float]:
    read, write = device.read_bytes_per_second, device.write_bytes_per_second
    shared = device.shared_bytes_per_second or read + write
    return min(read, shared), min(write, shared), min(read + write, shared)


def _off(error: float | None) -> str:
    """How far the simulated run is from the measured one."""
    if error is None:
        return "how far the model is off for this run is not known"
    percent = format_change(abs(error)).lstrip("+")
    return f"the model is {percent} too {'fast' if error < 0 else 'slow'} for this run"
