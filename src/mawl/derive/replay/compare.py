"""A run of derived jobs compared with the logs: steps, programs, the night, and jobs at a time."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mawl.analysis.night import ended_jobs, night_of
from mawl.derive.replay.match import Matched, logged_jobs, matched
from mawl.derive.replay.night import at_once, logged_night, night_of_side
from mawl.derive.replay.records import Counted, Replay
from mawl.derive.replay.sentences import NOT_A_FINDING, remarks, sentence
from mawl.derive.replay.steps import LEAST, closeness_of, programs_of, steps_of, summed
from mawl.errors import UnreadableRunError, UsageError
from mawl.model.derived import FILE, DerivedJob
from mawl.model.records import JobRecord
from mawl.reporters.night import derived_jobs_of, why_not_judged
from mawl.store import Run
from mawl.units import counted_noun

LEAST_MATCHED_RATIO = 0.5
"""If less than this share of the derived jobs is in the logs, the run was derived from other logs."""

NO_CLOCK = (
    "the derived jobs have no time of the night (mawl derive --arrivals closed, or logs without times of day)"
)


def replay(logs: Run, run: Run, called: str | None = None) -> Replay:
    """The comparison; ``called`` is how a command finds the run (None: by its id).

    Raises :class:`~mawl.errors.UsageError` if the run was not derived from these logs, if it repeats the
    night on several nodes, or if no step is on both sides, and
    :class:`~mawl.errors.UnreadableRunError` if the run lost the file of its derived jobs.
    """
    derived = derived_jobs_of(run)
    _check_run(run, derived)
    candidates = logged_jobs(logs)
    found = matched(list(derived.values()), candidates)
    _check_matched(found, derived, logs, run)
    jobs = run.job_records()
    records = {record.program: record for record in jobs}
    counting = [one for one in found.jobs if _counts(records.get(one.derived.name))]
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
    programs = {one.derived.name: one.logged.job.program for one in found.jobs}
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
        counted=Counted(
            run_jobs=len(derived),
            logs_jobs=len(candidates),
            matched=len(found.jobs),
            by_order=found.by_order,
            not_finished=len(found.jobs) - len(counting),
            jobs=len(counting),
            steps=len(steps),
            steps_missing=missing,
        ),
        total=summed([one.figures for one in steps]),
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


def _check_matched(found: Matched, derived: Mapping[str, DerivedJob], logs: Run, run: Run) -> None:
    timed = any(step.usage.real_time_seconds for one in found.jobs for step in one.logged.steps)
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
