"""The night of a run of derived jobs: whether what was due had ended, which chain of jobs decided that, and
which steps took longer than in the logs.

The clock of the night begins where the first job's ``start_seconds`` put it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from mawl.base.units import format_plain
from mawl.plan.derived_jobs import load_derived
from mawl.records.model.derived import FILE, DerivedJob
from mawl.records.model.records import JobRecord, StepRecord
from mawl.records.store import Run


class JobOfNight(msgspec.Struct, frozen=True, kw_only=True):
    """A job that ended, in seconds of the night's clock.

    ``logs_seconds`` is how long it ran in the logs; ``waited_for_clock`` says that nothing but its time of
    the night let it start.
    """

    job: str
    started: float
    ended: float
    waited_for_clock: bool
    logs_seconds: float | None


class NightOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """How the night went; negative ``spare_seconds`` are what it was missed by.

    ``chain`` are the jobs that the decisive one (of least spare time) waited for, and itself at its end.
    """

    due_seconds: float
    spare_seconds: float
    logs_spare_seconds: float | None
    jobs: int
    late: int
    not_finished: int
    chain: tuple[JobOfNight, ...]


class StepOverLogs(msgspec.Struct, frozen=True, kw_only=True):
    """A step, and how long it took in the run and in the logs."""

    job: str
    step: str
    seconds: float
    logs_seconds: float


def night_of(records: Sequence[JobRecord], derived: Mapping[str, DerivedJob]) -> NightOfRun | None:
    """How the night of a run went; None where no job was due, or none has ended.

    ``derived`` are all derived jobs of the run by their programs.  A job that did not finish is never in
    time, nor is one without a record: the run was killed before the job ended.
    """
    due = {name: job for name, job in derived.items() if job.due_seconds is not None}
    ended = ended_jobs(records, derived)
    spare = {name: (job.due_seconds or 0.0) - ended[name].ended for name, job in due.items() if name in ended}
    if not spare:
        return None
    decisive = min(spare, key=lambda name: spare[name])
    of_logs = [
        job.due_seconds - job.end_seconds
        for job in due.values()
        if job.due_seconds is not None and job.end_seconds is not None
    ]
    return NightOfRun(
        due_seconds=due[decisive].due_seconds or 0.0,
        spare_seconds=spare[decisive],
        logs_spare_seconds=min(of_logs) if len(of_logs) == len(due) else None,
        jobs=len(due),
        late=sum(one < 0 for one in spare.values()),
        not_finished=len(due) - len(spare),
        chain=chain_to(decisive, ended, derived),
    )


def ended_jobs(records: Sequence[JobRecord], derived: Mapping[str, DerivedJob]) -> dict[str, JobOfNight]:
    """The jobs that finished, by the names of their records in the file, on the clock of the night."""
    begun = [record for record in records if record.started_at is not None and record.program in derived]
    if not begun:
        return {}
    first = min(begun, key=lambda record: record.started_at or 0.0)
    zero = (first.started_at or 0.0) - derived[first.program].start_seconds
    return jobs_of_night(
        {
            record.program: (record.job, (record.started_at or 0.0) - zero, record.ended_at - zero)
            for record in begun
            if record.outcome == "finished" and record.ended_at is not None
        },
        derived,
    )


def jobs_of_night(
    spans: Mapping[str, tuple[str, float, float]], derived: Mapping[str, DerivedJob]
) -> dict[str, JobOfNight]:
    """The jobs of ``spans``: what each is called, and its start and end on the clock of the night."""
    found = {}
    for name, (called, started, ended) in spans.items():
        job = derived[name]
        known = [step.real_seconds for step in job.steps if step.real_seconds is not None]
        before = [spans[one][2] for one in job.after if one in spans]
        found[name] = JobOfNight(
            job=called,
            started=started,
            ended=ended,
            waited_for_clock=job.start_seconds >= max(before, default=0.0),
            logs_seconds=sum(known) if len(known) == len(job.steps) else None,
        )
    return found


def chain_to(
    last: str, ended: Mapping[str, JobOfNight], derived: Mapping[str, DerivedJob]
) -> tuple[JobOfNight, ...]:
    """Back from a job to the one that it waited for, as far as none started by the clock."""
    names = [last]
    while not ended[names[-1]].waited_for_clock:
        before = [name for name in derived[names[-1]].after if name in ended and name not in names]
        if not before:
            break
        names.append(max(before, key=lambda name: ended[name].ended))
    return tuple(ended[name] for name in reversed(names))


def over_logs(
    steps: Iterable[StepRecord], records: Sequence[JobRecord], derived: Mapping[str, DerivedJob]
) -> list[StepOverLogs]:
    """The steps whose time the logs tell, those that took longest over it first."""
    programs = {record.job: record.program for record in records}
    told = {
        (job.name, step.name): step.real_seconds
        for job in derived.values()
        for step in job.steps
        if step.real_seconds is not None
    }
    found = [
        StepOverLogs(
            job=step.job,
            step=step.name,
            seconds=step.usage.real_time_seconds,
            logs_seconds=told[key],
        )
        for step in steps
        if (key := (programs.get(step.job, ""), step.name)) in told
        and step.usage.real_time_seconds is not None
    ]
    return sorted(found, key=lambda one: one.logs_seconds - one.seconds)


def measured_night(run: Run) -> NightOfRun | None:
    """How the night of a run went; None if it is not known."""
    derived = derived_jobs_of(run)
    return night_of(run.job_records(), derived) if derived and why_not_judged(run) is None else None


def derived_jobs_of(run: Run) -> dict[str, DerivedJob]:
    """The derived jobs of a run by their names; empty if the run has no file of them."""
    path = run.path / FILE
    if not path.exists():
        return {}
    return {job.name: job for job in load_derived(path, inside=run.path).jobs}


def why_not_judged(run: Run) -> str | None:
    """Why the clock of the run is not that of the night; None if it is."""
    if run.facts.spec is not None and run.facts.spec.arrivals == "closed":
        return "jobs started in turn (--arrivals closed), and not by the clock"
    scale = run.facts.workload.scale
    if scale is not None and scale != 1.0:
        return f"--scale {format_plain(scale)} changed the size of the jobs, but not their start times"
    return None
