"""Rules V08 to V29: what a published result needs besides true figures; and what all rules say of a subject.

V08 is on the workload, V09 to V24 are the rules of validity that every report of a run shows, V25 is on
repeats, V26 on the facts that a reader needs to repeat the run, V27 on the maker's statement.
V28 and V29 are on qualifications (``archive.qualification``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from math import isclose
from pathlib import Path

import msgspec

from mawl.advice.conditions import ConditionCheck
from mawl.advice.conditions import State as CheckState
from mawl.advice.judge import RULES
from mawl.advice.validity.rule import ValidityRule
from mawl.advice.validity.workload import FEWEST_REPEATS
from mawl.archive.container import MANIFEST
from mawl.archive.integrity import INTEGRITY_RULES
from mawl.archive.manifest import REQUIRED_FIELDS, Division, SubmitterStatement
from mawl.archive.packing import PrintedRun
from mawl.archive.qualification import ANSWER_RULE, QUALIFICATION_RULES
from mawl.archive.subject import Fault, Ruling, State, ValidationRule, ValidationSubject, ruling
from mawl.base.errors import UsageError
from mawl.base.printable import printable
from mawl.base.units import counted_noun, format_plain
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import mixed
from mawl.plan.run_plan import reference_of
from mawl.plan.spec import JobSpec, WorkloadSpec
from mawl.plan.workload import Plan, load_workload, make_plan, shipped
from mawl.records.model.run import RunFacts
from mawl.records.spec import toml
from mawl.records.spec.program_options import Options
from mawl.records.spec.run_spec import DEFAULT_WORKLOAD
from mawl.records.store.files import PLAN
from mawl.reports.layout import LINE_WIDTH, wrapped

_WORKLOAD_CURE = "declare it with mawl pack --division open, or run a workload as it is published"


def _check_workload(subject: ValidationSubject) -> Iterator[Fault]:
    division = subject.pack.manifest.division if subject.pack is not None else "closed"
    for name, run in subject.answering.items():
        facts = run.run.facts
        if facts.node_runs:
            if division == "closed":
                sentence = "ran on several nodes; the closed division is of runs on one"
                yield Fault(where=name, sentence=sentence, cure=_WORKLOAD_CURE)
            continue
        try:
            plan = plan_of_run(run)
        except UsageError as error:
            yield Fault(where=f"{name}/{PLAN}", sentence=str(error), cure="ask for the run again")
            continue
        if isinstance(plan, str):
            if division == "closed":
                yield Fault(
                    where=name, sentence=f"ran {plan}, which is no program of mawl", cure=_WORKLOAD_CURE
                )
            continue
        odd = _difference_from_facts(plan, facts)
        own_reference = (
            f"its reference times are those of {facts.reference_file}, not mawl's"
            if facts.reference_file
            else None
        )
        closed = division == "closed" and odd is None
        why = (difference_from_published(plan) or own_reference) if closed else None
        if why is not None:
            yield Fault(where=name, sentence=why, cure=_WORKLOAD_CURE)
        elif (odd := odd or _other_reference(plan, facts)) is not None:
            sentence = f"does not agree with run.json: {odd}"
            yield Fault(where=f"{name}/{PLAN}", sentence=sentence, cure="ask for the run again")


def plan_of_run(run: PrintedRun) -> Plan | str:
    """The plan of ``plan.toml``; the name of a program in it that is not mawl's.

    Such a program is not looked up: a pack of unknown origin must not name code that is then loaded.
    Raises ``UsageError`` where the file is no plan.
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
    return make_plan(spec, where=place, scale=scale, **known)  # type: ignore[arg-type]


def difference_from_published(plan: Plan) -> str | None:
    """How a plan differs from every published workload; None where it is one.

    The scale is free, which other rules and the report name.
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
    wanted = make_plan(published, where=where, scale=plan.scale, options=Options())
    if plan.scale != wanted.scale:
        return f"{plan.workload} is published at scale {format_plain(wanted.scale, 6)} only"
    for field in ("options", "saving", "title", "seed"):
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


def _difference_from_facts(plan: Plan, facts: RunFacts) -> str | None:
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


def _other_reference(plan: Plan, facts: RunFacts) -> str | None:
    reference, seconds = reference_of(plan)
    if facts.reference is None or facts.reference.version != reference.version:
        return None
    for job in facts.planned_jobs:
        if not isclose(job.reference_seconds or 0.0, seconds[job.job]):
            return f"the reference time of {job.job} is another than in mawl's table"
    return None


WORKLOAD_RULE = ValidationRule(
    number=8,
    name="workload",
    title="The workload is published (closed division), or declared as another one (open division)",
    shows="In the closed division, plan.toml is what this version of mawl makes from the published workload "
    "of that name, with the seed and every option of every job; the scale is free. run.json names the same "
    "jobs, with the reference times of mawl's table.",
    limits="Whether the plan ran: V07 and V09 check that. Reference times of another version of the table "
    "are not checked. In the open division any workload may run, and its figures are not compared with those "
    "of the closed division.",
    check=_check_workload,
)


VALIDITY_NUMBERS: tuple[tuple[int, str, str], ...] = (
    (9, "jobs", "Every job finished, and its answer was checked and right"),
    (10, "scale", "The scale is standard or larger"),
    (11, "duration", "The active phase lasted long enough"),
    (12, "reach", "What programs moved reached the devices"),
    (13, "residency", "The page cache was cold, or declared warm"),
    (14, "competition", "No other program used the machine"),
    (15, "writeback", "Memory held no earlier writes at the start"),
    (16, "clock", "The clock was not set during the run"),
    (17, "coverage", "I/O by role saw what the kernel saw"),
    (18, "sampling", "The run was sampled without gaps"),
    (19, "swap", "The system did not swap"),
    (20, "steal", "The hypervisor gave its processors to this machine"),
    (21, "frequency", "Processors kept their frequency"),
    (22, "drift", "Devices kept their throughput"),
    (23, "space", "File systems had space to spare"),
    (24, "overhead", "mawl itself used little of the processors"),
)
"""Number, rule of ``advice.validity`` and title.  ``repeats`` counts runs, and is V25."""

_VALIDITY_LIMITS = "Whether the run's own records are true."


OF_SINGLE_RUNS = ("scale", "duration")
"""Rules that, as V25, are not asked of a qualification: V29 says how many and how large its runs are."""


def _check_validity(rule: str, subject: ValidationSubject) -> Iterator[Fault] | None:
    if rule in OF_SINGLE_RUNS and subject.kind == "qualification":
        return None
    return validity_faults(rule, subject)


def validity_faults(rule: str, subject: ValidationSubject) -> Iterator[Fault]:
    """What one rule of validity found in the runs; a remark is no fault."""
    for name, run in subject.answering.items():
        validity = run.summary.validity
        for found in validity.findings:
            if found.rule == rule and found.severity != "remark":
                yield Fault(where=name, sentence=found.sentence, cure=found.cure)
        for unknown in validity.unmeasured:
            if unknown.rule == rule and unknown.severity != "remark":
                yield Fault(
                    where=name,
                    sentence=unknown.reason,
                    cure="see what mawl doctor says of this machine, or make a longer run",
                    known=False,
                )


def _shows(rule: ValidityRule) -> str:
    return " ".join((rule.check.__doc__ or "").split())


VALIDITY_RULES = tuple(
    ValidationRule(
        number=number,
        name=name,
        title=title,
        shows=_shows(RULES[name]),
        limits=_VALIDITY_LIMITS,
        check=partial(_check_validity, name),
    )
    for number, name, title in VALIDITY_NUMBERS
)


_REPEATS_CURE = f"run it with mawl run --repeat {FEWEST_REPEATS}, and pack the campaign"


def _check_repeats(subject: ValidationSubject) -> Iterator[Fault] | None:
    return None if subject.kind == "qualification" else _repeats_faults(subject)


def _repeats_faults(subject: ValidationSubject) -> Iterator[Fault]:
    arms = Counter(_arm(subject, name) for name in subject.runs)
    for name, run in subject.runs.items():
        there, said = arms[_arm(subject, name)], run.run.facts.repeats
        if there < FEWEST_REPEATS:
            sentence = f"{there} of the {FEWEST_REPEATS} runs that are required are here"
            yield Fault(where=name, sentence=sentence, cure=_REPEATS_CURE)
        elif said != there:
            sentence = f"says that it is one of {said} runs, and {there} are here"
            yield Fault(where=name, sentence=sentence, cure="pack the whole campaign, and nothing else")
    names = Counter(run.run.facts.run_id for run in subject.runs.values())
    for run_id, count in names.items():
        if count > 1:
            sentence = f"{count} of the runs are one and the same run"
            yield Fault(where=run_id, sentence=sentence, cure=_REPEATS_CURE)


def _arm(subject: ValidationSubject, name: str) -> tuple[str, str] | str:
    """What a run is a repeat of; a run without a campaign has no repeats."""
    part = subject.runs[name].run.facts.campaign
    return name if part is None else (part.name, part.arm)


REPEATS_RULE = ValidationRule(
    number=25,
    name="repeats",
    title="There are enough runs, and no run of the campaign is missing",
    shows=f"There are at least {FEWEST_REPEATS} runs of one arm of one campaign, as many as each of them "
    "says, and no run twice.",
    limits="Whether the campaign was the first: a maker can repeat it and publish only the best one.",
    check=_check_repeats,
)


_DISCLOSURE_CURE = "run it on a kernel and with permissions that show it (mawl doctor)"


def _check_disclosure(subject: ValidationSubject) -> Iterator[Fault]:
    for name, run in subject.answering.items():
        missing = list(undisclosed(run.run.facts))
        if missing:
            yield Fault(where=name, sentence=f"not known: {', '.join(missing)}", cure=_DISCLOSURE_CURE)


def undisclosed(facts: RunFacts) -> Iterator[str]:
    for node in facts.nodes:
        for field in ("kernel", "cpu_model", "cores", "core_basis", "memory_bytes"):
            if getattr(node, field) is None:
                yield f"{field} of {node.name}"
    if not facts.nodes:
        yield "the nodes"
    for volume in facts.volumes:
        for field in ("file_system", "source", "mount_point", "size_bytes"):
            if getattr(volume, field) is None:
                yield f"{field} of {volume.role}"
        if not volume.network and not volume.disks:
            yield f"disks of {volume.role}"
    roles = {volume.role for volume in facts.volumes}
    yield from (f"what holds {role}" for role in ("data", "work", "util") if role not in roles)
    for name in ("software", "settings", "command", "start_mode", "workload.options", "workload.seed"):
        value: object = facts
        for part in name.split("."):
            value = getattr(value, part)
        if value is None or value in ({}, []):
            yield name


DISCLOSURE_RULE = ValidationRule(
    number=26,
    name="disclosure",
    title="What a reader needs to repeat the run is known",
    shows="Processor, cores, memory and kernel of each node, file system, size and disks of each role, "
    "software versions, kernel settings, options, seed and command are in run.json.",
    limits="Whether the disks are what they report: a virtual machine sees only what its host shows.",
    check=_check_disclosure,
)


def _check_statement(subject: ValidationSubject) -> list[Fault]:
    assert subject.pack is not None
    statement = subject.pack.manifest.statement
    empty = [name for name in REQUIRED_FIELDS if not getattr(statement, name).strip()]
    if not empty:
        return []
    sentence = f"the statement says nothing of {', '.join(empty)}"
    cure = "fill in a file and pack with --statement FILE.toml"
    return [Fault(where=MANIFEST, sentence=sentence, cure=cure)]


STATEMENT_RULE = ValidationRule(
    number=27,
    name="statement",
    title="The statement of the maker is complete",
    shows=f"The statement has {', '.join(REQUIRED_FIELDS)}.",
    limits="Whether the statement is true.",
    check=_check_statement,
    of_packs=True,
)


EVERY: tuple[ValidationRule, ...] = (
    *INTEGRITY_RULES,
    WORKLOAD_RULE,
    *VALIDITY_RULES,
    REPEATS_RULE,
    DISCLOSURE_RULE,
    STATEMENT_RULE,
    *QUALIFICATION_RULES,
)
INTACT = frozenset(rule.number for rule in (*INTEGRITY_RULES, ANSWER_RULE))
"""Numbers of the rules that say whether figures are those that were measured, whatever they are worth."""


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """``accepted``: every rule that is asked was passed.  ``intact``: V01 to V07 and V28 were.

    ``division`` and ``statement`` are those of a pack, None for a folder.
    """

    subject: str
    accepted: bool
    intact: bool
    division: Division | None
    statement: SubmitterStatement | None
    runs: list[str]
    rulings: list[Ruling]


def validate(subject: ValidationSubject) -> Validation:
    """Ask every rule."""
    rulings = [ruling(rule, subject) for rule in EVERY]
    met = [one.state in ("passed", "not asked") for one in rulings]
    intact = [is_met for rule, is_met in zip(EVERY, met, strict=True) if rule.number in INTACT]
    manifest = None if subject.pack is None else subject.pack.manifest
    readable = bool(subject.runs)
    return Validation(
        subject=subject.name,
        accepted=all(met) and readable,
        intact=all(intact) and readable,
        division=None if manifest is None else manifest.division,
        statement=None if manifest is None else manifest.statement,
        runs=list(subject.folders),
        rulings=rulings,
    )


MOST_FAULTS = 5
CHECKS: dict[State, CheckState] = {
    "passed": "not met",
    "not asked": "not met",
    "failed": "failed",
    "not known": "not known",
}


def render(validation: Validation, width: int = LINE_WIDTH) -> str:
    """A line for each rule, what it found, and the answer, in lines of ``width``."""
    lines = [*wrapped(_head(validation), width, "  "), ""]
    for one in validation.rulings:
        lines += wrapped(f"{one.rule}  {one.state:<9}  {one.title}", width, " " * 16)
        told = [
            f"{printable(fault.where)}: {printable(fault.sentence)}" for fault in one.faults[:MOST_FAULTS]
        ]
        if len(one.faults) > MOST_FAULTS:
            told.append(f"and {len(one.faults) - MOST_FAULTS} more")
        told += [f"fix: {cure}" for cure in dict.fromkeys(fault.cure for fault in one.faults)]
        lines += [line for text in told for line in wrapped(f"       {text}", width, " " * 9)]
    answer = (line for text in _answer(validation) for line in wrapped(text, width, "  "))
    return "\n".join([*lines, "", *answer]) + "\n"


def checks_of(validation: Validation) -> list[ConditionCheck]:
    """Each rule as a check of ``--junit``."""
    return [
        ConditionCheck(
            name=f"{one.rule} {one.name}",
            subject=validation.subject,
            state=CHECKS[one.state],
            sentence=_sentence(one),
        )
        for one in validation.rulings
    ]


def _sentence(one: Ruling) -> str:
    if not one.faults:
        return f"{one.title}: {one.state}"
    return "; ".join(f"{fault.where}: {fault.sentence}" for fault in one.faults[:MOST_FAULTS])


def _head(validation: Validation) -> str:
    runs = counted_noun(len(validation.runs), "run")
    division = "" if validation.division is None else f", {validation.division} division"
    submitter = validation.statement.submitter if validation.statement is not None else ""
    said = f", submitted by {printable(submitter)}" if submitter else ""
    return f"{printable(validation.subject)}: {runs}{division}{said}"


def _answer(validation: Validation) -> list[str]:
    failed = [one.rule for one in validation.rulings if one.state == "failed"]
    unknown = [one.rule for one in validation.rulings if one.state == "not known"]
    if validation.accepted:
        return ["accepted: every rule is met"]
    parts = [
        f"{name} {', '.join(rules)}" for name, rules in (("failed", failed), ("not known", unknown)) if rules
    ]
    kept = (
        "its figures are those of its tables, and are not fit to publish"
        if validation.intact
        else "its figures cannot be relied on"
    )
    return [f"not accepted: {'; '.join(parts) or 'no run could be read'}", kept]
