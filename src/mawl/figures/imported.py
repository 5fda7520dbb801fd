"""The times of an import: periods far apart, the part that recordings cover, and waiting in the queue."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from mawl.base.units import format_instant, format_percent, format_seconds
from mawl.figures.host_parts import CPU_KINDS, busy_ratio, whole_seconds
from mawl.figures.missing import Missing, counted, ratio
from mawl.figures.series import LEAST_COVERED_RATIO, WHOLE_RATIO, RunSamples
from mawl.figures.sessions import MOST_AFTER, ObservedSpan, Timeline, predecessors, rates, timeline
from mawl.figures.throughput import Counters
from mawl.records.model.node import LEAST_GAP_SECONDS, Span, periods_of
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.programs import Queue, QueueChain, QueuedJob, QueueTimes
from mawl.records.model.summary.time import Observed, Period

NOT_RECORDED = "no recording of the host covers this period"


def observed_timeline(
    line: Timeline, facts: RunFacts, jobs: Sequence[JobRecord], samples: RunSamples | None
) -> Timeline:
    """The timeline of an import with its periods, and with the part of it that figures over time are of.

    That part is what recordings cover of the run; of periods far apart it is the part of the one that they
    cover longest, or the longest period where there is no recording.
    """
    pieces = recorded_pieces(samples)
    periods = periods_of(_job_spans(jobs) or pieces)
    if not periods:
        return line
    chosen = max(periods, key=lambda period: (_seconds(_covered(pieces, period)), period[1] - period[0]))
    recorded = _recorded_span(pieces, chosen)
    start, end = recorded or chosen
    if len(periods) == 1 and end - start >= WHOLE_RATIO * line.elapsed_seconds:
        return line
    own = timeline([job for job in jobs if _lies_in(job, chosen)], facts.workload.sessions)
    turn = own.started_at + own.active_seconds if own else end
    found = msgspec.structs.replace(
        line, observed=ObservedSpan(start, min(max(turn, start), end), end, bool(recorded))
    )
    if len(periods) == 1:
        return found
    return msgspec.structs.replace(found, mean_concurrent=None, periods=tuple(periods))


def recorded_pieces(samples: RunSamples | None) -> list[Span]:
    """The times that recordings of hosts cover without a gap, of any node, in order."""
    pieces: list[Span] = []
    for node in samples.nodes if samples else ():
        kinds = {name.partition(".")[0]: name for name in samples.names(node)} if samples else {}
        for kind, name in kinds.items():
            series = samples.series(node, name) if samples else None
            if kind not in ("host", "device") or series is None or len(series.times) < 2:
                continue
            steps = np.diff(series.times)
            known = steps if series.known is None else np.diff(series.known)
            gaps = np.flatnonzero((known <= 0) | (steps >= LEAST_GAP_SECONDS))
            firsts, lasts = np.append(0, gaps + 1), np.append(gaps, len(series.times) - 1)
            pieces += zip(series.times[firsts].tolist(), series.times[lasts].tolist(), strict=True)
    return sorted(piece for piece in pieces if piece[1] > piece[0])


def why_not_one_run(line: Timeline) -> str | None:
    """Why there is no elapsed time; None where the run is one."""
    if not line.periods:
        return None
    longest = max(after[0] - before[1] for before, after in zip(line.periods, line.periods[1:], strict=False))
    return (
        f"not one run: {len(line.periods)} periods lie up to {format_seconds(longest)} apart "
        "(time.periods lists each)"
    )


def observed_remark(line: Timeline | None) -> list[str]:
    """What figures over time are of, where recordings do not cover the whole import."""
    if line is None or line.observed is None or not line.observed.recorded:
        return []
    start, end = line.span
    part = f"from {_minute(start)} to {_minute(end)} ({format_seconds(end - start)})"
    if line.period is not None:
        number = line.periods.index(line.period) + 1
        return [
            f"figures over time, of the host and of devices are of period {number} of {len(line.periods)} "
            f"alone, {part}; import each period by itself for all of its figures"
        ]
    share = (end - start) / line.elapsed_seconds
    return [
        f"recordings cover {format_percent(share)} of the run: figures over time, of the host "
        f"and of devices are of that part alone, {part}"
    ]


def observed_of(line: Timeline | None, missing: Missing) -> Observed | None:
    """``time.observed``, the part of the run that figures over time are of; None for the whole of it."""
    part = line.observed if line else None
    if part is None:
        missing["time.observed"] = "figures over time are of the whole run"
        return None
    return Observed(
        started_at=format_instant(part.start),
        ended_at=format_instant(part.end),
        length_seconds=part.end - part.start,
    )


def period_figures(
    line: Timeline | None,
    jobs: Sequence[JobRecord],
    samples: RunSamples | None,
    device: Counters,
    missing: Missing,
) -> list[Period]:
    """Each period with its jobs and what the host did in it; empty for one run."""
    if line is None or not line.periods:
        return []
    pieces = recorded_pieces(samples)
    prefix = "time.periods.*"
    missing |= {
        f"{prefix}.{name}": NOT_RECORDED
        for name in (
            *("recorded_seconds", "cpu_busy_ratio", "cpu_iowait_ratio"),
            *(f"device_{direction}_bytes_per_second" for direction in ("read", "write")),
        )
    } | {
        f"{prefix}.real_time_seconds": "no job of the period that counts has a real time",
        f"{prefix}.peak_concurrent": "no job was imported",
    }
    by_period: dict[Span, list[JobRecord]] = {period: [] for period in line.periods}
    firsts = [start for start, _ in line.periods]
    for job in jobs:
        if job.started_at is not None and job.ended_at is not None:
            by_period[line.periods[bisect_right(firsts, job.started_at) - 1]].append(job)
    return [_period(period, own, samples, device, pieces) for period, own in by_period.items()]


def _period(
    period: Span,
    own: Sequence[JobRecord],
    samples: RunSamples | None,
    device: Counters,
    pieces: Sequence[Span],
) -> Period:
    line = timeline(own, len({job.session for job in own}))
    real = [value for job in counted(own) if (value := job.usage.real_time_seconds) is not None]
    edges = _recorded_span(pieces, period)
    spent, moved = {}, dict.fromkeys(("read", "write"))
    if samples is not None and edges is not None:
        spent = {kind: rates(samples, [f"host.cpu_{kind}_seconds"], edges)[0] for kind in CPU_KINDS}
        moved |= {way: found[0] for way, found in device.flow(samples, edges).items() if way in moved}
    whole = whole_seconds(spent) if spent else 0.0
    waited = spent.get("iowait")
    return Period(
        started_at=format_instant(period[0]),
        length_seconds=period[1] - period[0],
        jobs=len(own),
        peak_concurrent=line.peak_concurrent if line else None,
        real_time_seconds=sum(real) if real else None,
        recorded_seconds=_seconds(_covered(pieces, period)) or None,
        cpu_busy_ratio=busy_ratio(spent) if spent else None,
        cpu_iowait_ratio=None if waited is None or not whole else waited / whole,
        device_read_bytes_per_second=moved["read"],
        device_write_bytes_per_second=moved["write"],
    )


def _job_spans(jobs: Sequence[JobRecord]) -> list[Span]:
    return [
        (job.started_at, max(job.started_at, job.ended_at))
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ]


def _lies_in(job: JobRecord, period: Span) -> bool:
    return (
        job.started_at is not None and job.ended_at is not None and period[0] <= job.started_at <= period[1]
    )


def _recorded_span(pieces: Sequence[Span], period: Span) -> Span | None:
    """First to last moment of a period that recordings cover; their longest piece where they leave more than
    half of that open, since no figure is given of so little."""
    covered = _covered(pieces, period)
    if not covered:
        return None
    whole = (covered[0][0], covered[-1][1])
    if _seconds(covered) >= LEAST_COVERED_RATIO * (whole[1] - whole[0]):
        return whole
    return max(covered, key=lambda piece: piece[1] - piece[0])


def _covered(pieces: Sequence[Span], period: Span) -> list[Span]:
    """The parts of a period that any of the pieces covers, in order; pieces that meet are one."""
    covered: list[Span] = []
    for start, end in ((max(start, period[0]), min(end, period[1])) for start, end in pieces):
        if end <= start:
            continue
        if covered and start <= covered[-1][1]:
            covered[-1] = (covered[-1][0], max(covered[-1][1], end))
        else:
            covered.append((start, end))
    return covered


def _seconds(spans: Sequence[Span]) -> float:
    return sum(end - start for start, end in spans)


def _minute(at: float) -> str:
    return format_instant(at)[:16].replace("T", " ") + " UTC"


MOST_LONGEST = 10


def queue_block(jobs: Sequence[JobRecord], line: Timeline | None, missing: Missing) -> Queue | None:
    """The block; None if no job of the run was found in the history of a scheduler."""
    submitted = [job for job in jobs if job.submitted_at is not None]
    if not submitted:
        return None
    known = [job for job in submitted if job.queue_seconds is not None]
    if not known:
        missing["queue.times"] = "the scheduler's history does not separate the queue from other waits"
    programs: dict[str, list[JobRecord]] = {}
    for job in known:
        programs.setdefault(job.program, []).append(job)
    return Queue(
        submitted=len(submitted),
        times=times_of(known),
        chain=_chain(jobs, line, missing),
        programs={name: found for name in sorted(programs) if (found := times_of(programs[name]))},
        longest=[
            _queued(job) for job in sorted(known, key=lambda job: -_queue(job))[:MOST_LONGEST] if _queue(job)
        ],
    )


def _queue(job: JobRecord) -> float:
    return job.queue_seconds or 0.0


def times_of(jobs: Sequence[JobRecord]) -> QueueTimes | None:
    """Queue times of the jobs that have one; None if none has."""
    waited = [job.queue_seconds for job in jobs if job.queue_seconds is not None]
    if not waited:
        return None
    return QueueTimes(
        jobs=len(waited),
        median_seconds=statistics.median(waited),
        p95_seconds=float(np.quantile(waited, 0.95)),
        most_seconds=max(waited),
        sum_seconds=sum(waited),
    )


def _queued(job: JobRecord) -> QueuedJob:
    return QueuedJob(
        job=job.job,
        program=job.program,
        submitted_at=None if job.submitted_at is None else format_instant(job.submitted_at),
        queue_seconds=_queue(job),
        real_time_seconds=job.usage.real_time_seconds,
    )


def _chain(jobs: Sequence[JobRecord], line: Timeline | None, missing: Missing) -> QueueChain | None:
    apart = None if line is None else why_not_one_run(line)
    if apart is not None:
        missing["queue.chain"] = apart
        return None
    return chain_of(jobs, missing)


def chain_of(jobs: Sequence[JobRecord], missing: Missing) -> QueueChain | None:
    """How much of the chain that ended last was queue; None, with the reason, if that is not known."""
    chain = last_chain(jobs)
    if not chain:
        missing["queue.chain"] = "no job has both a start and an end"
        return None
    lacking = sum(job.queue_seconds is None for job in chain)
    if lacking:
        missing["queue.chain"] = (
            f"{lacking} of the {len(chain)} jobs of the chain that ended last have no queue time"
        )
        return None
    first, last = chain[0], chain[-1]
    queue = _queue(first) + sum(
        min(_queue(job), max((job.started_at or 0.0) - (before.ended_at or 0.0), 0.0))
        for before, job in pairwise(chain)
    )
    length = (last.ended_at or 0.0) - (first.started_at or 0.0) + _queue(first)
    return QueueChain(
        jobs=len(chain),
        length_seconds=length,
        queue_seconds=queue,
        queue_ratio=ratio(queue, length, "queue.chain.queue_ratio", missing),
    )


def last_chain(jobs: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs that led to the last end, first to last: each but the first followed one of its session.

    A job that was in a queue followed the last one that ended while it was there, or at most
    ``FOLLOW_SECONDS`` earlier: schedulers start jobs in cycles, often more than a
    few seconds after a slot became free.
    """
    timed = [job for job in jobs if job.started_at is not None and job.ended_at is not None]
    if not timed:
        return []
    chain = [max(timed, key=lambda job: job.ended_at or 0.0)]
    mine = [job for job in timed if (job.node, job.session) == (chain[0].node, chain[0].session)]
    mine.sort(key=lambda job: (job.started_at or 0.0, job.stage))
    by_name = {job.job: place for place, job in enumerate(mine)}
    while True:
        place = by_name[chain[-1].job]
        near = mine[max(place - MOST_AFTER, 0) : place]
        before = predecessors(chain[-1], near, _queue(chain[-1]))
        if not before:
            return chain[::-1]
        chain.append(max(before, key=lambda job: job.ended_at or 0.0))
