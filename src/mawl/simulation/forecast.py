"""A run's demand on another system, at other sessions, nodes or scale: the prediction."""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mawl.base.errors import UsageError
from mawl.base.units import format_percent
from mawl.figures.view import StoredView
from mawl.plan.workload import Plan
from mawl.records.model.probe import Probe
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.activity import Calibration, Way, stream_rate, with_write_behind
from mawl.simulation.demand import CachedPlan, Demand, Direction, JobDemand, Logged, other_cache
from mawl.simulation.device_rates import (
    DIRECTIONS,
    LEAST_WAITED_RATIO,
    PROBE_IT,
    changed_unknown,
    is_assumed,
    rate_path,
    unknown_directions,
    waited_for,
    why_unknown,
    with_served_bytes,
)
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.measured_system import memory_path, own_system
from mawl.simulation.recorded_demand import demand_of
from mawl.simulation.scenario import (
    Scenario,
    at_scale,
    at_sessions,
    calibrate,
    demands_for,
    plans_of,
    run_scenario,
    with_nodes,
)
from mawl.simulation.system import FABRICS, NodeKind, System, SystemChange, apply_changes, faster


@dataclass(frozen=True, kw_only=True)
class Base:
    """A run made ready for forecasts: its demand, plans, system, and the calibration that fits it.

    ``seen`` is the system as the run or a file describes it, ``own`` the same as calibration found it.
    ``unknown`` are the devices of the run, and their directions, of which nothing says what they can do: all
    where mawl did not see what jobs did in ``unseen_ratio`` of their time.
    """

    facts: RunFacts
    summary: Summary
    demand: Demand
    plans: tuple[Plan, ...]
    calibration: Calibration
    described: bool
    unknown: Mapping[str, Sequence[Direction]]
    unseen_ratio: float
    seen: System
    outcome: SimulationOutcome

    def why_unknown(self, devices: Collection[str]) -> str:
        """Why there is no number for these devices, and the cure."""
        if self.unseen_ratio:
            return (
                f"mawl did not see what jobs did in {format_percent(self.unseen_ratio)} of their time, so it "
                "is not known what other devices would save; run programs whose I/O mawl sees"
            )
        return f"{why_unknown(devices)}; {PROBE_IT}"

    @property
    def own(self) -> System:
        return self.calibration.own

    @property
    def elapsed_seconds(self) -> float | None:
        elapsed: float | None = self.summary.time.elapsed_seconds
        return elapsed

    @property
    def error_ratio(self) -> float | None:
        """By how much the simulation of the run on its own system misses the measured elapsed time."""
        return None if not self.elapsed_seconds else self.outcome.elapsed_seconds / self.elapsed_seconds - 1.0


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is to be different: None and empty leave it as it was.

    ``kept_reach``: the page cache keeps what it kept, whatever the memory; the model of the page cache reads
    every block, which takes too long for many systems.
    """

    system: System | None = None
    changes: Sequence[SystemChange] = ()
    nodes: int | None = None
    sessions: int | None = None
    scale_factor: float = 1.0
    seed: int = 1
    kept_reach: bool = False


def base_of(
    view: StoredView,
    summary: Summary,
    own: System | None = None,
    logged: Logged | None = None,
    *,
    probe: Probe | None = None,
) -> Base:
    """The run as a base of forecasts; ``own`` describes the system it was made on better than the run does.

    ``probe`` is that of its devices; None: that of the run's folder, if it has one.
    ``logged`` are the bytes of steps that are known only from logs: all waiting of these steps is then taken
    for I/O, and the model is calibrated to it.

    Raises ``UsageError`` where the run has no finished job or its system is not known.
    """
    stored, samples, windows = view.run, view.samples, view.windows
    demand = demand_of(stored, summary, logged)
    demand = with_served_bytes(demand, stored.facts, samples, windows.edges if windows else None)
    if probe is None and isinstance(view.probe, Probe):
        probe = view.probe
    system = own or own_system(stored.facts, samples, windows, waited_for(demand, summary), probe)
    unknown = unknown_directions(system, demand) if own is None else {}
    shares = summary.wait.shares if summary.wait is not None and logged is None else None
    unseen = shares.unknown_ratio if shares is not None and stored.facts.kind == "measured" else 0.0
    unseen = unseen if unseen >= LEAST_WAITED_RATIO else 0.0
    if unseen:
        unknown = {device.name: list(DIRECTIONS) for device in system.devices}
    still = [name for name in unknown if all(is_assumed(system, rate_path(name, way)) for way in DIRECTIONS)]
    plans = plans_of(stored, demand)
    if own is not None and own.node_count == 1 and len(plans) > 1:
        system = with_nodes(own, len(plans))
    if system.node_count != len(plans):
        raise UsageError(
            f"{len(plans)} nodes of the run have a plan, and the system has {system.node_count}",
            where=f"system {system.name}",
            cure="describe the nodes that ran it",
        )
    if not is_uncached(stored.facts):
        demand = replace(demand, jobs=_written_behind(demand.jobs, system, plans))
    blocked = _blocked(summary) if logged is None else demand.blocked_seconds
    machine = _machine_bytes(stored.facts, 0.0)
    scenario = Scenario(system=system, plans=plans, jobs=demand.jobs, machine_bytes=machine)
    calibration, outcome = calibrate(scenario, blocked, summary.time.elapsed_seconds, still)
    return Base(
        facts=stored.facts,
        summary=summary,
        demand=demand,
        plans=plans,
        calibration=calibration,
        described=own is not None,
        unknown=unknown,
        unseen_ratio=unseen,
        seen=system,
        outcome=outcome,
    )


def _written_behind(
    jobs: Mapping[str, JobDemand], system: System, plans: Sequence[Plan]
) -> dict[str, JobDemand]:
    made = dict(jobs)
    for place, plan in enumerate(plans):
        own = {job.job: jobs[job.job] for job in plan.jobs() if job.job in jobs}
        made |= with_write_behind(own, Way(system, system.nodes[system.kind_number(place)]))
    return made


def _blocked(summary: Summary) -> float | None:
    wait = summary.wait
    if wait is None:
        return None
    parts: list[float | None] = [getattr(wait.blocked_seconds, role) for role in ROLES]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def scenario_of(base: Base, question: Question) -> Scenario:
    """What a question asks to simulate."""
    system = base.own if question.system is None else _as_calibrated(question.system, base)
    if question.nodes is not None:
        system = with_nodes(system, question.nodes)
    unchanged, system = system, apply_changes(system, question.changes)
    if question.system is None and (changed := changed_unknown(unchanged, system, base.unknown)):
        raise UsageError("no forecast of this change", where=base.facts.run_id, why=base.why_unknown(changed))
    plans = base.plans
    if question.sessions is not None:
        nodes = [node_run.node for node_run in base.facts.node_runs]
        plans = tuple(at_sessions(plan, question.sessions, nodes) for plan in plans)
    plans = tuple(at_scale(plan, question.scale_factor) for plan in plans)
    draw = random.Random(question.seed)
    jobs: dict[str, JobDemand] = {}
    remarks: dict[str, None] = {}
    for place, (own, plan) in enumerate(zip(base.plans, plans, strict=True)):
        measured = base.own.kind_number(place)
        before = base.own.nodes[measured].memory_bytes
        memory = system.nodes[system.kind_number(place)].memory_bytes
        made = demands_for(plan, base.demand, base.plans, draw)
        known = not question.kept_reach and not is_assumed(base.own, memory_path(measured))
        if memory != before and known and is_uncached(base.facts):
            remarks[NO_PAGE_CACHE] = None
        elif memory != before and known:
            machine = _machine_bytes(base.facts, memory)
            was = CachedPlan(
                plan=own,
                jobs=base.demand.jobs,
                memory_bytes=before,
                machine_bytes=machine,
                rates=_write_rates(base.own, measured),
            )
            becomes = CachedPlan(
                plan=plan,
                jobs=made,
                memory_bytes=memory,
                machine_bytes=machine,
                rates=_write_rates(system, system.kind_number(place)),
            )
            made, reasons = other_cache(made, was, becomes)
            remarks |= dict.fromkeys(reasons)
        jobs |= made
    machine = _machine_bytes(base.facts, 0.0)
    return Scenario(system=system, plans=plans, jobs=jobs, machine_bytes=machine, remarks=tuple(remarks))


NO_PAGE_CACHE = "the run left out the page cache (--cache none), so no job's reach changes with memory"


def is_uncached(facts: RunFacts) -> bool:
    """Whether the run kept files out of the page cache."""
    return facts.cache is not None and facts.cache.mode == "none"


def _write_rates(system: System, kind: int) -> dict[str, float]:
    return {
        role: sum(stream_rate(holder, "write") for holder in system.holders(system.nodes[kind], role))
        for role in ROLES
    }


def _machine_bytes(facts: RunFacts, memory_bytes: float) -> float | None:
    """The memory of the machine if the run had only a part of it: other memory is then another part."""
    node = facts.nodes[0]
    if node.memory_limit_bytes is None or node.memory_bytes is None:
        return None
    return max(float(node.memory_bytes), memory_bytes)


def _as_calibrated(system: System, base: Base) -> System:
    """The system with the devices that are described as the run's own were as calibration found those."""
    own = dict(zip(base.seen.devices, base.own.devices, strict=True))
    return replace(system, devices=tuple(own.get(device, device) for device in system.devices))


def predict(base: Base, question: Question) -> tuple[Scenario, SimulationOutcome]:
    """The scenario of a question and its simulation."""
    scenario = scenario_of(base, question)
    return scenario, run_scenario(scenario, base.calibration)


def changed_roles(before: System, after: System) -> list[Role]:
    """The roles that lie on other devices, or on devices that differ in a figure."""
    kinds = list(zip(before.nodes, after.nodes, strict=False))
    return [
        role
        for role in ROLES
        if any(before.holders(old, role) != after.holders(new, role) for old, new in kinds)
    ]


def blocked_in(base: Base, roles: Sequence[Role]) -> float:
    """Seconds that all jobs of the run were blocked in these roles; infinite where that is not known."""
    jobs = base.demand.jobs.values()
    if not all(step.waits_known for job in jobs for step in job.steps):
        return math.inf
    return sum(step.blocked_seconds.get(role, 0.0) for job in jobs for step in job.steps for role in roles)


def most_saved_seconds(base: Base, roles: Sequence[Role]) -> float:
    """Elapsed seconds that faster devices of these roles save at most: what a session was blocked there.

    Where jobs wait at a gate for those of other sessions, it is what all jobs were blocked.
    """
    jobs = base.demand.jobs
    if blocked_in(base, roles) == math.inf or any(job.gate for plan in base.plans for job in plan.jobs()):
        return blocked_in(base, roles)
    return max(
        sum(
            step.blocked_seconds.get(role, 0.0)
            for stage in session.stages
            for job in stage
            for step in jobs[job.job].steps
            for role in roles
        )
        for plan in base.plans
        for session in plan.sessions
    )


def bounded_seconds(base: Base, scenario: Scenario, elapsed_seconds: float) -> float:
    """The elapsed time of a forecast, no shorter than faster devices can make the run.

    Another load, other cores or links have no such bound.
    """
    now, own = scenario.system, base.own
    if scenario.plans != base.plans or list(map(_apart, now.nodes)) != list(map(_apart, own.nodes)):
        return elapsed_seconds
    saved = most_saved_seconds(base, changed_roles(own, now))
    return max(elapsed_seconds, base.outcome.elapsed_seconds - saved)


def _apart(kind: NodeKind) -> tuple[object, ...]:
    """What a node has apart from its devices."""
    return tuple(value for name, value in vars(kind).items() if name != "roles")


def doubled_systems(system: System) -> list[tuple[str, System]]:
    """The system with twice of each resource, by its name."""

    def kinds(figure: str) -> System:
        return replace(
            system,
            nodes=tuple(
                replace(kind, **{figure: getattr(kind, figure) and getattr(kind, figure) * 2})
                for kind in system.nodes
            ),
        )

    found = [("cores", kinds("cores")), ("core_speed", kinds("core_speed"))]
    if any(kind.link_bytes_per_second for kind in system.nodes):
        found.append(("link", kinds("link_bytes_per_second")))
    fabric = {name: rate * 2 for name in FABRICS if (rate := getattr(system, name))}
    if fabric:
        found.append(("fabric", replace(system, **fabric)))
    used = {name for kind in system.nodes for names in kind.roles.values() for name in names}
    for device in system.devices:
        if device.name in used:
            devices = tuple(faster(one, 2.0) if one.name == device.name else one for one in system.devices)
            found.append((device.name, replace(system, devices=devices)))
    return found


@dataclass(kw_only=True)
class FittedFigure(ABC):
    """A figure that must stay within a bound; ``measured`` is that of the run with ``sessions``.

    The simulated figure of the run itself is brought to ``measured``, and all others by the same factor.
    ``fewest`` and ``most`` are the sessions that a search may try, all of one mix (``mix_range``).
    ``kept_reach``: as in ``Question``.
    """

    base: Base
    sessions: int
    measured: float
    fewest: int
    most: int
    kept_reach: bool = False
    _known: dict[tuple[int, int], tuple[System, float]] = field(default_factory=dict)

    @abstractmethod
    def of(self, outcome: SimulationOutcome) -> float:
        """The figure of one simulated run, above 0."""

    def figure(self, system: System, sessions: int) -> float:
        """The figure of so many sessions on a system, as brought to what was measured."""
        return self._brought(self._simulated(system, sessions))

    def figure_of(self, outcome: SimulationOutcome) -> float:
        return self._brought(self.of(outcome))

    def most_sessions(self, system: System, bound: float) -> int | None:
        """The most sessions whose figure is within the bound; None if even the fewest exceed it."""
        low, high = self.fewest - 1, min(max(self.sessions, self.fewest), self.most)
        while high <= self.most and self.figure(system, high) <= bound:
            low, high = high, min(2 * high, self.most) if high < self.most else self.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            carried = self.figure(system, middle) <= bound
            low, high = (middle, high) if carried else (low, middle)
        return low if low >= self.fewest else None

    def outcome(self, system: System, sessions: int) -> SimulationOutcome:
        question = Question(system=system, sessions=sessions, kept_reach=self.kept_reach)
        return predict(self.base, question)[1]

    def _brought(self, simulated: float) -> float:
        return self.measured * simulated / self._simulated(self.base.own, self.sessions)

    def _simulated(self, system: System, sessions: int) -> float:
        key = (id(system), sessions)
        if key not in self._known:
            # The system is kept, so that no other gets its id.
            self._known[key] = system, self.of(self.outcome(system, sessions))
        return self._known[key][1]


@dataclass(kw_only=True)
class Fitting(FittedFigure):
    """W, the slowdown: real time of the jobs over their reference time, which grows with their number."""

    def of(self, outcome: SimulationOutcome) -> float:
        """Real time of the simulated jobs over their reference time; 1 if no job has one."""
        reference = self._reference
        took = [(job.ended - job.started, reference.get(job.plan.program)) for job in outcome.jobs]
        known = [(seconds, one) for seconds, one in took if one is not None]
        whole = sum(one for _, one in known)
        return sum(seconds for seconds, _ in known) / whole if whole else 1.0

    def slowdown(self, system: System, sessions: int) -> float:
        return self.figure(system, sessions)

    @property
    def _reference(self) -> dict[str, float]:
        return {
            job.program: job.reference_seconds
            for job in self.base.facts.planned_jobs
            if job.reference_seconds is not None
        }


@dataclass(kw_only=True)
class FittedElapsed(FittedFigure):
    """Seconds from the first start to the last end."""

    def of(self, outcome: SimulationOutcome) -> float:
        return outcome.elapsed_seconds
