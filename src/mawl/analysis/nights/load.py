"""What the jobs of a night used."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import msgspec

from mawl.analysis.concurrency import peak
from mawl.model.records import JobRecord

BLOCK_BYTES = 512
"""Of a block operation on Linux (getrusage(2), ru_inblock and ru_oublock)."""


class NightLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs that started in a night used, by the totals of their logs.

    A job without a total adds nothing to it.  A sum is None if no job has the figure.  ``block_bytes`` is
    also None if a job counted operations of a size that is not known on its platform.
    ``peak_jobs`` is the most jobs that ran at one time, of those whose start and end are known.
    """

    jobs: int
    cpu_seconds: float | None
    real_seconds: float | None
    block_bytes: float | None
    peak_jobs: int


def load_of(jobs: Sequence[JobRecord], unsized: Collection[str] = ()) -> NightLoad:
    """What these jobs used together; on ``unsized`` nodes the size of a block operation is not known."""
    counted = [
        (job.node, count)
        for job in jobs
        for count in (job.usage.block_input_operations, job.usage.block_output_operations)
        if count is not None
    ]
    sized = not any(node in unsized for node, _ in counted)
    spans = [
        (job.started_at, job.ended_at)
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ]
    return NightLoad(
        jobs=len(jobs),
        cpu_seconds=_sum(job.usage.cpu_seconds for job in jobs),
        real_seconds=_sum(job.usage.real_time_seconds for job in jobs),
        block_bytes=float(sum(count for _, count in counted) * BLOCK_BYTES) if counted and sized else None,
        peak_jobs=peak(spans),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known else None
