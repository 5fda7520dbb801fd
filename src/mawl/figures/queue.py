"""How long jobs waited in the queue of their scheduler, and how much of the last chain was queue."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mawl.base.units import format_instant
from mawl.figures.imported import why_not_one_run
from mawl.figures.missing import Missing, ratio
from mawl.figures.sessions import MOST_AFTER, Timeline, predecessors
from mawl.records.model.records import JobRecord
from mawl.records.model.summary.programs import Queue, QueueChain, QueuedJob, QueueTimes

MOST_LONGEST = 10


def queue_block(jobs: Sequence[JobRecord], line: Timeline | None, missing: Missing) -> Queue | None:
    """The block; None if no job of the run was found in the history of a scheduler."""
    submitted = [job for job in jobs if job.submitted_at is not None]
    if not submitted:
        return None
    known = [job for job in submitted if job.queue_seconds is not None]
    if not known:
        missing["queue.times"] = "the scheduler's history does not separate the queue from other waits"
    programs: dict[str, list[JobRecord]] = {}
    for job in known:
        programs.setdefault(job.program, []).append(job)
    return Queue(
        submitted=len(submitted),
        times=times_of(known),
        chain=_chain(jobs, line, missing),
        programs={name: found for name in sorted(programs) if (found := times_of(programs[name]))},
        longest=[
            _queued(job) for job in sorted(known, key=lambda job: -_queue(job))[:MOST_LONGEST] if _queue(job)
        ],
    )


def _queue(job: JobRecord) -> float:
    return job.queue_seconds or 0.0


def times_of(jobs: Sequence[JobRecord]) -> QueueTimes | None:
    """Queue times of the jobs that have one; None if none has."""
    waited = [job.queue_seconds for job in jobs if job.queue_seconds is not None]
    if not waited:
        return None
    return QueueTimes(
        jobs=len(waited),
        median_seconds=statistics.median(waited),
        p95_seconds=float(np.quantile(waited, 0.95)),
        most_seconds=max(waited),
        sum_seconds=sum(waited),
    )


def _queued(job: JobRecord) -> QueuedJob:
    return QueuedJob(
        job=job.job,
        program=job.program,
        submitted_at=None if job.submitted_at is None else format_instant(job.submitted_at),
        queue_seconds=_queue(job),
        real_time_seconds=job.usage.real_time_seconds,
    )


def _chain(jobs: Sequence[JobRecord], line: Timeline | None, missing: Missing) -> QueueChain | None:
    apart = None if line is None else why_not_one_run(line)
    if apart is not None:
        missing["queue.chain"] = apart
        return None
    return chain_of(jobs, missing)


def chain_of(jobs: Sequence[JobRecord], missing: Missing) -> QueueChain | None:
    """How much of the chain that ended last was queue; None, with the reason, if that is not known."""
    chain = last_chain(jobs)
    if not chain:
        missing["queue.chain"] = "no job has both a start and an end"
        return None
    lacking = sum(job.queue_seconds is None for job in chain)
    if lacking:
        missing["queue.chain"] = (
            f"{lacking} of the {len(chain)} jobs of the chain that ended last have no queue time"
        )
        return None
    first, last = chain[0], chain[-1]
    queue = _queue(first) + sum(
        min(_queue(job), max((job.started_at or 0.0) - (before.ended_at or 0.0), 0.0))
        for before, job in pairwise(chain)
    )
    length = (last.ended_at or 0.0) - (first.started_at or 0.0) + _queue(first)
    return QueueChain(
        jobs=len(chain),
        length_seconds=length,
        queue_seconds=queue,
        queue_ratio=ratio(queue, length, "queue.chain.queue_ratio", missing),
    )


def last_chain(jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs that led to the last end, first to last: each but the first followed one of its session.

    A job that was in a queue followed the last one that ended while it was there, or at most
    ``FOLLOW_SECONDS`` earlier: schedulers start jobs in cycles, often more than a
    few seconds after a slot became free.
    """
    timed = [job for job in jobs if job.started_at is not None and job.ended_at is not None]
    if not timed:
        return []
    chain = [max(timed, key=lambda job: job.ended_at or 0.0)]
    mine = [job for job in timed if (job.node, job.session) == (chain[0].node, chain[0].session)]
    mine.sort(key=lambda job: (job.started_at or 0.0, job.stage))
    by_name = {job.job: place for place, job in enumerate(mine)}
    while True:
        place = by_name[chain[-1].job]
        near = mine[max(place - MOST_AFTER, 0) : place]
        before = predecessors(chain[-1], near, _queue(chain[-1]))
        if not before:
            return chain[::-1]
        chain.append(max(before, key=lambda job: job.ended_at or 0.0))
