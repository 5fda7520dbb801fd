"""Where the jobs' time went, over the run and in each window: on CPU, waiting for one, blocked by role.

The first thread of each job is followed, and while it sleeps the other threads are asked
(docs/design/waits.md).  An older run has sums over all threads alone: they are taken for those of one thread
where they fit into the jobs' time, and tell nothing where they do not.

Waiting inside calls that last longer than a window.

A call's waiting is known when the call ends: a sync of 20 s shows all of its waiting in the window in
which it ended, more than the jobs of that window can have waited, and none in those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

import msgspec
import numpy as np

from mawl.figures.missing import NO_JOB_COUNTS, NOT_IN_FILES, Missing, counted, sum_of
from mawl.figures.series import Floats
from mawl.figures.sessions import Rates
from mawl.records.model.records import BOUNDED, STATES, JobRecord
from mawl.records.model.role_io import FILE_ROLES, WAIT_FIELDS, Waits
from mawl.records.model.run import Alone, RunFacts
from mawl.records.model.summary.judgement import ProgramAlone, TimesAlone
from mawl.records.model.summary.time import Blocked, MappedFiles, TimeShares, Wait
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Options
from mawl.records.spec.run_spec import DEFAULT_SEED


def carried_back(
    waited: Mapping[str, Rates], room: Sequence[float | None], seconds: Sequence[float]
) -> dict[str, Rates]:
    """Waiting by role (job-seconds per second), what does not fit into a window moved into those before.

    ``room`` is how many jobs were neither on CPU nor in the run queue, ``seconds`` how long the windows
    are.  A window that is not known keeps what it has, and nothing is moved past it; what
    does not fit into the first window stays there.
    """
    found = {role: list(rates) for role, rates in waited.items()}
    carried = dict.fromkeys(found, 0.0)
    for at in range(len(seconds) - 1, -1, -1):
        there, known = room[at], {role: rates[at] for role, rates in found.items()}
        if there is None or None in known.values():
            carried = dict.fromkeys(found, 0.0)
            continue
        have = {role: (rate or 0.0) * seconds[at] + carried[role] for role, rate in known.items()}
        whole = sum(have.values())
        fits = 1.0 if at == 0 or whole <= there * seconds[at] else there * seconds[at] / whole
        for role, value in have.items():
            found[role][at] = value * fits / seconds[at]
            carried[role] = value * (1.0 - fits)
    return found


FITS_RATIO = 1.01
"""Sums over threads above the jobs' time by more than this are those of several threads."""

Rate = Callable[[str], Rates]
"""The rate of a series in each window."""

_Key = TypeVar("_Key")

_SLEEPS = ("data", "work", "util", "other")


class States(msgspec.Struct, frozen=True, kw_only=True):
    """Mean numbers of jobs in one window; they add up to ``running``.

    ``blocked`` has ``unknown`` for jobs that slept and whose calls were not all timed (``unseen_jobs``).
    ``bounds`` are the least and the most of the jobs in each of ``BOUNDED``, without those; where they are
    one number nothing is open.
    """

    running: float
    on_cpu: float
    run_queue: float
    blocked: dict[str, float]
    bounds: dict[str, tuple[float, float]]


NOT_SEEN = "mawl did not see all I/O of"


def is_unseen(job: JobRecord) -> bool:
    """Whether its waits by role are not known, since mawl did not time all of its I/O (``io_remark``)."""
    return job.io_remark is not None and job.waits.blocked_data_seconds is None


def unseen_jobs(jobs: Sequence[JobRecord], edges: Sequence[float] | Floats) -> list[float]:
    """The mean number of jobs in each window that are unseen."""
    starts, ends = np.asarray(edges)[:-1], np.asarray(edges)[1:]
    found = np.zeros(len(starts))
    for job in jobs:
        start = job.ready_at or job.started_at
        if is_unseen(job) and start is not None:
            end = job.ended_at or np.inf
            found += np.clip(np.minimum(ends, end) - np.maximum(starts, start), 0.0, None) / (ends - starts)
    return [float(value) for value in found]


def states(
    running: Rates, rate: Rate, seconds: Sequence[float], unseen: Sequence[float]
) -> list[States | None]:
    """The states of each window (``seconds`` long), ``unseen`` as of ``unseen_jobs``; None where a part is
    missing or does not fit."""
    first = {state: rate(f"jobs.followed.{state}_seconds") for state in STATES}
    joined = {state: rate(f"jobs.joined.{state}_seconds") for state in STATES}
    bounds = {
        (name, end): rate(f"jobs.joined.{name}_{end}_seconds")
        for name in BOUNDED
        for end in ("least", "most")
    }
    followed = any(value is not None for value in first["on_cpu"])
    if not followed:
        nothing: Rates = [0.0] * len(running)
        first = {state: rate(f"jobs.{state}_seconds") for state in ("on_cpu", "run_queue")}
        first |= {role: rate(f"role.{role}.waited_seconds") for role in ROLES} | {"other": nothing}
        joined, bounds = dict.fromkeys(STATES, nothing), dict.fromkeys(bounds, nothing)
    room = [_room(*three) for three in zip(running, first["on_cpu"], first["run_queue"], strict=True)]
    first |= carried_back({state: first[state] for state in _SLEEPS}, room, seconds)
    return [
        _states_of(running[at], _at(first, at), _at(joined, at), _at(bounds, at), followed, unseen[at])
        for at in range(len(running))
    ]


def _room(running: float | None, on_cpu: float | None, queued: float | None) -> float | None:
    if running is None or on_cpu is None or queued is None:
        return None
    return max(running - on_cpu - queued, 0.0)


def _at(rates: Mapping[_Key, Rates], at: int) -> dict[_Key, float | None]:
    return {name: values[at] for name, values in rates.items()}


def _states_of(
    running: float | None,
    first: dict[str, float | None],
    joined: dict[str, float | None],
    bounds: dict[tuple[str, str], float | None],
    followed: bool,
    unseen: float,
) -> States | None:
    if running is None:
        return None
    own = {state: value for state, value in first.items() if value is not None}
    others = {state: value for state, value in joined.items() if value is not None}
    ends = {key: value for key, value in bounds.items() if value is not None}
    if len(own) < len(first) or len(others) < len(joined) or len(ends) < len(bounds):
        return None
    whole = sum(own.values())
    if not followed and whole > FITS_RATIO * running:
        return None
    # Looks at jobs lie a little beside the edges of windows: what is too much is of the neighbour.
    fits = min(running / whole, 1.0) if whole > 0.0 else 1.0
    own = {state: value * fits for state, value in own.items()}
    asleep = max(running - sum(own.values()), 0.0)
    busy = sum(others.values())
    part = min(asleep / busy, 1.0) if busy > 0.0 else 0.0
    found = {state: own[state] + others[state] * part for state in STATES}
    blocked: dict[str, float] = {role: found[role] for role in ROLES}
    other = max(running - found["on_cpu"] - found["run_queue"] - sum(blocked.values()), 0.0)
    unseen = min(unseen, other)
    return States(
        running=running,
        on_cpu=found["on_cpu"],
        run_queue=found["run_queue"],
        blocked={**blocked, "other": other - unseen, "unknown": unseen},
        bounds={
            name: _bounds(sum(own[state] for state in parts), ends[name, "least"], ends[name, "most"], asleep)
            for name, parts in BOUNDED.items()
        },
    )


def _bounds(own: float, least: float, most: float, asleep: float) -> tuple[float, float]:
    return own + min(least, asleep), own + min(most, asleep)


def wait_block(facts: RunFacts, jobs: Sequence[JobRecord], missing: Missing) -> Wait | None:
    """Sums over the jobs that count, and what they did as shares of their real time; None for a sum that one
    of them lacks, and for all where no job has any (a run of an older mawl)."""
    if all(job.waits == Waits() for job in jobs):
        if not jobs or facts.kind == "imported":
            missing["wait"] = NOT_IN_FILES if jobs else NO_JOB_COUNTS
        return None
    wait = Wait(
        on_cpu_seconds=_sum(jobs, "on_cpu_seconds", "wait.on_cpu_seconds", missing),
        run_queue_seconds=_sum(jobs, "run_queue_seconds", "wait.run_queue_seconds", missing),
        blocked_seconds=Blocked(
            **{
                role: _sum(jobs, f"blocked_{role}_seconds", f"wait.blocked_seconds.{role}", missing)
                for role in FILE_ROLES
            }
        ),
        blocked_at_most_seconds=blocked_at_most(jobs, missing),
        mapped_files=_mapped_files(jobs, missing),
        shares=shares_of(jobs, missing),
    )
    if too_long := sum_of_threads(jobs):
        paths = ["on_cpu_seconds", "run_queue_seconds", *(f"blocked_seconds.{role}" for role in FILE_ROLES)]
        missing |= {f"wait.{path}": too_long for path in paths}
        wait.on_cpu_seconds = wait.run_queue_seconds = None
        wait.blocked_seconds = Blocked(**dict.fromkeys(FILE_ROLES))
    elif unseen := [job for job in jobs if is_unseen(job)]:
        why = f"{NOT_SEEN} {len(unseen)} of the {len(jobs)} jobs that count: {unseen[0].io_remark}"
        missing |= {path: why for path in missing if path.startswith("wait.blocked_seconds.")}
    return wait


PARTS = ("on_cpu", "run_queue", *ROLES, "other")


def parts_of(job: JobRecord) -> dict[str, float]:
    """Seconds of a job by what it did (``PARTS``), as far as that is known: at most its real time.

    Waits of older formats that are longer than the job tell nothing.
    """
    real = job.usage.real_time_seconds or 0.0
    fields = dict(zip(PARTS, WAIT_FIELDS, strict=True))
    found = {
        name: value for name, field in fields.items() if (value := getattr(job.waits, field)) is not None
    }
    whole = sum(found.values())
    if whole > FITS_RATIO * real:
        return {}
    if found.keys() == set(PARTS) - {"other"}:
        found["other"] = max(real - whole, 0.0)
    return {name: min(value, value * real / whole) for name, value in found.items()} if whole else found


def shares_of(jobs: Sequence[JobRecord], missing: Missing) -> TimeShares:
    """What jobs did as shares of their real time.  A share that is known of no job is None;
    of what is known of some, the rest is ``unknown``."""
    real = sum(job.usage.real_time_seconds or 0.0 for job in jobs)
    parts = [parts_of(job) for job in jobs] if real else []
    shares = {
        name: sum(part.get(name, 0.0) for part in parts) / real
        if any(name in part for part in parts)
        else None
        for name in PARTS
    }
    missing |= {f"wait.shares.{name}_ratio": "it is known of no job" for name in PARTS}
    unknown = max(0.0, round(1.0 - sum(share or 0.0 for share in shares.values()), 9))
    return TimeShares(**{f"{name}_ratio": share for name, share in shares.items()}, unknown_ratio=unknown)


def _mapped_files(jobs: Sequence[JobRecord], missing: Missing) -> MappedFiles | None:
    """Of the jobs whose calls were counted, as I/O by role is; None where none was."""
    if not (known := [(job, job.io) for job in jobs if job.io is not None]):
        missing["wait.mapped_files"] = "no job's calls were counted"
        return None
    roles = [role for role in ROLES if any(io[role].mapped_bytes for _, io in known)]
    mapped = [job for job, io in known if any(io[role].mapped_bytes for role in roles)]
    return MappedFiles(
        jobs=len(mapped),
        roles=list(roles),
        page_faults=sum(job.usage.page_faults or 0 for job in mapped),
        at_most_seconds=sum(map(_elsewhere_or_unknown, mapped)),
    )


def _elsewhere_or_unknown(job: JobRecord) -> float:
    known = sum(value for name, value in parts_of(job).items() if name != "other")
    return max((job.usage.real_time_seconds or 0.0) - known, 0.0)


def sum_of_threads(jobs: Sequence[JobRecord]) -> str | None:
    beyond = sum(of_threads(job) for job in jobs)
    if not beyond:
        return None
    jobs_have = f"{beyond} of the {len(jobs)} jobs that count {'has' if beyond == 1 else 'have'}"
    return f"{jobs_have} waits longer than the job: older formats add up the waits of threads"


def _states(job: JobRecord) -> list[float | None]:
    return [getattr(job.waits, name) for name in WAIT_FIELDS]


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
            missing["wait.blocked_at_most_seconds"] = _lacks(job)
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
            missing[path] = _lacks(job)
            return None
        cpu, real = cpu + used, real + lasted - queued
    if real <= 0.0:
        why = "nothing to divide by: the jobs did nothing but wait for a CPU"
        missing[path] = why if jobs else NO_JOB_COUNTS
        return None
    return cpu / real


def _lacks(job: JobRecord) -> str:
    used, lasted = job.usage.cpu_seconds, job.usage.real_time_seconds
    name = "CPU time" if used is None else "real time" if lasted is None else "time in the run queue"
    return f"{job.job} has no {name}"


def _sum(jobs: Sequence[JobRecord], field: str, path: str, missing: Missing) -> float | None:
    return sum_of(jobs, [getattr(job.waits, field) for job in jobs], path, missing)


LEAST_COVERED_RATIO = value_of("answer.least_covered_ratio")


class JobSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums in seconds over the jobs of a run that count.

    ``real`` is of all of them, ``covered`` and ``reference`` of those whose reference time is known;
    ``parts`` says what these did as far as that is known, by name (``PARTS``).
    """

    real: float
    covered: float
    reference: float
    parts: Mapping[str, float]

    @property
    def slowdown(self) -> float | None:
        """W; None where the reference time of more than a twentieth of the real time is not known."""
        if not self.reference or not self.covered or self.covered < LEAST_COVERED_RATIO * self.real:
            return None
        return self.covered / self.reference

    @property
    def slowdown_parts(self) -> dict[str, float] | None:
        """The parts of W by name, with ``unknown``; None where more than a twentieth of W is that."""
        known = sum(self.parts.values())
        if self.slowdown is None or known < LEAST_COVERED_RATIO * self.covered:
            return None
        found = {name: seconds / self.reference for name, seconds in self.parts.items()}
        return found | {"unknown": max(self.covered - known, 0.0) / self.reference}


def reference_seconds_of(facts: RunFacts) -> dict[str, float]:
    """Reference times by job, as far as they are known."""
    return {job.job: job.reference_seconds for job in facts.planned_jobs if job.reference_seconds is not None}


def job_sums(jobs: Iterable[JobRecord], facts: RunFacts) -> JobSums:
    """The sums of a run's jobs."""
    reference = reference_seconds_of(facts)
    real = covered = whole = 0.0
    parts = dict.fromkeys(PARTS, 0.0)
    for job in counted(jobs):
        seconds = job.usage.real_time_seconds
        if seconds is None:
            continue
        real += seconds
        if job.job not in reference:
            continue
        covered += seconds
        whole += reference[job.job]
        for name, part in parts_of(job).items():
            parts[name] += part
    return JobSums(real=real, covered=covered, reference=whole, parts=parts)


def pooled(runs: Sequence[JobSums]) -> JobSums:
    """The sums over several runs."""
    return JobSums(
        real=sum(run.real for run in runs),
        covered=sum(run.covered for run in runs),
        reference=sum(run.reference for run in runs),
        parts={name: sum(run.parts[name] for run in runs) for name in PARTS},
    )


def outside_of(facts: RunFacts) -> list[str]:
    """What sets a run apart from those it may be ranked with: its own reference times, seed, options."""
    found = other_options(facts)
    if facts.workload.seed not in (None, DEFAULT_SEED):
        found = [f"seed {facts.workload.seed}", *found]
    if facts.reference_file:
        found = [f"reference times of {facts.reference_file}", *found]
    return found


def other_options(facts: RunFacts) -> list[str]:
    """The options of programs that are not the default, which the reference times are of."""
    used = facts.workload.options
    if used is None:
        return []
    usual = msgspec.structs.asdict(Options())
    return [f"{name} {value}" for name, value in msgspec.structs.asdict(used).items() if value != usual[name]]


def times_alone_of(jobs: Sequence[JobRecord], facts: RunFacts) -> TimesAlone | None:
    """``times_alone`` of a summary; None where no program was run alone."""
    if not facts.alone:
        return None
    took = {job.job: job.usage.real_time_seconds for job in counted(jobs) if job.usage.real_time_seconds}
    mixed = alone = 0.0
    for one in facts.alone:
        own = [took[job] for job in one.jobs if job in took]
        mixed += sum(own)
        alone += one.real_time_seconds * len(own)
    starts = [run.started_at for one in facts.alone for run in one.runs]
    known = [start for start in starts if start is not None]
    return TimesAlone(
        ratio=mixed / alone if alone else None,
        age_seconds=facts.started_at - min(known) if known and len(known) == len(starts) else None,
        places=list(dict.fromkeys(place for one in facts.alone for place in one.places)),
        programs={one.program: _program(one, took) for one in facts.alone},
    )


def _program(alone: Alone, took: dict[str, float]) -> ProgramAlone:
    seconds = sorted(run.real_time_seconds for run in alone.runs)
    own = [took[job] / alone.real_time_seconds for job in alone.jobs if job in took]
    return ProgramAlone(
        seconds=alone.real_time_seconds,
        runs=max(len(seconds), 1),
        spread_ratio=(seconds[-1] - seconds[0]) / alone.real_time_seconds if len(seconds) > 1 else None,
        ratio=fmean(own) if own else None,
    )
