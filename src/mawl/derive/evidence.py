"""The evidence of a derived workload: how much of each program's load is told, inferred and assumed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from mawl.base.errors import UsageError
from mawl.derive.jobs import StepEvidence
from mawl.derive.step_bytes import Ends
from mawl.derive.tables import ORIGINS, RULES, Origin, Ranged
from mawl.figures.imported import chain_of, times_of
from mawl.figures.nights import Night
from mawl.figures.view import RunView
from mawl.records.model.derived import DerivedJob
from mawl.records.model.records import JobRecord
from mawl.records.model.summary.programs import QueueChain, QueueTimes

_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2})")


class NightResult(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the logs' own night was held: ``spare_seconds`` before its end, negative where it was missed.

    ``chain`` are the jobs, first to last, that the last end waited for, as far as they followed one another.
    ``grown_end_seconds`` is the last end if each job took longer by the growth of the rows; None without one.
    """

    last_end_seconds: float
    spare_seconds: float
    chain: tuple[str, ...]
    grown_end_seconds: float | None = None


def parse_night(text: str, zone: tzinfo | None = None) -> Night:
    """``2026-03-02T20:00/06:00``, or with a whole time behind the slash; in ``zone`` (default UTC).

    Raises ``UsageError`` for anything else, and for more than 31 days.
    """
    first, slash, last = text.partition("/")
    try:
        start = datetime.fromisoformat(first)
        start = start if start.tzinfo else start.replace(tzinfo=zone or UTC)
        if match := _CLOCK.fullmatch(last):
            end = start.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
            end = end if end > start else end + timedelta(days=1)
        else:
            end = datetime.fromisoformat(last)
            end = end if end.tzinfo else end.replace(tzinfo=zone or UTC)
        # By timestamps: datetimes of one zone subtract as wall clocks do, without the hour of a clock change.
        starts_at, ends_at = start.timestamp(), end.timestamp()
    except (ValueError, OverflowError):
        slash, starts_at, ends_at = "", 0.0, 0.0
    if not slash or not 0 < ends_at - starts_at <= 31 * 86400:
        raise UsageError(
            f"--night {text}: expected START/END, at most 31 days apart",
            cure="write the start with its date and the end as a clock time: 2026-03-02T20:00/06:00",
        )
    return Night(starts_at, ends_at)


def in_night(jobs: Sequence[JobRecord], night: Night) -> list[JobRecord]:
    """The jobs that started within the window."""
    return [
        job
        for job in jobs
        if job.started_at is not None and night.starts_at <= job.started_at < night.ends_at
    ]


def result_of(
    jobs: Sequence[DerivedJob],
    evidence: Sequence[JobEvidence],
    window_seconds: float,
    growth: float,
) -> NightResult | None:
    """How the logs' night ended.  None without any end."""
    ends = {job.job: job.ended_seconds for job in evidence if job.ended_seconds is not None}
    if not ends:
        return None
    last = max(ends, key=lambda name: ends[name])
    by_name = {job.name: job for job in jobs}
    chain = [last]
    while after := [name for name in by_name[chain[-1]].after if name in ends]:
        chain.append(max(after, key=lambda name: ends[name]))
    return NightResult(
        last_end_seconds=ends[last],
        spare_seconds=window_seconds - ends[last],
        chain=tuple(reversed(chain)),
        grown_end_seconds=None if growth == 1 else _grown_end(jobs, evidence, ends, growth),
    )


def _grown_end(
    jobs: Sequence[DerivedJob], evidence: Sequence[JobEvidence], ends: Mapping[str, float], growth: float
) -> float:
    """The last end if each job took ``growth`` times as long, with the same pauses between jobs."""
    starts = {job.job: job.started_seconds for job in evidence if job.started_seconds is not None}
    grown: dict[str, float] = {}
    for job in sorted(jobs, key=lambda one: starts.get(one.name, math.inf)):
        if job.name not in starts or job.name not in ends:
            continue
        before = [one for one in job.after if one in grown]
        start = starts[job.name]
        if before:
            last = max(ends[one] for one in before)
            start = max(start, max(grown[one] for one in before) + max(start - last, 0.0))
        grown[job.name] = start + (ends[job.name] - starts[job.name]) * growth
    return max(grown.values(), default=max(ends.values()))


FORMAT = 2
"""Of ``evidence.json``.  History: 1, the first; 2, steps have ranges of their bytes over all roles, and parts
of 0 bytes with a range for roles that the logs leave open; those of a program are null if none is told."""

Shares = dict[Origin, float]
"""What is told, inferred and assumed of a sum, in the unit of the figure."""


class LoadOfProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs of a program: sums over their steps by origin, and the range of each sum.

    CPU in seconds; bytes read and written of all roles (None: no step tells them, so only their range is
    known); memory is the mean of the steps' peaks.
    """

    program: str
    jobs: int
    steps: int
    cpu_seconds: Shares
    cpu_seconds_range: tuple[float, float]
    moved_bytes: Shares | None
    moved_bytes_range: tuple[float, float]
    memory_bytes: Shares
    memory_bytes_range: tuple[float, float]


class JobEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One job: its program, its place on the clock of the logs, its queue time (None: not known), and its
    steps."""

    job: str
    program: str
    started_seconds: float | None
    ended_seconds: float | None
    queue_seconds: float | None
    steps: tuple[StepEvidence, ...]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What of the logs is in no derived job, by reason.

    ``tables_beyond_the_first`` are those beyond the first 100 of a step, ``steps_beyond_the_first`` those
    beyond the first 10,000 of a job.
    """

    jobs_outside_the_night: int
    jobs_without_times: int
    jobs_not_chosen: int
    jobs_without_steps: int
    views_and_startup_steps: int
    tables_of_databases: int
    tables_beyond_the_first: int
    steps_beyond_the_first: int
    lines_skipped: int


class UnknownBytes(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs do not say about bytes, by the number of steps that lack it.

    ``steps_of_unknown_block_size``: their platform (AIX, Windows, z/OS, or several in one) counts block
    operations and does not say how large they are, so these are not used.  ``steps_of_assumed_block_size``:
    their logs name no platform, or share a node with logs that name neither host nor platform, and a block
    operation is taken as 512 bytes, as on Linux.
    ``steps_without_utility_files``: sorts, joins and summaries; notes of SAS never name utility files.
    ``bytes_of_these``: what these steps read and write; mawl infers which part of it is of role util.
    """

    steps_of_unknown_block_size: int
    steps_of_assumed_block_size: int
    steps_without_utility_files: int
    bytes_of_these: float


class HostBytes(msgspec.Struct, frozen=True, kw_only=True):
    """What block devices moved while the jobs ran, for all programs, and what the steps of the logs moved.

    Devices move less where memory serves reads, and more where others use them or the logs leave steps out.
    """

    device_read_bytes: float
    device_written_bytes: float
    steps_read_bytes: float
    steps_written_bytes: float


class QueueOfNight(msgspec.Struct, frozen=True, kw_only=True):
    """What the history of a scheduler has on the derived jobs.

    ``submitted``: jobs with a known submission.  ``not_before``: jobs that followed another one and have an
    earliest start, the time at which they could run.  ``chain``: the chain that ended last (None: not known).
    """

    submitted: int
    not_before: int
    times: QueueTimes | None
    chain: QueueChain | None


class DerivedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of ``evidence.json``; it holds numbers, rules and plain names, and no text of a log.

    ``device_share`` is the share of reads of known size that block operations count (None: no step shows it);
    from 0.9 on they are taken for all that is read.  ``host`` needs a recording of the host and
    all jobs of the logs, ``queue`` a history of their scheduler.
    """

    format: int = FORMAT
    jobs_in_logs: int
    names: str
    arrivals: str
    growth: float
    scale: float
    window_seconds: float | None
    night: NightResult | None
    device_share: float | None
    host: HostBytes | None
    queue: QueueOfNight | None
    left_out: LeftOut
    not_told: UnknownBytes
    programs: tuple[LoadOfProgram, ...]
    jobs: tuple[JobEvidence, ...]
    rules: dict[str, str]


def programs_of(jobs: Sequence[JobEvidence]) -> tuple[LoadOfProgram, ...]:
    """One record a program, the one with the most CPU time first."""
    mine: dict[str, list[JobEvidence]] = {}
    for job in jobs:
        mine.setdefault(job.program, []).append(job)
    found = [_load(program, group) for program, group in mine.items()]
    return tuple(sorted(found, key=lambda load: (-sum(load.cpu_seconds.values()), load.program)))


def _load(program: str, jobs: Sequence[JobEvidence]) -> LoadOfProgram:
    steps = [step for job in jobs for step in job.steps]
    cpu = [step.cpu_seconds for step in steps]
    moved = [one for step in steps for one in (*step.read_bytes.values(), *step.written_bytes.values())]
    memory = [step.memory_bytes.times(1 / len(steps)) for step in steps]
    ends = [end for step in steps for end in (step.read_bytes_range, step.written_bytes_range)]
    moved_range = _sum_of(ends)
    untold = moved_range[1] > 0 and not any(part.value for part in moved)
    return LoadOfProgram(
        program=program,
        jobs=len(jobs),
        steps=len(steps),
        cpu_seconds=_shares(cpu),
        cpu_seconds_range=_range(cpu),
        moved_bytes=None if untold else _shares(moved),
        moved_bytes_range=moved_range,
        memory_bytes=_shares(memory),
        memory_bytes_range=_range(memory),
    )


def _shares(parts: Sequence[Ranged]) -> Shares:
    return {origin: math.fsum(part.value for part in parts if part.origin == origin) for origin in ORIGINS}


def _range(parts: Sequence[Ranged]) -> Ends:
    return _sum_of([(part.low, part.high) for part in parts])


def _sum_of(ranges: Sequence[Ends]) -> Ends:
    return math.fsum(low for low, _ in ranges), math.fsum(high for _, high in ranges)


def host_of(view: RunView, jobs: Sequence[JobEvidence]) -> HostBytes | None:
    """Devices beside steps; None where no recording tells both directions."""
    device = view.summary.io.device
    if device.read_bytes is None or device.written_bytes is None:
        return None
    steps = [step for job in jobs for step in job.steps]
    return HostBytes(
        device_read_bytes=device.read_bytes,
        device_written_bytes=device.written_bytes,
        steps_read_bytes=math.fsum(one.value for step in steps for one in step.read_bytes.values()),
        steps_written_bytes=math.fsum(one.value for step in steps for one in step.written_bytes.values()),
    )


def queue_of(jobs: Sequence[JobRecord], not_before: int) -> QueueOfNight | None:
    """What the history of a scheduler has on these jobs; None if it does not have any of them."""
    submitted = sum(job.submitted_at is not None for job in jobs)
    if not submitted:
        return None
    return QueueOfNight(
        submitted=submitted,
        not_before=not_before,
        times=times_of(jobs),
        chain=chain_of(jobs, {}),
    )


def rules_used(jobs: Sequence[JobEvidence]) -> dict[str, str]:
    """The rules that some number of the evidence names, with their sentences."""
    used = {
        rule
        for job in jobs
        for step in job.steps
        for rule in (
            step.kernel_rule,
            step.cpu_seconds.rule,
            step.memory_bytes.rule,
            step.threads.rule,
            *(one.rule for one in step.read_bytes.values()),
            *(one.rule for one in step.written_bytes.values()),
        )
    }
    if any(job.queue_seconds is not None for job in jobs):
        used.add("queue")
    return {rule: RULES[rule] for rule in RULES if rule in used}


def whole(shares: Mapping[Origin, float]) -> float:
    """The sum over origins."""
    return math.fsum(shares.values())
