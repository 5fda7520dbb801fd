"""Which job ran when in which session: the rows of a Gantt chart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from mawl.model.records import EventRecord, JobRecord, ProgramClass
from mawl.model.role_io import Waits
from mawl.model.run import PlannedJob, RunFacts

RUNNING = "running"


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """A job in its row; times are seconds since the first start of a job.

    ``outcome`` is ``running`` for a job that had not ended when the folder was read.
    """

    job: str
    program: str
    program_class: ProgramClass
    session: str
    node: str
    row: int
    start_seconds: float
    end_seconds: float
    outcome: str
    real_time_seconds: float | None
    waits: Waits


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """``rows`` are the names of the sessions; one with jobs side by side has several rows of its name."""

    bars: list[Bar]
    rows: list[str]


def sessions(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    events: Iterable[EventRecord],
    started_at: float,
    read_at: float,
) -> Sessions:
    """Bars of all jobs that started: from their records, and from the events of those still running.

    ``started_at`` is the first start of a job, ``read_at`` how far the run was when it was read, both
    in seconds since the epoch.  A session is named ``NODE session`` where there are several nodes.
    """
    several = len({job.node for job in jobs} | {planned.node for planned in facts.planned_jobs}) > 1
    begun: list[tuple[float, float, JobRecord | PlannedJob]] = [
        (job.started_at, job.ended_at or read_at, job) for job in jobs if job.started_at is not None
    ]
    begun += _running(facts, jobs, events, read_at)
    found: list[tuple[str, float, float, JobRecord | PlannedJob]] = [
        (f"{job.node} {job.session}" if several else job.session, start, max(start, end), job)
        for start, end, job in begun
    ]
    found.sort(key=lambda one: (natural(one[0]), one[1]))
    bars: list[Bar] = []
    rows: list[str] = []
    lanes: list[float] = []
    for number, (name, start, end, job) in enumerate(found):
        if number == 0 or name != found[number - 1][0]:
            lanes = []
        lane = next((place for place, until in enumerate(lanes) if until <= start), len(lanes))
        if lane == len(lanes):
            lanes.append(end)
            rows.append(name)
        lanes[lane] = end
        row = len(rows) - len(lanes) + lane
        bars.append(_bar(job, name, row, start - started_at, end - started_at))
    return Sessions(bars=bars, rows=rows)


def _running(
    facts: RunFacts, jobs: Sequence[JobRecord], events: Iterable[EventRecord], read_at: float
) -> list[tuple[float, float, PlannedJob]]:
    """Jobs that started and left no record yet."""
    ended = {job.job for job in jobs}
    planned = {job.job: job for job in facts.planned_jobs}
    return [
        (event.happened_at, read_at, planned[event.job])
        for event in events
        if event.event == "job_started" and event.job in planned and event.job not in ended
    ]


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts ``s2`` before ``s10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d{1,18})", name)]


def _bar(job: JobRecord | PlannedJob, session: str, row: int, start: float, end: float) -> Bar:
    record = job if isinstance(job, JobRecord) else None
    return Bar(
        job=job.job,
        program=job.program,
        program_class=job.program_class,
        session=session,
        node=job.node,
        row=row,
        start_seconds=start,
        end_seconds=end,
        outcome=record.outcome if record else RUNNING,
        real_time_seconds=record.usage.real_time_seconds if record else None,
        waits=record.waits if record else Waits(),
    )
