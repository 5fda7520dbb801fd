"""Jobs with incomplete records: those without an end, those that do not count, and those read in turns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.figures.imported import observed_timeline
from mawl.figures.layers import interval_seconds, recorded_timeline
from mawl.figures.series import NodeSeries, RunSamples
from mawl.figures.sessions import JobSpan, Timeline, Unended, timeline
from mawl.records.model.node import MOST_JOBS_READ_AT_ONCE, NodeRun
from mawl.records.model.records import BOUNDED, STATES, EventRecord, JobRecord
from mawl.records.model.run import RunFacts

CUT = ("running", "interrupted")
"""Outcomes of runs that did not go through, or not yet: what has no end in them may have begun."""


def cut_nodes(facts: RunFacts) -> list[NodeRun]:
    """The nodes whose part of the run did not go through, or is not here whole."""
    return [run for run in facts.node_runs if not run.whole or run.outcome in (*CUT, "lost")]


def run_timeline(
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
        line = recorded_timeline(facts, samples)
    if line is not None and facts.kind == "imported":
        line = observed_timeline(line, facts, jobs, samples)
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


MOST_NAMED = 3
"""Jobs that a sentence names; a report lists all."""
FAILED = ("failed", "timed_out")

_OUTCOMES = {
    "timed_out": "ran into its time limit",
    "stopped": "stopped with the run",
    "lost": "its end was not recorded",
    "not_started": "never started",
}


def what_happened(job: JobRecord) -> str:
    if job.verified is False:
        return "wrong answer"
    if job.outcome in _OUTCOMES:
        return _OUTCOMES[job.outcome]
    if job.signal is not None:
        return f"killed by signal {job.signal}"
    return f"exit status {job.exit_code}" if job.exit_code else "failed"


def bad_jobs(jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs that do not count: first those that failed, then the stopped, lost and not started."""
    found = [job for job in jobs if job.outcome != "finished" or job.verified is False]
    return sorted(found, key=lambda job: not failed(job))


def failed(job: JobRecord) -> bool:
    """Whether the job itself failed (a wrong answer, an error, a time limit), and was not only stopped."""
    return job.verified is False or job.outcome in FAILED


def job_list(jobs: Sequence[JobRecord], more: int = 0) -> str:
    """``s3-1 (wrong answer), s4-1 (killed by signal 9) and 2 more``: ``more`` are jobs without a record."""
    words = ", ".join(f"{job.job} ({what_happened(job)})" for job in jobs[:MOST_NAMED])
    more += max(len(jobs) - MOST_NAMED, 0)
    if not words:
        return f"{more} never started"
    return f"{words} and {more} more" if more else words


def bad_sentence(jobs: Sequence[JobRecord], planned: int, bad: int) -> str:
    """``1 of 6 jobs failed: s3-1 (wrong answer)``, of ``bad`` jobs of ``planned``."""
    records = bad_jobs(jobs)
    word = "failed" if len(records) >= bad and all(map(failed, records)) else "did not finish"
    return f"{bad} of {planned} jobs {word}: {job_list(records, max(bad - len(records), 0))}"


READ_IN_TURNS = (
    *(f"jobs.{kind}{state}_seconds" for kind in ("followed.", "joined.") for state in STATES),
    *(f"jobs.joined.{name}_{end}_seconds" for name in BOUNDED for end in ("least", "most")),
    "jobs.on_cpu_seconds",
    "jobs.run_queue_seconds",
)


def even_out_turns(samples: RunSamples) -> RunSamples:
    """``samples`` with the counters that were read in turns evened out; every other series as it is.

    With more than ``MOST_JOBS_READ_AT_ONCE`` jobs the runner reads CPU and run-queue time of one half of them
    at one look and of the other at the next, so a stored sum holds one half as of now and the other as of the
    look before: second by second it zigzags about the true sum.
    """
    found = {}
    for node in samples.nodes:
        running = samples.series(node, "jobs_running")
        if running is None or not (in_turns := running.values > MOST_JOBS_READ_AT_ONCE).any():
            continue
        for name in READ_IN_TURNS:
            series = samples.series(node, name)
            if series is not None and np.array_equal(series.times, running.times):
                found[node, name] = _even_out(series, in_turns)
    return samples.replaced(found) if found else samples


def _even_out(series: NodeSeries, in_turns: NDArray[np.bool_]) -> NodeSeries:
    """The counter at its own times (seconds); its first and its last value stand.

    At look i half A has its turn; B is of look i - 1.  What look i lacks is B's step to it, and the gain
    to look i + 1 is that and B's next step (and A's, too, where all are read again); a step counts by its
    seconds, and A as much as B.  The result is exact however unlike the halves: the mean of two neighbours
    where steps are alike.  It lies between a stored value and the next: it never falls.
    """
    if len(series.times) < 3:
        return series
    steps = np.diff(series.times)
    before, after = steps[:-1], steps[1:]
    lacking = np.where(in_turns[1:-1], before, 0.0)
    whole = lacking + np.where(in_turns[2:], after, 2.0 * after)
    share = lacking / np.where(whole > 0.0, whole, 1.0)
    gains = np.maximum(np.diff(series.values)[1:], 0.0)
    return NodeSeries(series.times, series.values + np.concatenate(([0.0], share * gains, [0.0])))
