"""How far forecasts of a kind were off where they were compared with measured times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from mawl.simulation.forecast import Base, Question
from mawl.simulation.measured_errors import (
    PUBLISHED_SYSTEMS,
    TimeFigure,
    bed_ratios,
    central_range,
    measured_ratios,
)
from mawl.simulation.own_system import MEMORY_PATH, is_assumed
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import Device, NodeKind, System
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_change

BED_RANGES: Mapping[TimeFigure, tuple[float, float]] = {
    figure: central_range(bed_ratios(figure)) for figure in get_args(TimeFigure)
}
"""Factors of a forecast: nine of ten measured times lie between them (docs/design/simulation.md, Range)."""

MOST_STORAGE_FACTOR = 8.0
"""Of a role's bandwidth; the lab beds behind the range went from one capped volume to eight."""

MOST_LINK_FACTOR = 1.4
"""Of the links of nodes before a storage server that was watched; as on the lab bed behind the range."""

LEAST_CORES_FACTOR = 0.5
"""Of the cores: the drawn beds had one in place of two."""

LEAST_MEMORY_FACTOR, MOST_MEMORY_FACTOR = 0.5, 3.0
"""Of the memory with a page cache, on the drawn beds."""

LEAST_LATE_REQUESTS_PER_SECOND = 490.0
"""Of the devices that answered late on the drawn beds."""

MOST_LATENCY_SECONDS = 0.011
"""Of a request to a device that was measured without: on the drawn beds up to 10 ms and what fio added."""

MOST_CALIBRATION_ERROR_RATIO = 0.10
"""A run that its own simulation misses by more is not understood, and has no range on another system."""

SAME_RATIO = 0.01
"""A factor this near to 1 changes nothing."""

PAPERS_LOW_RATIO, PAPERS_HIGH_RATIO = central_range(measured_ratios(tuple(PUBLISHED_SYSTEMS.values())))
"""The times that papers published lay within these of what was forecast for the systems that the model was
not fitted on: other cores, clocks, memory, nodes and devices at once
(docs/reference/published-forecasts.md)."""

MOST_MISSED_RATIO = 0.21
"""A run that its own simulation misses by more has no range on a system like the papers'.

The fit missed the papers' fitted systems by at most so much when this was decided, and misses them by 0.13
since 2026-11-27.
"""

ErrorBasis = Literal["lab beds", "published systems"]


class ErrorRange(msgspec.Struct, frozen=True, kw_only=True):
    """What measured times were of forecast ones: the least, the most, and on which systems."""

    low_ratio: float
    high_ratio: float
    basis: ErrorBasis


def error_range_of(
    base: Base, question: Question, scenario: Scenario, figure: TimeFigure
) -> ErrorRange | str:
    """How far forecasts of this kind were off in a figure; the reason where that is not known.

    The error of the lab beds and drawn beds where one of these was of this kind.  Else that of the papers'
    systems, whose forecasts began without a measured run; it holds for a run that the model misses by no more
    than those that it was fitted on.  ``time.real_time_seconds`` stands for a slowdown, too.
    """
    factors = factors_of(base, question, scenario)
    doubts = doubts_of(base, factors, MOST_CALIBRATION_ERROR_RATIO)
    if not unchecked_of(base, question, scenario) and not doubts:
        low, high = BED_RANGES[figure]
        return ErrorRange(low_ratio=low, high_ratio=high, basis="lab beds")
    doubts = doubts_of(base, factors, MOST_MISSED_RATIO)
    if doubts:
        return "; ".join(doubts)
    return ErrorRange(low_ratio=PAPERS_LOW_RATIO, high_ratio=PAPERS_HIGH_RATIO, basis="published systems")


def unchecked_of(base: Base, question: Question, scenario: Scenario) -> list[str]:
    """What differs from the measured system in a way that no forecast of a lab bed or a drawn bed did."""
    factors = factors_of(base, question, scenario)
    watched = bool(base.facts.storage_runs)
    beyond = [reason for name, factor in factors.items() for reason in _beyond(name, factor, watched=watched)]
    changes = drawn_changes(base, factors, scenario)
    other_rates = any(_differs(factors[f"storage.{role}"]) for role in ROLES)
    if changes and "latency" not in changes and other_rates:
        changes = [*changes, "devices"]
    at_once = (
        [] if len(changes) < 2 else [f"{' and '.join(changes)} differ at once: no such forecast was checked"]
    )
    kept = [KEPT_REACH] if question.kept_reach and "memory" in changes else []
    return [*beyond, *_unlike(base, scenario), *at_once, *kept, *scenario.remarks]


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


def doubts_of(base: Base, factors: Mapping[str, float | None], most_error_ratio: float) -> list[str]:
    """What speaks against the run as a base of any forecast; it may miss itself by ``most_error_ratio``."""
    error, found = base.error_ratio, []
    if error is None or abs(error) > most_error_ratio:
        found.append(_off(error))
    if base.demand.lacks:
        found.append("the run does not record all of its demand")
    if not base.described and any(abs((factor or 0.0) - 1.0) > SAME_RATIO for factor in factors.values()):
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
    """Asked over measured; of roles it is the bandwidth of their devices.

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
        **{f"storage.{role}": _rate(now, kind, role) / _rate(own, before, role) for role in ROLES},
    }


OF_DEVICES = {
    "latency_seconds": "latency",
    "requests_per_second": "the bound on requests",
    "spinning_streams": "how throughput falls with streams",
}
"""What a device has beside its bandwidth, and how a reason calls it."""


def _unlike(base: Base, scenario: Scenario) -> list[str]:
    """What differs from the measured system that no factor tells."""
    now, own = scenario.system, base.own
    found = []
    kinds = max(len(now.nodes), len(own.nodes))
    if kinds > 1:
        found.append(f"there are {kinds} kinds of nodes: too few such forecasts were compared with runs")
    for role in ROLES:
        late = _is_late(now, own, role)
        for figure, words in OF_DEVICES.items():
            asked, measured = _of_role(now, role, figure), _of_role(own, role, figure)
            checked = asked == {None} if figure == "spinning_streams" else late
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


def _rate(system: System, kind: NodeKind, role: Role) -> float:
    return sum(_both(system.device(name)) for name in kind.roles[role])


def _both(device: Device) -> float:
    both = device.read_bytes_per_second + device.write_bytes_per_second
    return min(both, device.shared_bytes_per_second or both)


def _off(error: float | None) -> str:
    """How far the simulated run is from the measured one."""
    if error is None:
        return "how far the model is off for this run is not known"
    percent = format_change(abs(error)).lstrip("+")
    return f"the model is {percent} too {'fast' if error < 0 else 'slow'} for this run"
