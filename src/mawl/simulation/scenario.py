"""Plans on the nodes of a system: what is simulated, and the simulation of it."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import msgspec

from mawl.base.errors import MawlError, UsageError
from mawl.figures.sessions import predecessors
from mawl.plan.derived_jobs import derived_jobs
from mawl.plan.mix import mixed
from mawl.plan.spec import WorkloadSpec
from mawl.plan.workload import JobPlan, Plan, SessionPlan, make_plan
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.spec import toml
from mawl.records.spec.program_options import Options
from mawl.records.store import Run
from mawl.records.store.files import PLAN
from mawl.simulation.activity import Activity, Calibration, activity
from mawl.simulation.demand import Demand, JobDemand, scale_job
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
    trial = _bisect(quicker, blocked_seconds, MOST_FASTER, 1.0, lambda low, high: math.sqrt(low * high))
    if elapsed_seconds is None:
        return trial
    return min((plain, trial), key=lambda tried: abs(tried[1].elapsed_seconds - elapsed_seconds))


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


RULED = "mixed20"
"""The workload that has a rule for any number of sessions."""


class NodePlans(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``plan.toml`` of a run on several nodes: each node's own, below the run's folder."""

    nodes: dict[str, str]


def plans_of(run: Run, demand: Demand) -> tuple[Plan, ...]:
    """Each node's plan, of the jobs whose demand is known, in the order of the nodes' names.

    Jobs are called as in the run's records.  Of a run without plans (imported) they are made from records.
    """
    jobs = run.job_records()
    try:
        found = _stored(run)
    except MawlError:
        found = _by_node(_recorded(run.facts, jobs), jobs)
    known = [_known(plan, demand) for plan in found]
    return tuple(plan for plan in known if plan.sessions)


def _stored(run: Run) -> list[Plan]:
    if not run.facts.node_runs:
        return [_expanded(run.path / PLAN, run.path)]
    places = toml.load(run.path / PLAN, NodePlans, inside=run.path).nodes
    return [of_node(_expanded(run.path / places[name], run.path), name) for name in sorted(places)]


def _expanded(file: Path, run: Path) -> Plan:
    spec = toml.load(file, WorkloadSpec, inside=run)
    derived = derived_jobs(spec, str(file), inside=run)
    return make_plan(spec, where=str(file), scale=spec.scale or 1.0, derived=derived)


def of_node(plan: Plan, node: str) -> Plan:
    """The plan with the node's name in front of its jobs', as a run on several nodes has them."""
    return _renamed(plan, lambda job: f"{node}.{job}")


def without_node(plan: Plan, nodes: Iterable[str]) -> Plan:
    """The inverse of ``of_node``, where all of the plan's jobs have the name of one of ``nodes``."""
    node = _node_of(plan, nodes)
    return plan if node is None else _renamed(plan, lambda job: job.removeprefix(f"{node}."))


def _node_of(plan: Plan, nodes: Iterable[str]) -> str | None:
    """Whose name all of the plan's jobs have: the longest, since ``a.b`` begins as ``a`` does."""
    jobs = [job.job for job in plan.jobs()]
    fitting = [node for node in nodes if all(job.startswith(f"{node}.") for job in jobs)]
    return max(fitting, key=len, default=None)


def _renamed(plan: Plan, name: Callable[[str], str]) -> Plan:
    return msgspec.structs.replace(
        plan, sessions=tuple(_of_names(session, session.name, name) for session in plan.sessions)
    )


def _of_names(session: SessionPlan, own: str, name: Callable[[str], str]) -> SessionPlan:
    return msgspec.structs.replace(
        session,
        name=own,
        stages=tuple(
            tuple(
                msgspec.structs.replace(
                    job, job=name(job.job), session=own, after=tuple(name(other) for other in job.after)
                )
                for job in stage
            )
            for stage in session.stages
        ),
    )


def _known(plan: Plan, demand: Demand) -> Plan:
    """Without the jobs that left no demand (they failed, or never ran)."""
    sessions = []
    for session in plan.sessions:
        stages = [tuple(job for job in stage if job.job in demand.jobs) for stage in session.stages]
        if any(stages):
            kept = tuple(
                tuple(
                    msgspec.structs.replace(
                        job, after=tuple(name for name in job.after if name in demand.jobs)
                    )
                    for job in stage
                )
                for stage in stages
                if stage
            )
            sessions.append(msgspec.structs.replace(session, stages=kept))
    return msgspec.structs.replace(plan, sessions=tuple(sessions))


def _recorded(facts: RunFacts, jobs: Sequence[JobRecord]) -> Plan:
    """Sessions of the jobs as they began: each when the one before it ended, or at its time."""
    begun = [(job.started_at, job) for job in jobs if job.started_at is not None]
    first = min((at for at, _ in begun), default=0.0)
    scale = facts.workload.scale or 1.0
    of_session: dict[tuple[str, str], list[tuple[float, JobRecord]]] = defaultdict(list)
    for at, job in sorted(begun, key=lambda pair: pair[0]):
        of_session[job.session, job.node].append((at, job))
    for job in jobs:
        if job.started_at is None:
            of_session[job.session, job.node].append((first, job))
    sessions = [
        SessionPlan(
            name=name,
            start_delay_seconds=members[0][0] - first,
            stages=_stages(members, scale),
        )
        for (name, _), members in sorted(of_session.items())
    ]
    return Plan(
        workload=facts.workload.name,
        title=facts.workload.title,
        scale=scale,
        seed=facts.workload.seed or 1,
        saving=0.9,
        options=facts.workload.options or Options(),
        sessions=tuple(sessions),
    )


def _stages(members: Sequence[tuple[float, JobRecord]], scale: float) -> tuple[tuple[JobPlan, ...], ...]:
    """A stage for each job of a session; one stage for all of them if the clock started some.

    A job follows the one before it if that one finished and the rule of ``figures.sessions`` holds,
    which ``mawl derive`` also uses.  The clock starts any other job, at its second.
    """
    follows = [True]
    for (_, before), (_, job) in pairwise(members):
        timed = job.started_at is not None and before.started_at is not None
        follows.append(not timed or (before.outcome == "finished" and bool(predecessors(job, [before]))))
    if all(follows):
        return tuple((_job(job, stage, scale),) for stage, (_, job) in enumerate(members, start=1))
    begun, last = members[0][0], ""
    stage = []
    for (at, job), after in zip(members, follows, strict=True):
        made = _job(job, 1, scale)
        if after and last:
            made = msgspec.structs.replace(made, after=(last,))
        elif last:
            made = msgspec.structs.replace(made, start_delay_seconds=at - begun)
        stage.append(made)
        last = job.job
    return (tuple(stage),)


def _job(job: JobRecord, stage: int, scale: float) -> JobPlan:
    return JobPlan(
        job=job.job,
        program=job.program,
        session=job.session,
        stage=stage,
        replica=job.replica,
        scale=scale,
        options=Options(),
        trail_out=job.trail_out,
        program_class=job.program_class,
    )


def at_sessions(plan: Plan, sessions: int, nodes: Iterable[str] = ()) -> Plan:
    """The plan in another number of sessions: by the rule of mixed20, or its own in turn.

    Of a run on several ``nodes`` the jobs keep the name of theirs.
    """
    if sessions < 1:
        raise UsageError(f"--sessions {sessions}: expected a number from 1")
    node = _node_of(plan, nodes)
    if node is not None:
        return of_node(at_sessions(without_node(plan, [node]), sessions), node)
    if plan.workload == RULED and all(job.command is None for job in plan.jobs()):
        return make_plan(
            mixed(sessions),
            where=f"workload {RULED} in {sessions} sessions",
            scale=plan.scale,
            seed=plan.seed,
            saving=plan.saving,
        )
    made = []
    for number in range(sessions):
        session, turn = plan.sessions[number % len(plan.sessions)], number // len(plan.sessions) + 1
        made.append(session if turn == 1 else _again(session, f"-{turn}", plan))
    names = {job.job for session in made for stage in session.stages for job in stage}
    return _known(
        msgspec.structs.replace(plan, sessions=tuple(made)),
        Demand(run_id="", jobs=dict.fromkeys(names)),  # type: ignore[arg-type]
    )


def _again(session: SessionPlan, suffix: str, plan: Plan) -> SessionPlan:
    names = {job.job for job in plan.jobs()}
    return _of_names(session, session.name + suffix, lambda job: job + suffix if job in names else job)


def at_scale(plan: Plan, factor: float) -> Plan:
    """The plan and all its jobs at ``factor`` times their scale; options stay."""
    if factor == 1.0:
        return plan

    def times(job: JobPlan) -> JobPlan:
        return msgspec.structs.replace(job, scale=job.scale * factor)

    return msgspec.structs.replace(
        plan,
        scale=plan.scale * factor,
        sessions=tuple(
            msgspec.structs.replace(
                session, stages=tuple(tuple(map(times, stage)) for stage in session.stages)
            )
            for session in plan.sessions
        ),
    )


def demands_for(
    plan: Plan, demand: Demand, measured: Sequence[Plan], draw: random.Random
) -> dict[str, JobDemand]:
    """The demand of every job of a plan, in proportion to its scale over that of the job in ``measured``.

    A job that was measured has its own; any other (more sessions) what ``draw`` gives of the measured jobs
    of its program.  Raises ``UsageError`` for a program that was not measured.
    """
    by_program: dict[str, list[JobDemand]] = defaultdict(list)
    sizes = {job.job: job.scale for one in measured for job in one.jobs()}
    for job in demand.jobs.values():
        by_program[job.program].append(job)
    found = {}
    for planned in plan.jobs():
        own = demand.jobs.get(planned.job)
        if own is None or own.program != planned.program:
            if planned.program not in by_program:
                raise UsageError(
                    f"program {planned.program} was not measured",
                    where=demand.run_id,
                    cure="simulate from a run that has all programs of the plan",
                )
            own = draw.choice(by_program[planned.program])
        factor = planned.scale / sizes.get(own.job, measured[0].scale)
        found[planned.job] = own if factor == 1.0 else scale_job(own, factor)
    return found


def _by_node(plan: Plan, jobs: Sequence[JobRecord]) -> list[Plan]:
    of_job = {job.job: job.node for job in jobs}
    nodes: dict[str, list[SessionPlan]] = defaultdict(list)
    for session in plan.sessions:
        nodes[of_job[session.stages[0][0].job]].append(session)
    return [msgspec.structs.replace(plan, sessions=tuple(nodes[name])) for name in sorted(nodes)]
