"""Where the jobs' time went: on CPU, waiting for one, blocked by role."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Missing, sum_of
from mawl.analysis.states import FITS_RATIO
from mawl.model.records import JobRecord
from mawl.model.role_io import FILE_ROLES, WAIT_FIELDS, Waits
from mawl.model.summary.waits import Blocked, KnownWait, Wait


def wait_block(jobs: Sequence[JobRecord], missing: Missing) -> Wait | None:
    """Sums over the jobs that count; None for a part that one of them lacks, and for all where no job
    has any (a run of an older mawl).  ``known`` holds the sums over the jobs that lack none."""
    if all(job.waits == Waits() for job in jobs):
        return None
    most = blocked_at_most(jobs, missing)
    too_long = sum_of_threads(jobs)
    if too_long is not None:
        paths = ["on_cpu_seconds", "run_queue_seconds", *(f"blocked_seconds.{role}" for role in FILE_ROLES)]
        missing |= {f"wait.{path}": too_long for path in [*paths, "known"]}
        return Wait(
            on_cpu_seconds=None,
            run_queue_seconds=None,
            blocked_seconds=Blocked(**dict.fromkeys(FILE_ROLES)),
            blocked_at_most_seconds=most,
            known=None,
        )
    complete = [job for job in jobs if None not in _states(job)]
    if not complete:
        missing["wait.known"] = "no job that counts has its whole time by state"
    return Wait(
        on_cpu_seconds=_sum(jobs, "on_cpu_seconds", "wait.on_cpu_seconds", missing),
        run_queue_seconds=_sum(jobs, "run_queue_seconds", "wait.run_queue_seconds", missing),
        blocked_seconds=_blocked(jobs, missing),
        blocked_at_most_seconds=most,
        known=_known(complete) if complete else None,
    )


def sum_of_threads(jobs: Sequence[JobRecord]) -> str | None:
    """Why the waits of these jobs cannot be those of jobs; None where they can be."""
    beyond = sum(of_threads(job) for job in jobs)
    if not beyond:
        return None
    jobs_have = f"{beyond} of the {len(jobs)} jobs that count {'has' if beyond == 1 else 'have'}"
    return f"{jobs_have} waits longer than the job: older formats add up the waits of threads"


def _states(job: JobRecord) -> list[float | None]:
    return [getattr(job.waits, name) for name in WAIT_FIELDS]


def _known(complete: Sequence[JobRecord]) -> KnownWait:
    """The sums over jobs whose whole time is known by state."""
    return KnownWait(
        jobs=len(complete),
        on_cpu_seconds=_sum(complete, "on_cpu_seconds", "", {}),
        run_queue_seconds=_sum(complete, "run_queue_seconds", "", {}),
        blocked_seconds=_blocked(complete, {}),
    )


def _blocked(jobs: Sequence[JobRecord], missing: Missing) -> Blocked:
    return Blocked(
        **{
            role: _sum(jobs, f"blocked_{role}_seconds", f"wait.blocked_seconds.{role}", missing)
            for role in FILE_ROLES
        }
    )


def of_threads(job: JobRecord) -> bool:
    """Whether a record holds sums over threads, as earlier formats do: more than the job lasted."""
    lasted = job.usage.real_time_seconds
    return lasted is not None and sum(value or 0.0 for value in _states(job)) > FITS_RATIO * lasted


def blocked_at_most(jobs: Sequence[JobRecord], missing: Missing) -> float | None:
    """Real time less CPU time and what is known of the run queue, job by job, never below zero: the most
    that jobs of one thread can have been blocked."""
    total = 0.0
    for job in jobs:
        used, lasted = job.usage.cpu_seconds, job.usage.real_time_seconds
        if used is None or lasted is None:
            missing["wait.blocked_at_most_seconds"] = "a job that counts lacks its real or its CPU time"
            return None
        total += max(lasted - used - (job.waits.run_queue_seconds or 0.0), 0.0)
    return total


def without_run_queue(jobs: Sequence[JobRecord], missing: Missing) -> float | None:
    """Summed CPU time over summed real time less the time that jobs waited for a CPU."""
    path = "cpu_real_ratio.without_run_queue"
    cpu = real = 0.0
    too_long = sum_of_threads(jobs)
    if too_long is not None:
        missing[path] = too_long
        return None
    for job in jobs:
        used, lasted, queued = job.usage.cpu_seconds, job.usage.real_time_seconds, job.waits.run_queue_seconds
        if used is None or lasted is None or queued is None:
            missing[path] = "the time that jobs waited for a CPU was not measured"
            return None
        cpu, real = cpu + used, real + lasted - queued
    if real <= 0.0:
        missing[path] = "nothing to divide by: the jobs did nothing but wait for a CPU"
        return None
    return cpu / real


def _sum(jobs: Sequence[JobRecord], field: str, path: str, missing: Missing) -> float | None:
    return sum_of([getattr(job.waits, field) for job in jobs], path, missing)
