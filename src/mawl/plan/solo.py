"""Each program of a workload alone: what makes jobs alike, and the plan that runs one of each kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import msgspec

from mawl.plan.command import Command
from mawl.plan.derived_program import Planned
from mawl.plan.workload import START_GATE, JobPlan, Plan, SessionPlan
from mawl.spec.program_options import Options


class JobKind(NamedTuple):
    """What decides how long a job takes alone, beside the system: jobs of one kind share a time alone."""

    program: str
    scale: float
    options: Options
    command: Command | None = None
    derived: Planned | None = None


def kinds(plan: Plan) -> dict[JobKind, list[str]]:
    """The kinds of jobs of a plan, with their jobs, in the order of the plan."""
    found: dict[JobKind, list[str]] = {}
    for job in plan.jobs():
        found.setdefault(kind_of(job), []).append(job.job)
    return found


def kind_of(job: JobPlan) -> JobKind:
    """The kind of a job."""
    return JobKind(job.program, job.scale, job.options, job.command, job.derived)


def is_of_catalogue(job: JobPlan) -> bool:
    """Whether a job runs a program of the catalogue: no command, none derived, none of a user."""
    return job.command is None and job.entry is None and job.derived is None


def solo_plan(plan: Plan, wanted: Collection[JobKind]) -> Plan:
    """One session that runs the first job of each wanted kind, one after another.

    It reads the same replica as that job, so it needs no input table of its own.
    """
    chosen: dict[JobKind, JobPlan] = {}
    for job in plan.jobs():
        if (kind := kind_of(job)) in wanted:
            chosen.setdefault(kind, job)
    stages = tuple(
        (
            msgspec.structs.replace(
                job,
                job=f"alone.{number}.{job.program}",
                session="alone",
                stage=number,
                after=(),
                start_delay_seconds=0.0,
                trail_out=False,
                gate=START_GATE if number == 1 else None,
            ),
        )
        for number, job in enumerate(chosen.values(), 1)
    )
    return msgspec.structs.replace(
        plan,
        workload=f"{plan.workload}-alone",
        title=f"each program of {plan.workload} alone",
        sessions=(SessionPlan(name="alone", stages=stages),),
    )
