"""Plans on the nodes of a system: what is simulated, and the simulation of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from mawl.base.errors import UsageError
from mawl.plan.workload import JobPlan, Plan
from mawl.simulation.activity import Activity, Calibration, activity
from mawl.simulation.demand import JobDemand
from mawl.simulation.device_rates import is_capped
from mawl.simulation.engine import SimulationOutcome, simulate
from mawl.simulation.resources import NodeGroup, Resources
from mawl.simulation.system import System, faster

CLOSE_RATIO = 0.001

EXPLAINED_RATIO = 0.8
"""Of the measured waits.  If sharing explains so many, what a step would wait alone hardly changes them, so
they do not tell it (docs/design/simulation.md, Calibration)."""

MOST_HALVINGS = 12
MOST_FASTER = 2.0**12
"""Devices that ran far below what they can do may be that much faster than the run shows."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Each node of ``system`` runs one of ``plans``, in turn; ``jobs`` are the demands by job.

    ``machine_bytes`` is the memory of a machine of which the jobs have only a part; None: they have all of a
    node's.  ``remarks`` say what was asked that the demands could not follow, in sentences.
    """

    system: System
    plans: tuple[Plan, ...]
    jobs: Mapping[str, JobDemand]
    machine_bytes: float | None = None
    remarks: tuple[str, ...] = ()

    def groups(self) -> tuple[list[NodeGroup], list[Plan]]:
        counts: dict[tuple[int, int], int] = {}
        node = 0
        for number, kind in enumerate(self.system.nodes):
            for _ in range(kind.count):
                key = number, node % len(self.plans)
                counts[key] = counts.get(key, 0) + 1
                node += 1
        groups = [
            NodeGroup(self.system.nodes[number], count, number) for (number, _), count in counts.items()
        ]
        return groups, [self.plans[place] for _, place in counts]


def run_scenario(scenario: Scenario, calibration: Calibration) -> SimulationOutcome:
    """Simulate; the same scenario gives the same outcome to the last bit."""
    groups, plans = scenario.groups()
    resources = Resources(scenario.system, groups, calibration.seek_ratio, scenario.machine_bytes)

    def steps(group: int, job: JobPlan) -> Sequence[Activity]:
        return [activity(step, resources, group, calibration) for step in scenario.jobs[job.job].steps]

    return simulate(resources, plans, steps)


def calibrate(
    scenario: Scenario,
    blocked_seconds: float | None,
    elapsed_seconds: float | None = None,
    unknown: Collection[str] = (),
) -> tuple[Calibration, SimulationOutcome]:
    """The calibration with which the run's jobs wait as long as they did for their roles, and its simulation.

    ``scenario`` is the measured plan on the system it was measured on, ``blocked_seconds`` what all jobs
    were blocked in I/O of roles.  One number is found by halving.  Either the part of its blocked time
    that a step has even alone: with none of it (0) all waiting comes from sharing and
    from requests that are waited for one by one, with all of it (1) every step is blocked as long as it was
    even without others.  It stays 0 where sharing explains most waiting (``EXPLAINED_RATIO``).  Or,
    where sharing alone makes jobs wait
    longer than they did, the part of the seeks between streams that was made; and where they wait too long
    without any, how much faster the devices must be than they were seen to be (``own`` of the calibration
    has them).  Devices stay as they are if the run's elapsed time is then nearer to ``elapsed_seconds``.
    The nearer end where neither gives what was measured.  A device is never faster than its cap.
    ``unknown`` as in ``Calibration``.
    """
    spins = any(device.spinning_streams is not None for device in scenario.system.devices)

    def blocked(ratio: float) -> Trial:
        calibration = Calibration(scenario.system, ratio, unknown=unknown)
        return calibration, run_scenario(scenario, calibration)

    def fewer_seeks(ratio: float) -> Trial:
        calibration = Calibration(scenario.system, 0.0, ratio, unknown)
        return calibration, run_scenario(scenario, calibration)

    def quicker(factor: float) -> Trial:
        system = with_faster_devices(scenario.system, factor)
        calibration = Calibration(system, 0.0, 0.0 if spins else 1.0, unknown)
        return calibration, run_scenario(replace(scenario, system=system), calibration)

    plain = blocked(0.0)
    shared = blocked_in_roles(plain[1])
    if blocked_seconds is None or EXPLAINED_RATIO * blocked_seconds <= shared <= blocked_seconds:
        return plain
    if shared < blocked_seconds:
        return _bisect(blocked, blocked_seconds, 0.0, 1.0, _mean)
    if spins and blocked_in_roles(fewer_seeks(0.0)[1]) < blocked_seconds:
        return _bisect(fewer_seeks, blocked_seconds, 0.0, 1.0, _mean)
    found = _bisect(quicker, blocked_seconds, MOST_FASTER, 1.0, lambda low, high: math.sqrt(low * high))
    if elapsed_seconds is None:
        return found
    return min((plain, found), key=lambda tried: abs(tried[1].elapsed_seconds - elapsed_seconds))


def _mean(low: float, high: float) -> float:
    return (low + high) / 2.0


def blocked_in_roles(outcome: SimulationOutcome) -> float:
    """Seconds that jobs of all nodes were blocked in I/O of roles, start-up and verifying left out."""
    counts = [group.count for group in outcome.resources.groups]
    return sum(
        sum(step.blocked().values()) * counts[job.group]
        for job in outcome.jobs
        for step in job.steps
        if step.activity.step.kind not in ("startup", "verify")
    )


Trial = tuple[Calibration, SimulationOutcome]


def _bisect(
    trial: Callable[[float], Trial],
    wanted: float,
    low: float,
    high: float,
    between: Callable[[float, float], float],
) -> Trial:
    """The trial in which jobs are blocked for ``wanted`` seconds: ``low`` gives less of it, ``high`` more."""
    for end, short in ((low, True), (high, False)):
        found = trial(end)
        if (blocked_in_roles(found[1]) >= wanted) is short:
            return found
    for _ in range(MOST_HALVINGS):
        middle = between(low, high)
        found = trial(middle)
        seconds = blocked_in_roles(found[1])
        if abs(seconds / wanted - 1.0) <= CLOSE_RATIO:
            break
        low, high = (middle, high) if seconds < wanted else (low, middle)
    return found


def with_faster_devices(system: System, factor: float) -> System:
    """The system with faster devices; a cap that the run recorded stays."""
    return replace(
        system,
        devices=tuple(
            device if is_capped(system, device) else faster(device, factor) for device in system.devices
        ),
    )


def with_nodes(system: System, count: int) -> System:
    """The system with ``count`` nodes of its one kind."""
    if count < 1:
        raise UsageError(f"--nodes {count}: expected a number from 1")
    if len(system.nodes) > 1:
        raise UsageError(
            "--nodes goes with a system of one kind of node",
            where=f"system {system.name}",
            cure="give counts in the description instead",
        )
    return replace(system, nodes=(replace(system.nodes[0], count=count),))
