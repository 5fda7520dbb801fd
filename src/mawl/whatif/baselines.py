"""Simple rules to compare the model's forecasts of pairs with: no change, Amdahl's rule and a roofline.

The model is useful only where it is nearer than these rules (docs/design/published-forecasts.md, Simple
rules).  No rule has a fitted number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mawl.model.published import PublishedResult
from mawl.plan.catalogue import CATALOGUE
from mawl.simulation.system import System
from mawl.spec.program_options import ROLES
from mawl.whatif.published_forecast import FULL_SCALE, plan_of
from mawl.whatif.published_system import PublishedSystem, system_of

TIMES = ("time.real_time_seconds", "time.elapsed_seconds", "time.active_seconds")
OF_THE_MIX = (
    "time.user_cpu_seconds",
    "time.system_cpu_seconds",
    "time.memory_bytes",
    "device.read_bytes",
    "device.written_bytes",
    "device.read_ratio",
)
"""Figures that follow from the jobs alone: with the same jobs on both systems, every rule says no change."""
TWICE = ("device.sustained_bytes_per_second_per_core",)
"""Figures that repeat another one: the sustained rate over the cores repeats the sustained rate."""
REPEATED = (
    *TWICE,
    "device.initial.total_bytes_per_second",
    "time.active_seconds",
    "cpu_real_ratio.range",
)
"""Figures that repeat another one of the same pair: sustained, peak, elapsed, stddev."""


@dataclass(frozen=True)
class Roofline:
    """The shortest time that a system needs for its declared work, by processors and by storage.

    Seconds; ``bytes`` are those of all nodes that pass the storage, ``cores`` those of all nodes.
    """

    storage_seconds: float
    cpu_seconds: float
    bytes: float
    cores: float

    @property
    def seconds(self) -> float:
        """The longer of both: processors and storage work at the same time."""
        return max(self.storage_seconds, self.cpu_seconds)


def roofline_of(one: PublishedSystem) -> Roofline:
    """Declared bytes over what devices, links and fabric move; declared CPU seconds over what cores do."""
    system = system_of(one)
    moved: dict[tuple[str, str], float] = {}
    cpu = 0.0
    for job in plan_of(one).jobs():
        program = CATALOGUE[job.program]
        cpu += program.cpu_seconds(FULL_SCALE)
        for role, ways in program.bytes_by_role(FULL_SCALE).items():
            for way, size in ways.items():
                moved[role, way] = moved.get((role, way), 0.0) + size
    nodes = sum(kind.count for kind in system.nodes)
    cores = sum(kind.count * kind.cores * kind.core_speed for kind in system.nodes)
    return Roofline(
        storage_seconds=storage_seconds(system, moved, nodes),
        cpu_seconds=cpu * nodes / cores,
        bytes=sum(moved.values()) * nodes,
        cores=sum(cores.value * cores.count for cores in one.cores),
    )


def storage_seconds(system: System, moved: Mapping[tuple[str, str], float], nodes: int) -> float:
    """The time of the busiest device, link or fabric; ``moved`` are the bytes of one node.

    By role and way (``read``, ``written``); a role that is left out moves no bytes.
    """
    first = system.nodes[0]
    names = {role: first.roles[role] for role in ROLES}
    seconds = []
    crossing = {"read": 0.0, "written": 0.0}
    for device in system.devices:
        own = {
            way: sum(
                moved.get((role, way), 0.0) / len(names[role]) for role in ROLES if device.name in names[role]
            )
            for way in ("read", "written")
        }
        if device.local:
            total = 1
        else:
            total = nodes
            crossing = {way: crossing[way] + own[way] for way in crossing}
        seconds += [
            total * own["read"] / device.read_bytes_per_second,
            total * own["written"] / device.write_bytes_per_second,
            total * sum(own.values()) / (device.shared_bytes_per_second or math.inf),
        ]
    link, fabric = first.link_bytes_per_second, system.fabric_bytes_per_second
    seconds += [size / (link or math.inf) for size in crossing.values()]
    seconds += [nodes * size / (fabric or math.inf) for size in crossing.values()]
    seconds.append(nodes * sum(crossing.values()) / (system.fabric_shared_bytes_per_second or math.inf))
    return max(seconds)


@dataclass(frozen=True)
class RuleChanges:
    """What the rules say of a figure of a pair: second system over first, less 1.

    ``amdahl`` is None where the paper does not print CPU and real time of the first system.  ``counted`` is
    False for figures that cannot show how good a model is: those of the mix, and those that repeat another.
    """

    amdahl: float | None
    roofline: float
    counted: bool


def rule_changes(
    reference: PublishedSystem, candidate: PublishedSystem, published: PublishedResult, figure: str
) -> RuleChanges:
    """The rules' forecast of one figure; ``published`` are the paper's figures of the reference.

    Amdahl (AFIPS 1967): the part of real time that is CPU time shrinks with the speed of a core, the rest
    with the rate of the storage.  Roofline (Williams, Waterman and Patterson 2009): :class:`Roofline`.
    """
    before, after = roofline_of(reference), roofline_of(candidate)
    work = after.bytes / before.bytes
    cores = after.cores / before.cores
    waiting = _waiting_ratio(published)
    amdahl = None
    if waiting is not None:
        speed = _core_speed(candidate) / _core_speed(reference)
        storage = after.storage_seconds / before.storage_seconds
        amdahl = _change(figure, (1.0 - waiting) / speed + waiting * storage, work, cores)
    of_the_mix = figure in OF_THE_MIX and not (figure == "time.system_cpu_seconds" and reference.waits_on_cpu)
    return RuleChanges(
        amdahl=amdahl,
        roofline=_change(figure, after.seconds / before.seconds, work, cores),
        counted=not (of_the_mix and work == 1.0) and figure not in REPEATED,
    )


def _change(figure: str, elapsed: float, work: float, cores: float) -> float:
    """The change of a figure where the same sessions take ``elapsed`` times as long, for ``work`` times the
    work, on ``cores`` times the cores; 0 for a figure of which such a rule says nothing."""
    if figure in TIMES:
        return elapsed * (work if figure == "time.real_time_seconds" else 1.0) - 1.0
    if figure.endswith("bytes_per_second_per_core") or figure == "cpu_busy_ratio":
        return work / elapsed / cores - 1.0
    if figure.endswith("bytes_per_second"):
        return work / elapsed - 1.0
    if figure == "cpu_real_ratio.mean":
        return 1.0 / elapsed - 1.0
    return work - 1.0 if figure in OF_THE_MIX and figure != "device.read_ratio" else 0.0


def _waiting_ratio(published: PublishedResult) -> float | None:
    """The part of real time that was no CPU time, of the two that the paper prints; never below 0."""
    times = published.time
    if times is None or None in (times.real_time_seconds, times.user_cpu_seconds, times.system_cpu_seconds):
        return None
    cpu = (times.user_cpu_seconds or 0.0) + (times.system_cpu_seconds or 0.0)
    return max(1.0 - cpu / (times.real_time_seconds or math.inf), 0.0)


def _core_speed(one: PublishedSystem) -> float:
    return system_of(one).nodes[0].core_speed
