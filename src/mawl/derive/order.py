"""Which jobs the clock started, and which started when another job had ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from mawl.model.records import JobRecord

Arrivals = Literal["clock", "closed"]

FOLLOW_SECONDS = 5.0
"""A job that starts at most so long after the end of another in its session followed it (a convention):
timestamps are to the second, and a scheduler takes some to start the next."""

STAMP_SECONDS = 1.0
MOST_AFTER = 50


class Arrival(msgspec.Struct, frozen=True):
    """The order of a job: its lane, the jobs that it followed, and its second of the clock (0: at once)."""

    lane: str
    after: tuple[str, ...]
    start_seconds: float


def places(jobs: Sequence[JobRecord], starts_at: float, arrivals: Arrivals) -> dict[str, Arrival]:
    """The place of each job, by its name.

    A lane is a session, or a part of one where its jobs overlap, so that jobs of a lane ran one after
    another.  With ``closed`` arrivals each job of a lane waits for the one before it, none for the clock.
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
            after = _followed(job, mine[max(number - MOST_AFTER, 0) : number])
            offset = max(job.started_at - starts_at, 0.0)
            found[job.job] = Arrival(name, after, 0.0 if after else offset)
    return found


def _lane(lanes: list[list[JobRecord]], job: JobRecord) -> int:
    """The first lane that is free when the job starts, a new one where none is."""
    for number, lane in enumerate(lanes):
        end = lane[-1].ended_at
        if job.started_at is None or end is None or end <= job.started_at + STAMP_SECONDS:
            return number
    lanes.append([])
    return len(lanes) - 1


def _followed(job: JobRecord, before: Sequence[JobRecord]) -> tuple[str, ...]:
    """The jobs of the session that had just ended: several where they ran side by side."""
    start = job.started_at
    if start is None:
        return ()
    near = [
        one
        for one in before
        if one.ended_at is not None
        and -STAMP_SECONDS <= start - one.ended_at <= FOLLOW_SECONDS
        and (one.started_at or 0.0) < start
    ]
    return tuple(one.job for one in near)


def renamed(place: Arrival, names: Mapping[str, str]) -> tuple[str, ...]:
    """The jobs of ``after`` by their names in the derived folder; those left out are not waited for."""
    return tuple(names[name] for name in place.after if name in names)
