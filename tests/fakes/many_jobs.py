"""A run folder of very many jobs that differ in their usage and their I/O by role."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec

from mawl.records.model.run import PLANNED_FIELDS, PlannedJob
from mawl.records.store.folder import RunWriter
from tests.fakes.stored_run import START, facts, jobs

SESSIONS = 30


def write_many_jobs(folder: Path, count: int) -> None:
    """Write ``count`` jobs in 30 sessions, each with figures of its own; the folder is not there yet."""
    draw = random.Random(1)
    finished = [job for job in jobs() if job.outcome == "finished"]
    made = []
    for number in range(count):
        like, session, began = finished[number % len(finished)], f"s{number % SESSIONS}", START + number * 0.1
        made.append(
            msgspec.structs.replace(
                like,
                job=f"{session}-{number}",
                session=session,
                started_at=began,
                ended_at=began + 2.0,
                usage=_varied(like.usage, draw),
                io=_varied(like.io, draw),
            )
        )
    planned = [PlannedJob(**{name: getattr(job, name) for name in PLANNED_FIELDS}) for job in made]
    usual = facts(outcome="completed")
    told = msgspec.structs.replace(
        usual, planned_jobs=planned, workload=msgspec.structs.replace(usual.workload, jobs=count)
    )
    writer = RunWriter(folder, told)
    for job in made:
        writer.job(job)
    writer.finish(told)


def _varied(value: Any, draw: random.Random) -> Any:
    """The same with every number a little larger; zeros of seconds stay."""
    if isinstance(value, dict):
        return {key: _varied(member, draw) for key, member in value.items()}
    if isinstance(value, msgspec.Struct):
        fields = {name: _varied(getattr(value, name), draw) for name in value.__struct_fields__}
        return msgspec.structs.replace(value, **fields)
    if isinstance(value, float):
        return value * (1.0 + draw.random() / 100.0)
    return value + draw.randrange(1, 1000) if isinstance(value, int) else value
