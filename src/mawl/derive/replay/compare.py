"""A run of derived jobs compared with the logs: steps, programs, the night, and jobs at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from mawl.base.errors import UnreadableRunError, UsageError
from mawl.base.units import counted_noun
from mawl.derive.jobs import GROWS_WITH_ROWS
from mawl.derive.replay.match import JobMatches, MatchedJob, logged_jobs, matched
from mawl.derive.replay.records import (
    FIGURES,
    Closeness,
    ComparedJobs,
    FigurePair,
    Figures,
    JobOfChain,
    JobsAtOnce,
    NightOfSide,
    Replay,
    ReplayedProgram,
    ReplayedStep,
    both,
)
from mawl.derive.replay.tables import NOT_A_FINDING, remarks, sentence
from mawl.figures.night import (
    JobOfNight,
    chain_to,
    derived_jobs_of,
    ended_jobs,
    jobs_of_night,
    night_of,
    why_not_judged,
)
from mawl.figures.sessions import Span, area, area_between, jobs_over_time, peak
from mawl.records.model.derived import FILE, DerivedJob, DerivedStep, RoleLoad
from mawl.records.model.records import JobRecord, StepRecord
from mawl.records.model.role_io import RoleIo
from mawl.records.spec.program_options import ROLES
from mawl.records.store import Run


def logged_night(found: JobMatches, derived: Mapping[str, DerivedJob]) -> dict[str, JobOfNight]:
    """The jobs of the logs that have times, on the clock of the night, under the names of derived jobs."""
    if found.zero is None:
        return {}
    spans = {}
    for job in found.jobs:
        start, end = job.logged.job.started_at, job.logged.job.ended_at
        if start is not None and end is not None and start <= end:
            scale, name = job.derived.scale, job.derived.name
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


LEAST: Mapping[str, float] = {
    "real_seconds": 0.1,
    "cpu_seconds": 0.1,
    "memory_bytes": 8 * 2**20,
    "moved_bytes": 2**20,
}
"""The ratios of steps with less in the logs mean nothing: times in a log have hundredths of a second, and any
derived job holds 7 to 10 MB."""


def steps_of(
    jobs: Sequence[MatchedJob], records: Mapping[str, JobRecord], run: Run, factor: float
) -> tuple[list[ReplayedStep], int]:
    """The steps on both sides, sorted by the change of real time, and how many the run lacks."""
    ran = {(step.job, step.name): step for step in run.step_records([_id(job, records) for job in jobs])}
    found, missing = [], 0
    for job in jobs:
        for step, logged in zip(job.derived.steps, job.logged.steps, strict=True):
            own = ran.get((_id(job, records), step.name))
            if own is None:
                missing += 1
                continue
            found.append(
                ReplayedStep(
                    program=job.logged.job.program,
                    job=job.logged.job.job,
                    run_job=own.job,
                    step=step.name,
                    figures=_figures(job.derived, step, logged, own, factor),
                )
            )
    return sorted(found, key=_by_change), missing


def _id(job: MatchedJob, records: Mapping[str, JobRecord]) -> str:
    return records[job.derived.name].job


def _figures(
    job: DerivedJob, step: DerivedStep, logged: StepRecord, own: StepRecord, factor: float
) -> Figures:
    """The figures of the log, at the scale of the run, and those of the run.

    Bytes of the log are those that the derived job has: inferred or assumed.
    """
    scale = job.scale * factor
    rows = job.growth if step.kernel in GROWS_WITH_ROWS else 1.0
    loads = {role: _moved(step.load(role)) * factor for role in ROLES}
    moved: Mapping[str, float] = {}
    if own.io is not None:
        moved = {role: _moved(own.io.get(role, RoleIo())) for role in ROLES}
    return Figures(
        real_seconds=both(_times(logged.usage.real_time_seconds, scale), own.usage.real_time_seconds),
        cpu_seconds=both(_times(logged.usage.cpu_seconds, scale * job.growth), own.usage.cpu_seconds),
        memory_bytes=both(_times(logged.usage.memory_bytes, scale * rows), own.usage.memory_bytes),
        moved_bytes=both(math.fsum(loads.values()), math.fsum(moved.values()) if moved else None),
        data_bytes=both(loads["data"], moved.get("data")),
        work_bytes=both(loads["work"], moved.get("work")),
        util_bytes=both(loads["util"], moved.get("util")),
    )


def _moved(load: RoleLoad | RoleIo) -> float:
    return float(load.read_bytes + load.written_bytes)


def _times(figure: float | None, factor: float) -> float | None:
    return None if figure is None else figure * factor


def _by_change(one: ReplayedStep | ReplayedProgram) -> float:
    real = one.figures.real_seconds
    return -abs(real.run - real.logs) if real.run is not None and real.logs is not None else math.inf


def summed(parts: Sequence[Figures]) -> Figures:
    """Sums over the steps that have a figure on both sides; of memory the largest."""

    def figure(name: str) -> FigurePair:
        pairs: list[FigurePair] = [getattr(part, name) for part in parts]
        known = [(pair.logs, pair.run) for pair in pairs if pair.logs is not None and pair.run is not None]
        if not known:
            return FigurePair()
        logs, run = [one for one, _ in known], [one for _, one in known]
        if name == "memory_bytes":
            return both(max(logs), max(run))
        return both(math.fsum(logs), math.fsum(run))

    return Figures(**{name: figure(name) for name in FIGURES})


def programs_of(steps: Iterable[ReplayedStep]) -> list[ReplayedProgram]:
    """The programs of the logs, sorted by the change of real time, the largest first."""
    mine: dict[str, list[ReplayedStep]] = {}
    for step in steps:
        mine.setdefault(step.program, []).append(step)
    found = [
        ReplayedProgram(
            program=program,
            jobs=len({one.job for one in group}),
            steps=len(group),
            figures=summed([one.figures for one in group]),
        )
        for program, group in mine.items()
    ]
    return sorted(found, key=_by_change)


def closeness_of(name: str, steps: Sequence[ReplayedStep]) -> Closeness:
    least = LEAST[name]
    pairs: list[FigurePair] = [getattr(step.figures, name) for step in steps]
    errors = sorted(
        max(pair.ratio, 1 / pair.ratio) if pair.ratio else math.inf
        for pair in pairs
        if pair.ratio is not None and (pair.logs or 0.0) >= least
    )
    return Closeness(
        figure=name,
        least=least,
        steps=len(errors),
        median=_finite(median(errors)) if errors else None,
        high=_finite(errors[math.ceil(0.95 * len(errors)) - 1]) if errors else None,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


LEAST_MATCHED_RATIO = 0.5
"""If less than this share of the derived jobs is in the logs, the run was derived from other logs."""

NO_CLOCK = (
    "the derived jobs have no time of the night (mawl derive --arrivals closed, or logs without times of day)"
)


def replay(logs: Run, run: Run, called: str | None = None) -> Replay:
    """The comparison; ``called`` is how a command finds the run (None: by its id).

    Raises ``UsageError`` if the run was not derived from these logs, if it repeats the
    night on several nodes, or if no step is on both sides, and
    ``UnreadableRunError`` if the run lost the file of its derived jobs.
    """
    derived = derived_jobs_of(run)
    _check_run(run, derived)
    candidates = logged_jobs(logs)
    found = matched(list(derived.values()), candidates)
    _check_matched(found, derived, logs, run)
    jobs = run.job_records()
    records = {record.program: record for record in jobs}
    counting = [job for job in found.jobs if _counts(records.get(job.derived.name))]
    factor = run.facts.workload.scale or 1.0
    steps, missing = steps_of(counting, records, run, factor)
    if not steps:
        raise UsageError(
            "no step of the run can be compared with the logs",
            where=run.facts.run_id,
            why=f"of {counted_noun(len(derived), 'job')} none finished with a right answer and its steps",
            cure="see mawl report for what failed, and run the workload again",
        )
    first = next(iter(derived.values()))
    why_no_night = why_not_judged(run)
    if why_no_night is None and all(job.end_seconds is None for job in derived.values()):
        why_no_night = NO_CLOCK
    night = None if why_no_night else night_of(jobs, derived)
    logged = logged_night(found, derived)
    ended = {} if why_no_night else ended_jobs(jobs, derived)
    programs = {job.derived.name: job.logged.job.program for job in found.jobs}
    programs |= {record.job: programs[record.program] for record in jobs if record.program in programs}
    made = Replay(
        logs_run=logs.facts.run_id,
        run=run.facts.run_id,
        called=called or run.facts.run_id,
        sentence="",
        not_a_finding=NOT_A_FINDING,
        remarks=[],
        scale=first.scale * factor,
        growth=first.growth,
        counted=ComparedJobs(
            run_jobs=len(derived),
            logs_jobs=len(candidates),
            matched=len(found.jobs),
            by_order=found.by_order,
            not_finished=len(found.jobs) - len(counting),
            jobs=len(counting),
            steps=len(steps),
            steps_missing=missing,
        ),
        total=summed([step.figures for step in steps]),
        closeness=[closeness_of(name, steps) for name in LEAST],
        due_seconds=next((job.due_seconds for job in derived.values() if job.due_seconds is not None), None),
        logs_night=night_of_side(
            logged,
            derived,
            programs,
            spare=None if night is None else night.logs_spare_seconds,
            not_finished=0,
        ),
        run_night=night_of_side(
            ended,
            derived,
            programs,
            spare=None if night is None else night.spare_seconds,
            not_finished=0 if night is None else night.not_finished,
        ),
        jobs_at_once=at_once([one.derived.name for one in counting], logged, ended),
        programs=programs_of(steps),
        steps=steps,
    )
    own_cores = any(job.core_speed is not None for job in derived.values())
    return msgspec.structs.replace(
        made, sentence=sentence(made), remarks=remarks(made, why_no_night, own_cores)
    )


def _check_run(run: Run, derived: Mapping[str, DerivedJob]) -> None:
    if not derived:
        raise UnreadableRunError(
            f"has no {FILE}, which says what its jobs were derived to do",
            where=str(run.path),
            cure="copy the run folder again from where it was made",
        )
    if len(run.facts.node_runs) > 1:
        raise UsageError(
            f"repeats the night on {len(run.facts.node_runs)} nodes",
            where=run.facts.run_id,
            why="the logs are those of one night",
            cure="compare a run on one node with the logs",
        )


def _check_matched(found: JobMatches, derived: Mapping[str, DerivedJob], logs: Run, run: Run) -> None:
    timed = any(step.usage.real_time_seconds for job in found.jobs for step in job.logged.steps)
    if timed and len(found.jobs) >= LEAST_MATCHED_RATIO * len(derived):
        return
    why = (
        f"{len(found.jobs)} of its {counted_noun(len(derived), 'job')} have the steps, times and rows of a "
        "job of the logs"
    )
    if found.jobs and not timed:
        why = "these logs tell no real times, which would show that their jobs are the same"
    raise UsageError(
        f"was not derived from the logs of {logs.facts.run_id}",
        where=run.facts.run_id,
        why=why,
        cure="name the run folder that mawl import made of the same logs: mawl compare LOGS-RUN RUN",
    )


def _counts(record: JobRecord | None) -> bool:
    return record is not None and record.outcome == "finished" and record.verified is not False
