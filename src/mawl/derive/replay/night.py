"""The night of both sides, and how many jobs ran at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.analysis.concurrency import Span, area, area_between, jobs_over_time, peak
from mawl.analysis.night import JobOfNight, chain_to, jobs_of_night
from mawl.derive.replay.match import Matched
from mawl.derive.replay.records import JobOfChain, JobsAtOnce, NightOfSide
from mawl.model.derived import DerivedJob


def logged_night(found: Matched, derived: Mapping[str, DerivedJob]) -> dict[str, JobOfNight]:
    """The jobs of the logs that have times, on the clock of the night, under the names of derived jobs."""
    if found.zero is None:
        return {}
    spans = {}
    for one in found.jobs:
        start, end = one.logged.job.started_at, one.logged.job.ended_at
        if start is not None and end is not None and start <= end:
            scale, name = one.derived.scale, one.derived.name
            spans[name] = (name, (start - found.zero) * scale, (end - found.zero) * scale)
    return jobs_of_night(spans, derived)


def night_of_side(
    jobs: Mapping[str, JobOfNight],
    derived: Mapping[str, DerivedJob],
    programs: Mapping[str, str],
    *,
    spare: float | None,
    not_finished: int,
) -> NightOfSide | None:
    """The night of a side, None without jobs; ``programs`` has the program in the logs of each job."""
    if not jobs:
        return None
    last = max(jobs, key=lambda name: jobs[name].ended)
    return NightOfSide(
        started_seconds=min(job.started for job in jobs.values()),
        ended_seconds=jobs[last].ended,
        spare_seconds=spare,
        not_finished=not_finished,
        chain=[
            JobOfChain(
                program=programs.get(job.job, job.job), started_seconds=job.started, ended_seconds=job.ended
            )
            for job in chain_to(last, jobs, derived)
        ],
    )


def at_once(
    names: Sequence[str], logged: Mapping[str, JobOfNight], ended: Mapping[str, JobOfNight]
) -> JobsAtOnce | None:
    """How many of the named jobs with times on both sides ran at a time; None if there are no such jobs."""
    known = [name for name in names if name in logged and name in ended]
    if not known:
        return None
    logs, run = _spans(logged, known), _spans(ended, known)
    before, after = area(logs), area(run)
    return JobsAtOnce(
        jobs=len(known),
        logs=jobs_over_time(logs),
        run=jobs_over_time(run),
        logs_peak=peak(logs),
        run_peak=peak(run),
        logs_job_seconds=before,
        run_job_seconds=after,
        area_difference_ratio=abs(after - before) / before if before > 0 else None,
        area_between_ratio=area_between(logs, run) / before if before > 0 else None,
    )


def _spans(jobs: Mapping[str, JobOfNight], names: Sequence[str]) -> list[Span]:
    return [(jobs[name].started, jobs[name].ended) for name in names]
