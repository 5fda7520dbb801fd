"""A run of derived jobs made up for the test: every figure is a known multiple of what was asked."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from mawl.plan.derived_jobs import encoded
from mawl.records.model.derived import DerivedJob, DerivedWorkload
from mawl.records.model.records import JobRecord, StepRecord, Usage
from mawl.records.model.role_io import RoleIo
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.store import Run, open_run
from mawl.records.store.folder import RunWriter
from tests.fakes.stored_run import PLAN, START, facts
from tests.fakes.stored_run import job as job_record

SLOWER, MORE_CPU, MORE_MEMORY = 1.5, 1.25, 1.5
"""Real time, CPU time and memory of the run over what the derived jobs ask; bytes are as asked."""


def replayed_run(
    folder: Path,
    asked: DerivedWorkload,
    *,
    slower: float = SLOWER,
    failed: Collection[str] = (),
    without: Collection[str] = (),
    counted: bool = True,
    **changes: object,
) -> Run:
    """A stored run of the jobs by the clock; those of ``failed`` failed, those of ``without`` have no record.

    ``counted``: with I/O by role.
    """
    some = facts(**{"derived": "digest", "outcome": "completed", "outcome_reason": None, **changes})
    if "workload" not in changes:
        some = replace(some, workload=replace(some.workload, scale=1.0, jobs=len(asked.jobs)))
    writer = RunWriter(folder, some, plan=PLAN, derived=encoded(asked))
    ends: dict[str, float] = {}
    for one in asked.jobs:
        if one.name in without:
            continue
        start = max([one.start_seconds, *(ends[name] for name in one.after if name in ends)])
        record, steps = _ran(one, start, slower, one.name in failed, some, counted)
        assert record.ended_at is not None
        ends[one.name] = record.ended_at - START
        writer.job(record)
        for step in steps:
            writer.step(step)
    writer.finish(some)
    writer.close()
    return open_run(folder)


def _ran(
    one: DerivedJob, start: float, slower: float, failed: bool, some: RunFacts, counted: bool
) -> tuple[JobRecord, list[StepRecord]]:
    scale = some.workload.scale or 1.0
    steps, at = [], start
    for number, step in enumerate(one.steps, 1):
        seconds = (step.real_seconds or 0.0) * slower * scale
        steps.append(
            StepRecord(
                job=one.name,
                number=number,
                name=step.name,
                kind="data" if step.procedure == "DATA" else "procedure",
                started_at=START + at,
                ended_at=START + at + seconds,
                usage=Usage(
                    real_time_seconds=seconds,
                    user_cpu_seconds=step.cpu_seconds * MORE_CPU * scale,
                    system_cpu_seconds=0.0,
                    memory_bytes=round(step.memory_bytes * MORE_MEMORY * scale),
                ),
                io={
                    role: RoleIo(
                        read_bytes=round(step.load(role).read_bytes * scale),
                        written_bytes=round(step.load(role).written_bytes * scale),
                    )
                    for role in ROLES
                }
                if counted
                else None,
            )
        )
        at += seconds
    record = replace(
        job_record("s1-1", start, at),
        job=one.name,
        program=one.name,
        outcome="failed" if failed else "finished",
        verified=not failed,
    )
    return record, steps
