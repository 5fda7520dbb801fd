"""Which jobs of a session had just ended when another of its jobs started."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.records import JobRecord

FOLLOW_SECONDS = 5.0
"""A job that starts at most so long after the end of another in its session followed it (a convention):
timestamps are to the second, and a scheduler takes some to start the next."""

STAMP_SECONDS = 1.0
MOST_AFTER = 50


def followed(job: JobRecord, before: Sequence[JobRecord], waited_seconds: float = 0.0) -> tuple[str, ...]:
    """The jobs of the session that had just ended: several where they ran side by side.

    With ``waited_seconds``, the time that the job was in a queue before its start, also those that ended
    meanwhile.
    """
    start = job.started_at
    if start is None:
        return ()
    near = [
        one
        for one in before
        if one.ended_at is not None
        and -STAMP_SECONDS <= start - one.ended_at <= FOLLOW_SECONDS + waited_seconds
        and (one.started_at or 0.0) < start
    ]
    return tuple(one.job for one in near)
