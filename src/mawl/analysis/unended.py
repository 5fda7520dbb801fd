"""Jobs that started and left no end: of a run that goes on, or of one whose runner was killed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.analysis.periods import placed
from mawl.analysis.recordings import interval_seconds, recorded
from mawl.analysis.series import RunSamples
from mawl.analysis.timeline import JobSpan, Timeline, Unended, timeline
from mawl.model.records import EventRecord, JobRecord
from mawl.model.run import RunFacts

CUT = ("running", "interrupted")
"""Outcomes of runs that did not go through, or not yet: what has no end in them may have begun."""


def line_of(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    events: Sequence[EventRecord] = (),
    samples: RunSamples | None = None,
) -> Timeline | None:
    """The timeline of a run, jobs without an end counted as running until the last thing it recorded.

    That of imported recordings without jobs is the time that they cover.
    """
    line = timeline(jobs, facts.workload.sessions, unended(facts, jobs, events, samples))
    if line is None and not jobs:
        line = recorded(facts, samples)
    if line is not None and facts.kind == "imported":
        line = placed(line, facts, jobs, samples)
    apart = interval_seconds(facts, samples)
    return msgspec.structs.replace(line, sampled_every_seconds=apart) if line and apart else line


def unended(
    facts: RunFacts, jobs: Sequence[JobRecord], events: Sequence[EventRecord], samples: RunSamples | None
) -> Unended:
    """The jobs of a run that started and left no end, and what of them cannot be known.

    Their start is the record's, else that of the journal's event; a record that was torn may have left
    the event of its end.  A journal that lacks the start of
    a job that did run may lack others: jobs without a start are then not known to have none.
    """
    if facts.outcome not in CUT:
        return Unended()
    starts = {event.job: event.happened_at for event in events if event.event == "job_started" and event.job}
    untold = any(job.started_at is not None and job.job not in starts for job in jobs)
    starts |= {job.job: job.started_at for job in jobs if job.started_at is not None}
    ended = {
        job.job
        for job in jobs
        if job.outcome != "not_started" and (job.outcome != "lost" or job.ended_at is not None)
    }
    ends = {event.job: event.happened_at for event in events if event.event == "job_ended"}
    until = _last_at(facts, jobs, events, samples)
    spans, waiting = [], 0
    for planned in facts.planned_jobs:
        start = starts.get(planned.job)
        if planned.job in ended:
            continue
        if start is None:
            waiting += 1
        elif until is not None:
            spans.append(JobSpan(start, max(start, ends.get(planned.job, until)), planned.trail_out))
    reason = None
    if untold and waiting:
        reason = (
            f"start events of the run are lacking: {waiting} of its planned jobs without an end may have run"
        )
    return Unended(spans=spans, waiting=waiting, unknown=reason)


def _last_at(
    facts: RunFacts, jobs: Sequence[JobRecord], events: Sequence[EventRecord], samples: RunSamples | None
) -> float | None:
    """The last thing that the run recorded: a sample, an event or the end of a job.

    ``facts.ended_at`` of a killed run is the last such thing in its journal, the end of a step included.
    """
    times = [event.happened_at for event in events]
    times += [job.ended_at for job in jobs if job.ended_at is not None]
    more = (facts.ended_at, samples.last_at if samples else None)
    times += [at for at in more if at is not None]
    return max(times, default=None)
