"""How far forecasts were off where times were measured, and what that says of the next one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from mawl.base.units import format_change, format_plain
from mawl.plan.mix import MIX_CHANGES, mix_range
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.device_rates import (
    DIRECTIONS,
    changed_unknown,
    is_assumed,
    rate_path,
)
from mawl.simulation.forecast import Base, Question, is_uncached
from mawl.simulation.measured_system import MEMORY_PATH
from mawl.simulation.scenario import RULED, Scenario
from mawl.simulation.system import Device, NodeKind, System

TimeFigure = Literal["time.real_time_seconds", "time.elapsed_seconds"]

BedKind = Literal["uncached", "cached", "memory"]
"""Runs that kept files out of the page cache; runs that used it; those of them that had other memory."""

LAB_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(-0.238, -0.168, -0.211),
        *(-0.032, -0.033, -0.063, -0.010, -0.050, 0.008),
        *(0.067, 0.001, 0.003, -0.017),
        *(0.005, -0.036, -0.029, -0.055, -0.005, -0.016, -0.041, 0.026),
        *(0.083, -0.071),
    ),
    "time.real_time_seconds": (
        *(-0.272, -0.191, -0.204),
        *(0.053, 0.120, 0.164, 0.046, 0.108, 0.182),
        *(0.079, 0.028, 0.013, 0.011),
        *(0.009, 0.013, 0.076, 0.116, 0.000, 0.003, 0.067, 0.140),
        *(0.088, -0.060),
    ),
}
"""Forecast over measured, less 1, of each arm that was forecast (docs/reference/forecasts.md), in its order.

``time.real_time_seconds`` is the sum over the jobs, so its error is that of a slowdown: the reference time
is the same on both sides.  The runs used the page cache, and nothing is written behind on most of the beds.
"""

UNCACHED_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(0.077, 0.019, -0.003, -0.014, -0.037, -0.002, -0.001, 0.025, 0.018),
        *(0.004, 0.002, -0.036, 0.047, 0.027, 0.058, -0.032, -0.000, -0.013),
        *(0.008, -0.019, -0.012, -0.021, 0.026, -0.010, -0.047, 0.007, -0.036),
        *(0.012, 0.054, 0.001, -0.002, 0.015, 0.003, 0.014, -0.037, -0.010),
        *(-0.009, -0.068, 0.000, -0.017, -0.010, 0.009, -0.047, 0.009, 0.003),
        *(0.025, 0.009, -0.034, 0.065, -0.006, 0.005, 0.102, 0.004, 0.000),
        *(-0.153, 0.007, -0.054, -0.021, 0.042, 0.008, 0.095, 0.057, 0.055),
        *(0.021, 0.018, 0.031, 0.007, 0.032, 0.006, -0.021, -0.057, -0.004),
        *(0.010, 0.002, 0.002, 0.006, 0.006, 0.000, -0.059, -0.018, 0.010),
        *(-0.075, 0.066, -0.034, -0.034, -0.021, -0.026, -0.035, -0.010, -0.017),
        *(0.013, 0.004, 0.001, -0.018, -0.001, 0.000, -0.032, 0.009, -0.014),
        *(0.040, -0.013, -0.005, 0.008, -0.033, -0.022, 0.021, -0.005, 0.041),
    ),
    "time.real_time_seconds": (
        *(0.024, 0.461, -0.018, -0.007, -0.008, 0.063, 0.015, -0.019, -0.148),
        *(0.012, -0.001, -0.041, 0.071, 0.004, 0.106, -0.022, 0.013, 0.008),
        *(-0.005, -0.010, -0.082, -0.011, -0.036, -0.021, -0.017, 0.021, 0.287),
        *(0.022, 0.029, -0.022, -0.025, -0.026, -0.011, -0.023, -0.004, 0.026),
        *(0.056, 0.005, 0.018, -0.015, -0.014, 0.012, -0.070, -0.091, 0.003),
        *(0.030, -0.080, -0.153, 0.031, -0.005, 0.196, 0.148, -0.051, 0.005),
        *(-0.140, 0.040, -0.073, 0.022, 0.027, 0.006, 0.192, 0.042, 0.111),
        *(-0.008, 0.015, -0.027, 0.010, 0.027, -0.002, -0.014, -0.049, 0.011),
        *(0.020, -0.046, 0.003, 0.006, -0.012, 0.005, -0.031, 0.003, 0.024),
        *(-0.061, 0.029, -0.033, -0.133, -0.011, -0.119, 0.001, -0.003, -0.110),
        *(-0.039, 0.010, 0.001, -0.022, -0.002, -0.004, -0.024, 0.013, -0.009),
        *(-0.008, -0.013, 0.010, -0.021, -0.076, -0.042, -0.020, -0.023, 0.000),
    ),
}
"""The same of each forecast of a drawn bed (docs/reference/drawn-forecasts.md), in its order, whose run kept
files out of the page cache: other rates, devices, cores, latencies.
"""

MEMORY_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(-0.157, -0.065, -0.036, -0.203, -0.008, 0.011, -0.015, 0.019, 0.110),
        *(-0.005, -0.006, -0.006, -0.091, -0.050, -0.063, -0.062, 0.009, 0.008),
        *(0.000, 0.004, 0.003, -0.096, -0.029, 0.006, -0.001, -0.236, 0.003),
        *(-0.020, -0.169, -0.138, -0.176, 0.018, 0.101, -0.028, 0.081, 0.059),
        *(-0.132, -0.208, 0.019, -0.013, -0.014, -0.005, 0.185, 0.019, 0.024),
    ),
    "time.real_time_seconds": (
        *(-0.068, -0.067, -0.043, -0.175, -0.005, 0.010, 0.043, 0.074, 0.094),
        *(-0.010, -0.005, -0.007, -0.270, 0.118, -0.006, -0.215, 0.034, 0.052),
        *(0.007, 0.004, 0.009, -0.062, -0.021, 0.010, -0.034, -0.115, -0.011),
        *(0.136, -0.190, -0.111, -0.055, 0.104, 0.100, -0.024, 0.069, 0.050),
        *(-0.144, -0.244, -0.019, 0.017, 0.014, 0.021, 0.178, 0.091, 0.097),
    ),
}
"""The same of those whose run used the page cache and had other memory."""

PUBLISHED_SYSTEMS: dict[str, float] = {
    "dl980-flash-30": 0.50,
    "s822-hybrid-20": -0.22,
    "e880-xiv-plain-30": -0.20,
    "e880-xiv-compressed-30": -0.20,
    "e880-ess-40gbe-4x30": 0.14,
    "e880-ess-56gbe-4x30": 0.29,
    "e980-fs9150-4": -0.38,
}
"""The same of the papers' systems that the model was not fitted on, by the time that the paper prints: real
time of all jobs, else elapsed, else active (docs/reference/published-forecasts.md)."""


def measured_ratios(errors: Sequence[float]) -> list[float]:
    """Measured over forecast times, the smallest first."""
    return sorted(1.0 / (1.0 + error) for error in errors)


_BEDS: dict[BedKind, dict[TimeFigure, tuple[float, ...]]] = {
    "uncached": UNCACHED_BEDS,
    "cached": LAB_BEDS,
    "memory": MEMORY_BEDS,
}


def bed_ratios(kind: BedKind, figure: TimeFigure) -> list[float]:
    """Measured over forecast times of all forecasts of a kind that beds were run for, the smallest first."""
    return measured_ratios(_BEDS[kind][figure])


def published_ratios() -> list[float]:
    return measured_ratios(tuple(PUBLISHED_SYSTEMS.values()))


RANGE_RATIO = 0.9
"""A range of forecasts holds the measured time at least so often, where enough forecasts were checked."""


def central_range(ratios: Sequence[float], probability: float = RANGE_RATIO) -> tuple[float, float]:
    """The factors of a forecast between which the measured figure lies with at least ``probability``.

    Between the ``k``-th smallest and the ``k``-th largest of ``n`` sorted ratios lies the next one with
    ``(n + 1 - 2 k) / (n + 1)``, by the reasoning of ``probability_within``; ``k`` is the largest that
    gives the probability.  If ``n`` is too small for it, they are the smallest and the largest.  They are
    rounded outward to 0.01.
    """
    kept = max(int((len(ratios) + 1) * (1.0 - probability) / 2.0 + 1e-9), 1)
    return math.floor(ratios[kept - 1] * 100.0) / 100.0, math.ceil(ratios[-kept] * 100.0) / 100.0


def probability_within(forecast: float, bound: float, ratios: Sequence[float]) -> float:
    """The least probability that the measured figure is within ``bound`` where ``forecast`` was forecast.

    Of ``n`` checked forecasts ``k`` would have kept the bound if their measured figure had been as far from
    ``forecast`` as it was: ``k / (n + 1)``.  It holds for any distribution if the next forecast is like those
    that were checked (exchangeable): then its error has each of the ``n + 1`` ranks with equal probability
    (Wilks, Annals of Mathematical Statistics 12, 1941; Vovk, Gammerman and Shafer 2005).  So it is 0 or more,
    and never 1.
    """
    return sum(forecast * ratio <= bound for ratio in ratios) / (len(ratios) + 1)


def highest_probability(ratios: Sequence[float]) -> float:
    """What ``probability_within`` gives if every checked forecast would have kept the bound."""
    return len(ratios) / (len(ratios) + 1)


def margin_for(probability: float, ratios: Sequence[float]) -> float | None:
    """By what a bound must be divided for ``probability_within`` to give at least ``probability``.

    None if all of the checked forecasts together give less.
    """
    for kept, ratio in enumerate(sorted(ratios), start=1):
        if kept / (len(ratios) + 1) >= probability:
            return ratio
    return None


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
        return central_range(self.ratios)[0]

    @property
    def high_ratio(self) -> float:
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
    mix = _other_mix(base, question)
    return [*beyond, *_unlike(base, scenario), *at_once, *cached, *kept, *mix, *scenario.remarks]


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
    more = any(factor is None or factor > 1.0 + SAME_RATIO for factor in factors.values())
    changed = changed_unknown(base.own, scenario.system, base.unknown)
    if base.unknown and (more or changed or _differs(factors["memory"])):
        found.append(base.why_unknown(changed or base.unknown))
    return found


def _beyond(name: str, factor: float | None, *, watched: bool) -> list[str]:
    if factor is None:
        return [f"how far {name} lies from what was measured is not known"]
    if name.startswith("storage."):
        if 1.0 / MOST_STORAGE_FACTOR <= factor <= MOST_STORAGE_FACTOR:
            return []
        return [
            f"{name} is {format_plain(factor)} times the measured: forecasts were checked up to "
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
    return [
        f"{name} is {format_plain(factor)} times the measured: too few such forecasts were compared with runs"
    ]


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
        **{f"storage.{role}": _rate_factor(base, now, role) for role in ROLES},
    }


def _rate_factor(base: Base, now: System, role: Role) -> float:
    """That of reads, of writes or of both together, whichever differs most.

    A direction in which nothing says what the run's devices can do counts only where the other is not known
    either: the run moved hardly a byte in it.
    """
    own, before = base.own, base.own.nodes[0]
    rates = zip(_rates(now, now.nodes[0], role), _rates(own, before, role), strict=True)
    read, write, both = (asked / measured for asked, measured in rates)
    unknown = [
        not base.described and any(is_assumed(own, rate_path(name, way)) for name in before.roles[role])
        for way in DIRECTIONS
    ]
    known = {(True, False): [write], (False, True): [read]}.get((unknown[0], unknown[1]), [read, write, both])
    return max(known, key=lambda factor: abs(math.log(factor)))


OF_DEVICES = {
    "latency_seconds": "latency",
    "requests_per_second": "the bound on requests",
    "spinning_streams": "how throughput falls with streams",
}
"""What a device has beside its bandwidth, and how a reason calls it."""


def _other_mix(base: Base, question: Question) -> list[str]:
    plan = base.plans[0]
    asked = question.sessions or len(plan.sessions)
    if plan.workload != RULED or mix_range(asked) == mix_range(len(plan.sessions)):
        return []
    return [f"{MIX_CHANGES}: no forecast of another mix was checked"]


def _unlike(base: Base, scenario: Scenario) -> list[str]:
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
    latencies, requests = (_of_role(now, role, name) for name in ("latency_seconds", "requests_per_second"))
    return (
        _of_role(own, role, "latency_seconds") == {0.0}
        and all(0.0 < (latency or 0.0) <= MOST_LATENCY_SECONDS for latency in latencies)
        and all(request is None or request >= LEAST_LATE_REQUESTS_PER_SECOND for request in requests)
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
    if error is None:
        return "how far the model is off for this run is not known"
    percent = format_change(abs(error)).lstrip("+")
    return f"the model is {percent} too {'fast' if error < 0 else 'slow'} for this run"
