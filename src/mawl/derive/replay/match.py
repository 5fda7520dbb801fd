"""Which job of the logs a derived job was made from.

A derived folder has no names of the logs: they are hashed with a key that is thrown away.  Its numbers are
enough: a derived job has the steps of one job of the logs, in the same order, with the same procedures,
times and rows, and it ended at the same second of the night.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from mawl.derive.derive import WORKING, started_jobs
from mawl.derive.jobs import Growth, cpu_of, real_of, rows_of
from mawl.derive.steps import OTHER, VOCABULARY, step_figures
from mawl.records.model.derived import MOST_SECONDS, MOST_STEPS, DerivedJob
from mawl.records.model.records import JobRecord, StepRecord
from mawl.records.store import Run

CLOCK_SECONDS = 0.01
"""Moments that are at most about so far apart count as the same; clocks of logs have whole seconds."""
MOST_VOTES = 20
"""At most so many jobs with equal steps vote on the moment at which the night began."""

Key = tuple[tuple[str, str, float | None, float, int | None], ...]
"""For each step: number, procedure as in a derived folder, real time, CPU time, rows."""


class LoggedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job of the logs with its DATA and PROC steps, in order."""

    job: JobRecord
    steps: tuple[StepRecord, ...]


def logged_jobs(run: Run) -> list[LoggedJob]:
    """The jobs of a run that can be derived: those with a DATA or PROC step."""
    steps = run.steps_by_job()
    found = []
    for job in started_jobs(run):
        mine = [step for step in steps.get(job.job, ()) if step.kind in WORKING]
        if mine:
            mine.sort(key=lambda step: step.number)
            found.append(LoggedJob(job=job, steps=tuple(mine[:MOST_STEPS])))
    return found


class MatchedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A derived job and the job of the logs that it was made from; their steps correspond one by one."""

    derived: DerivedJob
    logged: LoggedJob


class JobMatches(msgspec.Struct, frozen=True, kw_only=True):
    """Derived jobs with the jobs of the logs that they were made from.

    ``zero`` is the moment at which the clock of the night begins (None: no job has a time in the logs).
    ``by_order`` counts the jobs that only their order separates from others with the same steps and times.
    """

    jobs: list[MatchedJob]
    zero: float | None
    by_order: int


def matched(derived: Sequence[DerivedJob], logged: Sequence[LoggedJob]) -> JobMatches:
    """Match jobs; a job that fits no job of the other side is left out."""
    first = derived[0]
    size = Growth(rows=first.growth, load=first.scale)
    groups: dict[Key, list[LoggedJob]] = {}
    for one in sorted(logged, key=lambda one: (one.job.started_at is None, one.job.started_at or 0.0)):
        groups.setdefault(_key_of_logged(one, size), []).append(one)
    mine: dict[Key, list[DerivedJob]] = {}
    for job in sorted(derived, key=lambda job: job.end_seconds or 0.0):
        mine.setdefault(_key_of_derived(job), []).append(job)
    pairs = {key: (jobs, groups[key]) for key, jobs in mine.items() if key in groups}
    begins, sure = _zero(pairs.values())
    found: list[MatchedJob] = []
    by_order = 0
    for jobs, candidates in pairs.values():
        by_clock, by_place = _paired(jobs, candidates, begins)
        found += [*by_clock, *by_place]
        if len(candidates) > 1:
            by_order += len(by_place) if sure else len(by_clock) + len(by_place)
    if begins is None:
        starts = [one.logged.job.started_at for one in found if one.logged.job.started_at is not None]
        begins = min(starts, default=None)
    return JobMatches(jobs=found, zero=begins, by_order=by_order)


def _key_of_derived(job: DerivedJob) -> Key:
    return tuple(
        (
            step.name.partition(".")[0],
            _procedure(step.procedure),
            step.real_seconds,
            step.cpu_seconds,
            step.rows,
        )
        for step in job.steps
    )


def _key_of_logged(job: LoggedJob, size: Growth) -> Key:
    figures = [step_figures(step, "unknown") for step in job.steps]
    return tuple(
        (
            f"s{step.number}",
            _procedure(step.procedure),
            real_of(step, size),
            min(cpu_of(step, size).value, MOST_SECONDS),
            rows_of(step, size),
        )
        for step in figures
    )


def _procedure(word: str) -> str:
    return word if word in VOCABULARY else OTHER


def _zero(
    groups: Iterable[tuple[Sequence[DerivedJob], Sequence[LoggedJob]]],
) -> tuple[float | None, bool]:
    """The moment at which the night began: the end of a job in the logs less its end on the night's clock.

    It is the moment that fits most jobs.  False if other moments fit as many: then the jobs of the logs
    follow each other at equal distances.
    """
    votes: Counter[float] = Counter()
    for jobs, candidates in groups:
        for job in jobs[:MOST_VOTES]:
            if job.end_seconds is None:
                continue
            for candidate in candidates:
                if candidate.job.ended_at is not None:
                    votes[round(candidate.job.ended_at - job.end_seconds / job.scale, 2)] += 1
    if not votes:
        return None, False
    most = max(votes.values())
    best = [moment for moment, count in votes.items() if count == most]
    return min(best), max(best) - min(best) <= 2 * CLOCK_SECONDS


def _paired(
    jobs: Sequence[DerivedJob], candidates: Sequence[LoggedJob], begins: float | None
) -> tuple[list[MatchedJob], list[MatchedJob]]:
    """Pairs of jobs with equal steps: those that the clock matches, and those without times, in order."""
    ends: dict[int, list[LoggedJob]] = {}
    for candidate in candidates:
        if candidate.job.ended_at is not None:
            ends.setdefault(_tick(candidate.job.ended_at), []).append(candidate)
    by_clock: list[MatchedJob] = []
    untimed: list[DerivedJob] = []
    for job in jobs:
        if job.end_seconds is None or begins is None:
            untimed.append(job)
            continue
        tick = _tick(begins + job.end_seconds / job.scale)
        there = next((found for near in (tick, tick - 1, tick + 1) if (found := ends.get(near))), None)
        if there:
            by_clock.append(MatchedJob(derived=job, logged=there.pop(0)))
    taken = {one.logged.job.job for one in by_clock}
    left = [candidate for candidate in candidates if candidate.job.job not in taken]
    return by_clock, [MatchedJob(derived=job, logged=one) for job, one in zip(untimed, left, strict=False)]


def _tick(moment: float) -> int:
    return round(moment / CLOCK_SECONDS)
