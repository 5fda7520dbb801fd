"""Which jobs of a session had just ended when another of its jobs started."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.records import JobRecord

FOLLOW_SECONDS = 5.0
"""A job followed another of its session if it started at most so long after that one's end (a convention):
timestamps are to the second, and a scheduler takes some seconds to start the next job."""

STAMP_SECONDS = 1.0
MOST_AFTER = 50


def followed(job: JobRecord, before: Sequence[JobRecord], waited_seconds: float = 0.0) -> list[JobRecord]:
    """The jobs of ``before`` (of the same session) that had just ended: several if they ran at the same time.

    With ``waited_seconds``, the queue time of the job, also those that ended while it was in the queue.
    """
    start = job.started_at
    if start is None:
        return []
    return [
        one
        for one in before
        if one.ended_at is not None
        and -STAMP_SECONDS <= start - one.ended_at <= FOLLOW_SECONDS + waited_seconds
        and (one.started_at or 0.0) < start
    ]
