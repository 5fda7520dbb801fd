"""V08 workload: the workload is published, or declared as another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mawl.archive.printed import PrintedRun
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject
from mawl.errors import UsageError
from mawl.model.run import RunFacts
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mixed
from mawl.plan.spec import JobSpec, WorkloadSpec
from mawl.plan.workload import Plan, load_workload, make_plan, shipped
from mawl.spec import toml
from mawl.spec.program_options import Options
from mawl.spec.record import DEFAULT_WORKLOAD
from mawl.store.layout import PLAN

_OPEN = "declare it with mawl pack --division open, or run a workload as it is published"


def _check(subject: ValidationSubject) -> Iterator[Fault]:
    division = subject.pack.manifest.division if subject.pack is not None else "closed"
    for name, run in subject.runs.items():
        facts = run.run.facts
        if facts.node_runs:
            if division == "closed":
                sentence = "ran on several nodes; the closed division is of runs on one"
                yield Fault(where=name, sentence=sentence, cure=_OPEN)
            continue
        try:
            plan = plan_of_run(run)
        except UsageError as error:
            yield Fault(where=f"{name}/{PLAN}", sentence=str(error), cure="ask for the run again")
            continue
        if isinstance(plan, str):
            if division == "closed":
                yield Fault(where=name, sentence=f"ran {plan}, which is no program of mawl", cure=_OPEN)
            continue
        odd = _unlike_facts(plan, facts)
        if odd is not None:
            sentence = f"does not agree with run.json: {odd}"
            yield Fault(where=f"{name}/{PLAN}", sentence=sentence, cure="ask for the run again")
        elif division == "closed":
            why = unpublished(plan)
            if why is not None:
                yield Fault(where=name, sentence=why, cure=_OPEN)


def plan_of_run(run: PrintedRun) -> Plan | str:
    """The plan of ``plan.toml``; the name of a program in it that is not mawl's.

    Such a program is not looked up: a pack of unknown origin must not name code that is then loaded.
    Raises :class:`~mawl.errors.UsageError` where the file is no plan.
    """
    path: Path = run.folder / PLAN
    spec = toml.load(path, WorkloadSpec, inside=run.folder)
    for session in spec.sessions:
        for stage in session.stages:
            for job in stage:
                program = job.program if isinstance(job, JobSpec) else job
                if isinstance(job, JobSpec) and (job.command is not None or program in spec.commands):
                    return str(program or job.command)
                if program not in CATALOGUE:
                    return str(program)
    scale = spec.scale if spec.scale is not None else (run.run.facts.workload.scale or 0.0)
    given = {"seed": spec.seed, "saving": spec.saving}
    known = {name: value for name, value in given.items() if value is not None}
    place = str(path)
    return make_plan(spec, where=place, catalogue=CATALOGUE, scale=scale, **known)  # type: ignore[arg-type]


def unpublished(plan: Plan) -> str | None:
    """How a plan differs from every published workload; None where it is one.

    The scale and the seed are free, which other rules and the report name.
    """
    if plan.workload == DEFAULT_WORKLOAD:
        try:
            published, where = mixed(len(plan.sessions)), f"workload {DEFAULT_WORKLOAD}"
        except ValueError:
            return f"runs {len(plan.sessions)} sessions, for which {DEFAULT_WORKLOAD} has no rule"
    elif plan.workload in shipped():
        published, where = load_workload(plan.workload)
    else:
        return f"{plan.workload} is no published workload"
    wanted = make_plan(
        published, where=where, catalogue=CATALOGUE, scale=plan.scale, options=Options(), seed=plan.seed
    )
    if plan.scale != wanted.scale:
        return f"{plan.workload} is published at scale {wanted.scale:g} only"
    for field in ("options", "saving", "title"):
        if getattr(plan, field) != getattr(wanted, field):
            return f"its {field} is not that of the published {plan.workload}"
    ours, theirs = list(plan.jobs()), list(wanted.jobs())
    for job, other in zip(ours, theirs, strict=False):
        if job != other:
            changed = [
                name for name, value in msgspec.structs.asdict(job).items() if value != getattr(other, name)
            ]
            return f"{job.job} is not as in the published {plan.workload}: {', '.join(changed)}"
    if plan != wanted:
        return f"its sessions are not those of the published {plan.workload}"
    return None


def _unlike_facts(plan: Plan, facts: RunFacts) -> str | None:
    workload = facts.workload
    for name, ours, theirs in (
        ("workload", plan.workload, workload.name),
        ("scale", plan.scale, workload.scale),
        ("seed", plan.seed, workload.seed),
        ("options", plan.options, workload.options),
    ):
        if ours != theirs:
            return f"its {name} is another"
    jobs = {job.job: job for job in plan.jobs()}
    planned = {job.job: job for job in facts.planned_jobs}
    if set(jobs) != set(planned):
        return "it has other jobs"
    for name, job in jobs.items():
        for field in ("program", "session", "stage", "replica", "trail_out", "gate"):
            if getattr(job, field) != getattr(planned[name], field):
                return f"the {field} of {name} is another"
    return None


RULE = ValidationRule(
    number=8,
    name="workload",
    title="The workload is published (closed division), or declared as another one (open division)",
    shows="In the closed division, plan.toml is what this version of mawl makes from the published workload "
    "of that name, with every option of every job; scale and seed are free. run.json names the same jobs.",
    limits="Whether the plan ran: V07 and V09 check that. In the open division any workload may run, and its "
    "figures are not compared with those of the closed division.",
    check=_check,
)
