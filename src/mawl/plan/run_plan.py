"""The plan that a spec asks for, what a plan asks of its run, and the processors that its jobs get."""

from __future__ import annotations

import os

import msgspec

from mawl.base.errors import UsageError
from mawl.plan.derived_jobs import derived_jobs
from mawl.plan.mix import mixed
from mawl.plan.spec import WorkloadSpec, parse_scale
from mawl.plan.workload import JobPlan, Plan, load_workload, make_plan, shipped
from mawl.records.spec.program_options import AUTO, Options
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.sources import Layer, layer_of_plan


def parse_cores(text: str) -> tuple[int, ...]:
    """Processors from ``4`` (the first four this process may use) or a list (``0,2-5``)."""
    usable = sorted(os.sched_getaffinity(0))
    text = text.strip()
    if text.isdecimal():
        if not 1 <= int(text) <= len(usable):
            raise UsageError(
                f"--cores {text}: expected 1 to {len(usable)}, the processors this process may use"
            )
        return tuple(usable[: int(text)])
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)) or int(last or first) < int(
            first
        ):
            raise UsageError(f"--cores {text}: expected a count (4) or a list (0,2-5)")
        # The first that is not usable is enough to refuse a range, however long it is.
        chosen.update(range(int(first), min(int(last or first), max(int(first), usable[-1] + 1)) + 1))
    missing = chosen - set(usable)
    if missing:
        raise UsageError(
            f"--cores {text}: processor {min(missing)} is not among those this process may use",
            cure=f"choose from {usable[0]}-{usable[-1]}",
        )
    return tuple(sorted(chosen))


def processors_of(cores: str | None) -> tuple[int, ...]:
    """Those that a run may use: what ``--cores`` names, or all that this process may use."""
    return parse_cores(cores) if cores else tuple(sorted(os.sched_getaffinity(0)))


def asks_for_threads(plan: Plan) -> bool:
    """Whether any job has ``cpucount=auto``."""
    return any(job.options.cpucount == AUTO for job in plan.jobs())


def with_threads(plan: Plan, processors: int) -> Plan:
    """The plan with a number in place of ``cpucount=auto``: processors by sessions, at least one.

    A job that runs alone (``--solo``) gets what it gets in the run, so that both can be compared.
    """
    threads = max(processors // max(len(plan.sessions), 1), 1)

    def known(options: Options) -> Options:
        return msgspec.structs.replace(options, cpucount=threads) if options.cpucount == AUTO else options

    def job_with(job: JobPlan) -> JobPlan:
        return msgspec.structs.replace(job, options=known(job.options))

    sessions = tuple(
        msgspec.structs.replace(
            session, stages=tuple(tuple(map(job_with, stage)) for stage in session.stages)
        )
        for session in plan.sessions
    )
    return msgspec.structs.replace(plan, options=known(plan.options), sessions=sessions)


def plan_of(spec: RunSpec) -> Plan:
    """The workload expanded at its scale; UsageError where it cannot have that scale or those sessions."""
    workload, where = _workload(spec)
    if workload.scale is not None and spec.scale is not None:
        raise UsageError(f"{where} fixes its scale at {workload.scale:g}; leave --scale out")
    derived = derived_jobs(workload, where)
    if spec.arrivals == "closed" and (not derived or workload.sessions):
        raise UsageError(
            f"--arrivals {spec.arrivals} does not go with {where}",
            why="only a file of derived jobs without sessions of its own says how its jobs arrived",
            cure="leave --arrivals out",
        )
    usual = "full" if derived else spec.usual_scale
    plan = make_plan(
        workload,
        where=where,
        scale=parse_scale(usual if spec.scale is None else spec.scale),
        options=spec.options,
        seed=spec.seed,
        saving=spec.saving,
        derived=derived,
        arrivals=spec.arrivals,
    )
    # Each of several nodes divides its own processors.
    if spec.nodes or not asks_for_threads(plan):
        return plan
    return with_threads(plan, len(processors_of(spec.cores)))


def with_run_of(workload: str, settings: Layer) -> Layer:
    """What ``[run]`` of a workload file sets over ``settings``; a workload without it sets nothing."""
    if workload in shipped():
        return settings
    spec, where = load_workload(workload)
    return settings if spec.run is None else layer_of_plan(spec.run, where, settings)


def _workload(spec: RunSpec) -> tuple[WorkloadSpec, str]:
    if spec.sessions is None:
        return load_workload(spec.workload)
    if spec.workload != DEFAULT_WORKLOAD:
        raise UsageError(
            f"--sessions {spec.sessions} does not go with the workload {spec.workload}",
            why=f"only {DEFAULT_WORKLOAD} has a rule to scale it by, any other has the sessions of its file",
            cure=f"leave --sessions out, or choose {DEFAULT_WORKLOAD}",
        )
    return mixed(spec.sessions), f"workload {DEFAULT_WORKLOAD} in {spec.sessions} sessions"
