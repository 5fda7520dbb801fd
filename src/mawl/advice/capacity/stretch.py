"""Stretch: a job's real time in the mix over that of its program alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from mawl.analysis.blocks import Missing, counted
from mawl.model.records import JobRecord
from mawl.model.run import Alone


def stretches(jobs: Sequence[JobRecord], alone: Sequence[Alone]) -> dict[str, tuple[str, float]]:
    """Job to (program, stretch), for the jobs that count and have a baseline."""
    baselines = {job: baseline for baseline in alone for job in baseline.jobs}
    return {
        job.job: (job.program, job.usage.real_time_seconds / baselines[job.job].real_time_seconds)
        for job in counted(jobs)
        if job.job in baselines
        and job.usage.real_time_seconds is not None
        and baselines[job.job].real_time_seconds > 0
    }


def by_program(found: dict[str, tuple[str, float]]) -> dict[str, float]:
    """Median stretch of each program's jobs."""
    values: dict[str, list[float]] = {}
    for program, stretch in found.values():
        values.setdefault(program, []).append(stretch)
    return {program: statistics.median(own) for program, own in values.items()}


def stretch_block(
    jobs: Sequence[JobRecord], alone: Sequence[Alone], most: float, missing: Missing
) -> dict[str, Any]:
    """``capacity.stretch``: median and 90th percentile over jobs, and how many of them have a baseline."""
    found = stretches(jobs, alone)
    values = sorted(stretch for _, stretch in found.values())
    if not values:
        reason = "no program was run alone on this system at this scale and options (mawl run --solo)"
        missing |= {f"capacity.stretch.{name}": reason for name in ("median", "p90", "longest")}
    return {
        "median": statistics.median(values) if values else None,
        "p90": percentile(values, 0.9) if values else None,
        "longest": values[-1] if values else None,
        "most": most,
        "by_job": {job: stretch for job, (_, stretch) in found.items()},
        "jobs": len(values),
        "counted": len(counted(jobs)),
    }


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value at ``share`` of an ascending list, straight between neighbours."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
