"""Which jobs the clock started, and which started when another job had ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from mawl.analysis.chains import MOST_AFTER, STAMP_SECONDS, followed
from mawl.model.records import JobRecord

Arrivals = Literal["clock", "closed"]


class Arrival(msgspec.Struct, frozen=True):
    """The order of a job: its lane, the jobs that it followed, and its second of the clock (0: at once)."""

    lane: str
    after: tuple[str, ...]
    start_seconds: float


def places(jobs: Sequence[JobRecord], starts_at: float, arrivals: Arrivals) -> dict[str, Arrival]:
    """The place of each job, by its name.

    A lane is a session, or a part of one where its jobs overlap, so that jobs of a lane ran one after
    another.  A job that was in the queue of a scheduler while one that it followed still ran does not
    start before the time at which it could run.  With ``closed`` arrivals each job of a lane waits for the
    one before it, none for the clock.
    """
    found: dict[str, Arrival] = {}
    sessions: dict[tuple[str, str], list[JobRecord]] = {}
    for job in sorted(jobs, key=lambda job: (job.started_at is None, job.started_at or 0.0, job.stage)):
        sessions.setdefault((job.node, job.session), []).append(job)
    for (node, session), mine in sessions.items():
        lanes: list[list[JobRecord]] = []
        for number, job in enumerate(mine):
            lane = _lane(lanes, job)
            before = lanes[lane][-1] if lanes[lane] else None
            lanes[lane].append(job)
            name = f"{node} {session} {lane}"
            if arrivals == "closed" or job.started_at is None:
                found[job.job] = Arrival(name, () if before is None else (before.job,), 0.0)
                continue
            near = mine[max(number - MOST_AFTER, 0) : number]
            after = followed(job, near)
            begins = queued_since(job, after) if after else job.started_at
            offset = 0.0 if begins is None else max(begins - starts_at, 0.0)
            found[job.job] = Arrival(name, tuple(one.job for one in after), offset)
    return found


def queued_since(job: JobRecord, before: Sequence[JobRecord]) -> float | None:
    """When a job that followed others could run, if it then waited in a queue while one of them still ran.

    None if its queue time is unknown, or if it could run only once they had ended: then their end, and not
    the clock, let it start.
    """
    if job.started_at is None or job.queue_seconds is None:
        return None
    since = job.started_at - job.queue_seconds
    last = max((one.ended_at for one in before if one.ended_at is not None), default=None)
    return since if last is not None and since < last - STAMP_SECONDS else None


def _lane(lanes: list[list[JobRecord]], job: JobRecord) -> int:
    """The first lane that is free when the job starts, a new one where none is."""
    for number, lane in enumerate(lanes):
        end = lane[-1].ended_at
        if job.started_at is None or end is None or end <= job.started_at + STAMP_SECONDS:
            return number
    lanes.append([])
    return len(lanes) - 1


def renamed(place: Arrival, names: Mapping[str, str]) -> tuple[str, ...]:
    """The jobs of ``after`` by their names in the derived folder; those left out are not waited for."""
    return tuple(names[name] for name in place.after if name in names)
