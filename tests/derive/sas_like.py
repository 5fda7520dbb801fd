"""A run's logs as SAS would have written them: sorts and joins with their utility files in one step.

mawl's programs write the partitions of a sort or a join in a separate step, and its logs name the tables of
utility files.  SAS does both within the procedure, whose notes name the tables that it reads and
writes; it writes no note on utility files, and none on what SQL reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from mawl.derive.derive import Derivation
from mawl.derive.jobs import StepEvidence
from mawl.derive.step_bytes import Parts, ends_of
from mawl.derive.tables import Ranged, exactly
from mawl.importers.formats.saslog_write import job_log
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import Pass, Program, Step
from mawl.records.model.records import StepRecord, total
from mawl.records.spec.program_options import ROLES
from mawl.records.store import Run
from tests.derive.oracle import Noted

_Part = TypeVar("_Part")

OTHER_NAME = "-of-sas"
"""Added to the name of a program, so that its declaration is not taken from the catalogue."""


def sas_log(run: Run, noted: Noted | None = None) -> str:
    """The logs of all jobs of programs of the catalogue; ``noted`` leaves less of the figures of a step."""
    steps = run.steps_by_job()
    platforms = {node.name: node.kernel for node in run.facts.nodes}
    texts = []
    for job in run.job_records():
        program = CATALOGUE[job.program]
        shown = [step for step in steps[job.job] if step.kind in ("data", "procedure")]
        declared = _groups(program)
        assert [step.name for step in chain(*declared)] == [step.name for step in shown]
        other = msgspec.structs.replace(
            program, name=program.name + OTHER_NAME, steps=tuple(_declared(program, one) for one in declared)
        )
        text = job_log(
            msgspec.structs.replace(job, program=other.name),
            [_one(part, other, noted) for part in _parts(shown, declared)],
            platform=platforms.get(job.node),
            program=other,
        )
        texts.append(text.replace(other.name, program.name))
    return "\n".join(texts)


def as_sas_counts(truth: Derivation) -> Derivation:
    """What was counted, with steps as ``sas_log`` has them."""
    jobs = tuple(
        msgspec.structs.replace(
            job,
            steps=tuple(map(_summed, _parts(job.steps, _groups(CATALOGUE[job.program])))),
        )
        for job in truth.evidence.jobs
    )
    return msgspec.structs.replace(truth, evidence=msgspec.structs.replace(truth.evidence, jobs=jobs))


def _groups(program: Program) -> list[list[Step]]:
    """The steps of a program; one that writes utility files is one with the next, if that reads them."""
    util = _util(program)
    groups: list[list[Step]] = []
    for step in program.steps:
        if step.kind not in ("data", "procedure"):
            continue
        wrote = {one.table for one in groups[-1][-1].writes} if groups else set()
        if wrote & util & {one.table for one in step.reads}:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _util(program: Program) -> set[str]:
    return {one.name for one in program.temporaries if one.role == "util"}


def _declared(program: Program, group: Sequence[Step]) -> Step:
    """The step as its notes show it."""
    util, last = _util(program), group[-1]

    def named(passes: Iterator[Pass]) -> tuple[Pass, ...]:
        return tuple(one for one in passes if one.table not in util)

    reads = () if last.procedure == "SQL" else named(one for step in group for one in step.reads)
    return msgspec.structs.replace(
        last, reads=reads, writes=named(one for step in group for one in step.writes)
    )


def _parts(steps: Sequence[_Part], groups: Sequence[Sequence[Step]]) -> Iterator[list[_Part]]:
    left = iter(steps)
    for group in groups:
        yield [next(left) for _ in group]


def _one(steps: Sequence[StepRecord], program: Program, noted: Noted | None) -> StepRecord:
    first, last = steps[0], steps[-1]
    usage = total(step.usage for step in steps)
    declared = next(one for one in program.steps if one.name == last.name)
    whole = next(
        one for one in CATALOGUE[program.name.removesuffix(OTHER_NAME)].steps if one.name == last.name
    )
    rows = last.rows_written
    if rows is not None and declared.writes:
        # No note counts the rows of utility files; tables of one step have equally many.
        rows = rows * len(declared.writes) // len(whole.writes)
    return msgspec.structs.replace(
        last,
        started_at=first.started_at,
        usage=usage if noted is None else noted(usage),
        rows_read=first.rows_read if declared.reads else None,
        rows_written=rows if declared.writes else None,
    )


def _summed(steps: Sequence[StepEvidence]) -> StepEvidence:
    read = _sums([step.read_bytes for step in steps])
    written = _sums([step.written_bytes for step in steps])
    return msgspec.structs.replace(
        steps[-1],
        cpu_seconds=exactly(sum(step.cpu_seconds.value for step in steps), "counted"),
        memory_bytes=max((step.memory_bytes for step in steps), key=_value),
        read_bytes=read,
        written_bytes=written,
        read_bytes_range=ends_of(read),
        written_bytes_range=ends_of(written),
    )


def _sums(many: Sequence[Parts]) -> Parts:
    return {role: exactly(sum(one[role].value for one in many if role in one), "counted") for role in ROLES}


def _value(part: Ranged) -> float:
    return part.value
