"""Events, samples and phases compared with the jobs, second by second."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from mawl.archive.agreement.tables import RunRecords
from mawl.model.records import EventRecord, JobRecord

SLACK_SECONDS = 2.0
"""The most that a sample may be early or late, on a machine with more tasks than processors."""
SUMS = (
    "application_read_bytes",
    "application_written_bytes",
    "own_read_bytes",
    "charged_written_bytes",
)
"""Series that sum up what jobs have moved."""
_CPU_RATIO, _CPU_SECONDS = 0.05, 0.5
"""What two accounts of the same CPU time may differ by: a control group counts what a wait4 misses."""


def faults(records: RunRecords) -> Iterator[str]:
    """Sentences on moments and sums that cannot all be true."""
    yield from _events(records)
    yield from _order(records)
    yield from _facts(records)
    if records.facts.outcome == "completed":  # else jobs without a record moved bytes, too
        yield from _samples(records)
        yield from _running(records)


def _events(records: RunRecords) -> Iterator[str]:
    starts: dict[str, list[EventRecord]] = {}
    ends: dict[str, list[EventRecord]] = {}
    released: float | None = None
    for event in records.events:
        if event.event == "gate_released":
            released = event.happened_at if released is None else min(released, event.happened_at)
        if event.job is not None and event.event in ("job_started", "job_ended"):
            (starts if event.event == "job_started" else ends).setdefault(event.job, []).append(event)
    for name in sorted((set(starts) | set(ends)) - set(records.by_name)):
        yield f"events name {name}, which is no job"
    for job in records.finished:
        began, ended = starts.get(job.job, []), ends.get(job.job, [])
        if [event.happened_at for event in began] != [job.started_at]:
            yield f"{job.job}: events and jobs do not agree on its start"
        if [event.detail for event in ended] != [job.outcome]:
            yield f"{job.job}: events and jobs do not agree on its end"
        elif job.ended_at is not None and ended[0].happened_at < job.ended_at:
            yield f"{job.job}: its end is known before it ended"
        gated = job.gate is not None and job.started_at is not None and released is not None
        if gated and job.started_at < released - SLACK_SECONDS:  # type: ignore[operator]
            yield f"{job.job} started before its gate was released"


def _order(records: RunRecords) -> Iterator[str]:
    """Stages of a session come one after another."""
    sessions: dict[tuple[str, str], list[JobRecord]] = {}
    for job in records.finished:
        sessions.setdefault((job.node, job.session), []).append(job)
    for jobs in sessions.values():
        before = 0.0  # the last end of all stages so far
        for _, stage in groupby(sorted(jobs, key=lambda job: job.stage), key=lambda job: job.stage):
            own = list(stage)
            for job in own:
                if job.started_at is not None and job.started_at < before - SLACK_SECONDS:
                    yield f"{job.job} started before the stage before it had ended"
            before = max(before, *(job.ended_at or 0.0 for job in own))


def _facts(records: RunRecords) -> Iterator[str]:
    facts = records.facts
    starts = [job.started_at for job in records.jobs if job.started_at is not None]
    ends = [job.ended_at for job in records.jobs if job.ended_at is not None]
    late = facts.ended_at is not None and ends and max(ends) > facts.ended_at + SLACK_SECONDS
    if late or (starts and min(starts) < facts.started_at - SLACK_SECONDS):
        yield "jobs ran outside the start and the end of run.json"
    run = facts.phases.run_seconds
    if run is not None and starts and ends:
        lasted = max(ends) - min(starts)
        if lasted > run * 1.001 + SLACK_SECONDS:
            yield f"run.json says that jobs ran for {run} s, and they ran for {lasted} s"
    outside, launcher = facts.outside_cpu, facts.launcher.cpu_seconds
    cpu = [job.total.cpu_seconds for job in records.jobs]
    if outside is not None and outside.cpu_seconds is not None and launcher is not None and None not in cpu:
        ours = sum(seconds for seconds in cpu if seconds is not None) + launcher
        if abs(ours - outside.cpu_seconds) > _CPU_RATIO * ours + _CPU_SECONDS:
            yield f"jobs used {ours:.2f} s of CPU, and {outside.source} says {outside.cpu_seconds:.2f} s"


def _samples(records: RunRecords) -> Iterator[str]:
    facts = records.facts
    table = records.run.samples
    if not table.num_rows:
        return
    known = {node.name for node in facts.nodes} | {storage.node for storage in facts.storage_runs}
    strange = set(table["node"].unique().to_pylist()) - known
    if strange:
        yield f"samples are of {sorted(strange)[0]}, which is no node of run.json"
    for name in SUMS:
        for node, (_, values) in records.series(name).items():
            if (np.diff(values) < 0).any():
                yield f"samples: {name} of {node} falls, and it is a sum"
            whole = sum(getattr(job.total, name) or 0 for job in records.jobs if job.node == node)
            if len(values) and values[-1] > whole * 1.0001 + 1:
                yield f"samples: {name} of {node} reached {values[-1]:.0f}, and the jobs have {whole}"


def _running(records: RunRecords) -> Iterator[str]:
    """At each second as many jobs ran as had started and not ended."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for job in records.jobs:
        if job.started_at is not None and job.ended_at is not None:
            spans.setdefault(job.node, []).append((job.started_at, job.ended_at))
    for node, (times, values) in records.series("jobs_running").items():
        starts = np.sort([start for start, _ in spans.get(node, [])])
        ends = np.sort([end for _, end in spans.get(node, [])])

        def between(begun: float, over: float) -> np.ndarray:
            at_work = np.searchsorted(starts, times + begun) - np.searchsorted(ends, times + over)  # noqa: B023
            return np.asarray(at_work)

        most = between(SLACK_SECONDS, -SLACK_SECONDS)
        least = between(-SLACK_SECONDS, SLACK_SECONDS)
        wrong = (values > most) | (values < least)
        if wrong.any():
            second = int(np.argmax(wrong))
            yield (
                f"samples: {values[second]:.0f} jobs ran on {node} at a moment when {least[second]} to "
                f"{most[second]} did by their starts and ends"
            )
