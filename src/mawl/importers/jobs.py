"""Imported jobs as records of a run: nodes, sessions by overlap, waits as far as they are known."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from mawl.importers.interface import ImportedJob, ScheduledJob
from mawl.records.model.records import JobOutcome, JobRecord, Usage
from mawl.records.model.role_io import Waits

FOLLOW_SECONDS = 5.0
"""A job that starts so soon after the end of another followed it."""
SECONDS_OF_A_STAMP = 1.0
"""Timestamps are to the second, so that a job may seem to begin up to one before the last one ended."""


class Placed(NamedTuple):
    """A job, the number of its file, the node it ran on, and the job of a scheduler that started it."""

    job: ImportedJob
    file: int
    node: str
    scheduled: ScheduledJob | None = None


def job_records(placed: Sequence[Placed]) -> list[JobRecord]:
    """The records, in order of their starts, those without one last."""
    sessions = _sessions(placed)
    return [
        _record(one, session, stage)
        for one, (session, stage) in sorted(
            zip(placed, sessions, strict=True),
            key=lambda pair: (pair[0].job.started_at is None, pair[0].job.started_at or 0.0),
        )
    ]


def _sessions(placed: Sequence[Placed]) -> list[tuple[str, int]]:
    """Session and stage of each job.

    A log's own session where it names one; else the sessions are inferred: in the order of their starts each
    job goes into the session whose last job ended just before it, else into the one that has been free the
    longest, into a new one where none is free: the fewest sessions that could have run them.  Jobs of a file
    without times are one session.
    """
    taken = {one.job.session for one in placed if one.job.session}
    numbers = (f"s{number}" for number in range(1, 10**9) if f"s{number}" not in taken)
    found: dict[int, str] = {}
    for node in sorted({one.node for one in placed}):
        free: list[tuple[float, int, str]] = []
        timed = [
            (one.job.started_at, max(one.job.started_at, one.job.ended_at), index)
            for index, one in enumerate(placed)
            if one.node == node
            and not one.job.session
            and one.job.started_at is not None
            and one.job.ended_at is not None
        ]
        for start, end, index in sorted(timed):
            reusable = free and free[0][0] <= start + SECONDS_OF_A_STAMP
            name = _taken_from(free, start) if reusable else next(numbers)
            found[index] = name
            heapq.heappush(free, (end, index, name))
    by_file: dict[int, str] = {}
    for index, one in enumerate(placed):
        if one.job.session:
            found[index] = one.job.session
        elif index not in found:
            found[index] = by_file.get(one.file) or by_file.setdefault(one.file, next(numbers))
    return _with_stages(placed, found)


def _taken_from(free: list[tuple[float, int, str]], start: float) -> str:
    """The session of a heap by their ends that a job at ``start`` goes on in, which leaves the heap."""
    followed = [one for one in free if -SECONDS_OF_A_STAMP <= start - one[0] <= FOLLOW_SECONDS]
    if not followed:
        return heapq.heappop(free)[2]
    last = max(followed)
    free.remove(last)
    heapq.heapify(free)
    return last[2]


def _with_stages(placed: Sequence[Placed], sessions: dict[int, str]) -> list[tuple[str, int]]:
    stages: dict[str, int] = {}
    result: list[tuple[str, int]] = [("", 0)] * len(placed)
    order = sorted(range(len(placed)), key=lambda index: (placed[index].job.started_at or 0.0, index))
    for index in order:
        name = sessions[index]
        stages[name] = stages.get(name, 0) + 1
        result[index] = (name, placed[index].job.stage or stages[name])
    return result


def _end(one: Placed) -> tuple[JobOutcome, str | None]:
    """How a job ended; one whose log just stops did not finish if its scheduler says what stopped it."""
    job, scheduled = one.job, one.scheduled
    stopped = scheduled.stopped if scheduled else None
    if stopped and job.outcome == "finished" and "usage" in job.missing:
        return "lost", f"the log has no session total, and the scheduler says what ended the job: {stopped}"
    return job.outcome, job.reason


def _record(one: Placed, session: str, stage: int) -> JobRecord:
    job = one.job
    outcome, reason = _end(one)
    return JobRecord(
        job=job.job,
        program=job.program,
        program_class=job.program_class,
        session=session,
        stage=stage,
        node=one.node,
        replica=0,
        gate=None,
        trail_out=job.trail_out,
        outcome=outcome,
        verified=job.verified,
        reason=reason,
        started_at=job.started_at,
        ended_at=job.ended_at,
        usage=job.usage,
        startup=Usage(),
        verify=Usage(),
        total=job.usage,
        steps=job.steps,
        waits=Waits(on_cpu_seconds=job.usage.cpu_seconds),
        submitted_at=one.scheduled.submitted_at if one.scheduled else None,
        queue_seconds=one.scheduled.queue_seconds if one.scheduled else None,
    )
