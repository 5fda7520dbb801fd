"""The plan that a spec asks for, and what a plan asks of its run."""

from __future__ import annotations

from mawl.base.errors import UsageError
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.derived_jobs import derived_jobs
from mawl.plan.mix import mixed
from mawl.plan.processors import asks_for_threads, processors_of, with_threads
from mawl.plan.spec import WorkloadSpec, parse_scale
from mawl.plan.workload import Plan, load_workload, make_plan, shipped
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD, RunSpec
from mawl.records.spec.sources import Layer, layer_of_plan


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
        catalogue=CATALOGUE,
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
