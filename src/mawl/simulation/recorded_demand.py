"""The demand of a stored run: from the records of its jobs and steps, and the bytes of its devices."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from mawl.base.errors import UsageError
from mawl.records.model.records import JobRecord, StepRecord, Usage
from mawl.records.model.role_io import RoleIo, typical
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store import Run
from mawl.simulation.activity import outstanding_bytes, read_ahead_of
from mawl.simulation.demand import (
    BETWEEN_STEPS,
    Demand,
    Direction,
    Flow,
    JobDemand,
    Logged,
    LoggedBytes,
    StepDemand,
)

NO_CPU = "CPU seconds of every step: a step without them is taken to compute nothing"
NO_ROLES = "bytes and waits by role: what jobs waited for beyond CPU stays as it was on any devices"
NO_STEPS = "steps: each job is one step"
LEAST_BETWEEN_SECONDS = 1e-3
"""Of a job's time outside of its steps: less is rounding."""

NO_REACH = "reach by job: application bytes are used for device bytes"
LEAST_LACK_RATIO = 0.01
"""Of the jobs' real time: what steps lack that took less changes no forecast."""

LEAST_BLOCKED_RATIO = 0.1
"""Of a step: a thread that was blocked for less did something else (docs/design/waits.md)."""

MOST_AT_ONCE = 256.0
"""The largest ``queue_depth`` of a job."""

LEAST_SURPLUS_BYTES = 1.0


def demand_of(run: Run, summary: Summary, logged: Logged | None = None) -> Demand:
    """The demand of a stored run, measured or imported; ``summary`` is that of the same run.

    A step without I/O by role has the bytes of ``logged``, if it is in there.  If some reach a device, all
    waiting of the step is taken for I/O: real time less CPU time, the most that it can be.  The roles share
    this time by their bytes at the devices.

    Device bytes of a step are its own, shared out over roles by their application bytes, and then
    brought to the sum that was measured at each role's devices, where every role has its own: reads
    beyond it are taken for pages of programs (``_unpaged``), all else is brought there in proportion.
    Raises ``UsageError`` where no job has a time.
    """
    steps: dict[str, list[StepRecord]] = defaultdict(list)
    for step in run.step_records():
        if step.kind not in ("view", "nested"):
            steps[step.job].append(step)
    jobs: dict[str, JobDemand] = {}
    lacks: defaultdict[str, float] = defaultdict(float)
    read_ahead = read_ahead_of(run.facts)
    seconds = 0.0
    for job in run.job_records():
        if job.outcome != "finished" or job.usage.real_time_seconds is None:
            continue
        seconds += job.usage.real_time_seconds
        ordered = sorted(steps[job.job], key=lambda step: step.number)
        found = _job(job, ordered, lacks, logged or {}, read_ahead)
        jobs[job.job] = found
    if not jobs:
        raise UsageError(
            "the run has no finished job with a real time",
            where=run.facts.run_id,
            cure="simulate a run whose jobs ended well",
        )
    return Demand(
        run_id=run.facts.run_id,
        jobs=at_devices(jobs, summary),
        lacks=tuple(sorted(lack for lack, of in lacks.items() if of >= LEAST_LACK_RATIO * seconds)),
    )


def _job(
    job: JobRecord,
    steps: Sequence[StepRecord],
    lacks: defaultdict[str, float],
    logged: Logged,
    read_ahead: Mapping[Role, float],
) -> JobDemand:
    usable = [step for step in steps if step.usage.real_time_seconds is not None]
    if not usable or len(usable) < len(steps):
        lacks[NO_STEPS] += job.usage.real_time_seconds or 0.0
        whole = _step(job.program, "data", job, lacks, read_ahead)
        made = [replace(whole, span=_span(job), memory_bytes=_memory(job.usage))]
    else:
        made = [
            replace(
                _of_step(one, lacks, logged, read_ahead),
                span=_span(one),
                memory_bytes=_memory(one.usage),
            )
            for one in usable
        ]
        made += _between(job, steps)
    kept = tuple(one for one in made if not (one.kind == "startup" and job.gate is not None))
    return JobDemand(
        job=job.job,
        program=job.program,
        program_class=job.program_class,
        steps=kept,
        memory_bytes=_memory(job.usage),
        shared_bytes=job.usage.shared_memory_bytes,
    )


def _memory(usage: Usage) -> int | None:
    if usage.memory_bytes is not None:
        return usage.memory_bytes
    return usage.os_memory_bytes


def _between(job: JobRecord, steps: Sequence[StepRecord]) -> list[StepDemand]:
    """The job's time that belongs to no step (files made and removed, modules loaded), as a last step."""
    own = [step for step in steps if step.kind not in ("startup", "verify")]

    def rest(of: Callable[[JobRecord | StepRecord], float | None]) -> float:
        return max((of(job) or 0.0) - sum(of(step) or 0.0 for step in own), 0.0)

    real = rest(lambda one: one.usage.real_time_seconds)
    if real < LEAST_BETWEEN_SECONDS:
        return []
    cpu = min(rest(lambda one: one.usage.cpu_seconds), real)
    queue = min(rest(lambda one: one.waits.run_queue_seconds), real - cpu)
    idle = real - cpu - queue
    blocked: dict[Role, float] = {}
    for role in ROLES:
        blocked[role] = min(rest(attrgetter(f"waits.blocked_{role}_seconds")), idle - sum(blocked.values()))
    return [
        StepDemand(
            name=BETWEEN_STEPS,
            kind="data",
            cpu_seconds=cpu,
            cpu_known=job.usage.cpu_seconds is not None,
            blocked_seconds=blocked,
            other_seconds=max(idle - sum(blocked.values()), 0.0),
            io_known=job.io is not None,
        )
    ]


def _span(record: JobRecord | StepRecord) -> tuple[float, float] | None:
    if record.started_at is None or record.ended_at is None:
        return None
    return record.started_at, record.ended_at


def _of_step(
    step: StepRecord, lacks: defaultdict[str, float], logged: Logged, read_ahead: Mapping[Role, float]
) -> StepDemand:
    """The demand of a step, with the bytes of its log if its I/O was not counted by role."""
    if step.io is not None or not logged:
        return _step(step.name, step.kind, step, lacks, read_ahead)
    plain = _step(step.name, step.kind, step, defaultdict(float), read_ahead)
    if step.usage.cpu_seconds is None:
        lacks[NO_CPU] += step.usage.real_time_seconds or 0.0
    step_bytes = logged.get((step.job, step.number))
    if step_bytes is None:
        return plain
    flows = tuple(_logged_flows(step_bytes))
    every = sum(flow.device_bytes for flow in flows)
    if not every:
        return replace(plain, flows=flows, io_known=True)
    blocked = dict.fromkeys(ROLES, 0.0)
    for flow in flows:
        blocked[flow.role] += plain.other_seconds * flow.device_bytes / every
    return replace(
        plain, flows=flows, blocked_seconds=blocked, other_seconds=0.0, io_known=True, waits_known=True
    )


def _logged_flows(logged: LoggedBytes) -> Iterator[Flow]:
    ways: tuple[tuple[Direction, Mapping[Role, float], float | None], ...] = (
        ("read", logged.read, logged.device_read_bytes),
        ("write", logged.written, logged.device_written_bytes),
    )
    for direction, parts, total in ways:
        every = sum(parts.values())
        for role, amount in parts.items():
            if amount > 0.0:
                yield Flow(
                    role=role,
                    direction=direction,
                    application_bytes=amount,
                    device_bytes=amount if total is None else total * amount / every,
                )


def _step(
    name: str,
    kind: str,
    record: JobRecord | StepRecord,
    lacks: defaultdict[str, float],
    read_ahead: Mapping[Role, float],
) -> StepDemand:
    """``lacks`` counts the seconds of steps that lack something."""
    usage, io, waits = record.usage, record.io, record.waits
    cpu = usage.cpu_seconds or 0.0
    real = usage.real_time_seconds or 0.0
    if usage.cpu_seconds is None:
        lacks[NO_CPU] += real
    threads = max(1.0, cpu / real if real else 1.0)
    blocked = {role: getattr(waits, f"blocked_{role}_seconds") for role in ROLES}
    waits_known = None not in blocked.values()
    if io is None or None in blocked.values():
        lacks[NO_ROLES] += real
        blocked = dict.fromkeys(ROLES, 0.0)
        other = max(real - cpu / threads - (waits.run_queue_seconds or 0.0), 0.0)
    else:
        other = waits.blocked_other_seconds or 0.0
        idle = max(real - cpu / threads, 0.0)
        waited = sum(blocked.values()) + other
        # Of several threads that wait side by side the sum is longer than the step.
        share = min(idle / waited, 1.0) if waited else 0.0
        blocked, other = {role: value * share for role, value in blocked.items()}, other * share
    return StepDemand(
        name=name,
        kind=kind,
        cpu_seconds=cpu,
        user_ratio=_user_ratio(usage),
        cpu_known=usage.cpu_seconds is not None,
        threads=threads,
        flows=_flows(record, lacks, read_ahead),
        blocked_seconds=blocked,
        other_seconds=other,
        page_faults=usage.page_faults or 0,
        io_known=io is not None,
        waits_known=waits_known,
    )


def _user_ratio(usage: Usage) -> float | None:
    if usage.user_cpu_seconds is None or usage.system_cpu_seconds is None:
        return None
    cpu = usage.user_cpu_seconds + usage.system_cpu_seconds
    return usage.user_cpu_seconds / cpu if cpu else 1.0


def _flows(
    record: JobRecord | StepRecord, lacks: defaultdict[str, float], read_ahead: Mapping[Role, float]
) -> tuple[Flow, ...]:
    usage, io = record.usage, record.io
    if io is None:
        return ()
    ways: tuple[tuple[Direction, float | None, int | None], ...] = (
        ("read", usage.own_read_bytes, record.direct_read_bytes),
        ("write", _lasting_bytes(usage), record.direct_written_bytes),
    )
    flows = []
    for direction, total, direct in ways:
        moved = {role: _moved(io.get(role, RoleIo()), direction) for role in ROLES}
        asked = sum(bytes_ for bytes_, *_ in moved.values())
        if not asked:
            continue
        if total is None:
            lacks[NO_REACH] += usage.real_time_seconds or 0.0
            total = asked
        direct_ratio = _part(direct, asked)
        for role, (bytes_, sequential, sizes) in moved.items():
            if not bytes_:
                continue
            device_bytes = total * bytes_ / asked
            at_once = requests_at_once(
                io[role].waited_seconds,
                getattr(record.waits, f"blocked_{role}_seconds"),
                usage.real_time_seconds,
            )
            flows.append(
                Flow(
                    role=role,
                    direction=direction,
                    application_bytes=bytes_,
                    device_bytes=device_bytes,
                    request_bytes=typical(sizes, 0.5),
                    sequential_ratio=sequential / bytes_,
                    direct_ratio=direct_ratio,
                    requests_at_once=at_once,
                    outstanding_bytes=outstanding_bytes(
                        io[role],
                        direction,
                        device_bytes=device_bytes,
                        direct_ratio=direct_ratio or 0.0,
                        requests_at_once=at_once,
                        read_ahead_bytes=read_ahead[role],
                    ),
                )
            )
    return tuple(flows)


def _part(bytes_: int | None, asked: int) -> float | None:
    if bytes_ is None:
        return None
    return min(bytes_ / asked, 1.0)


def requests_at_once(
    waited_seconds: float, blocked_seconds: float | None, real_seconds: float | None
) -> float:
    """Waits of all threads of a step for a role, over the time in which it waited.

    That is the time of the thread on which the step's end depends.  If that thread hardly waited, others did
    beside its work: then it is the whole step.
    """
    if not blocked_seconds or not real_seconds:
        return 1.0
    waiting = blocked_seconds if blocked_seconds >= LEAST_BLOCKED_RATIO * real_seconds else real_seconds
    return min(max(waited_seconds / waiting, 1.0), MOST_AT_ONCE)


def _lasting_bytes(usage: Usage) -> float | None:
    """Written bytes that were charged, less those that were never written because the file went first."""
    if usage.charged_written_bytes is None:
        return None
    return max(usage.charged_written_bytes - (usage.cancelled_written_bytes or 0), 0)


def _moved(io: RoleIo, direction: str) -> tuple[int, int, Mapping[int, int]]:
    if direction == "read":
        return io.read_bytes, io.sequential_read_bytes, io.read_size_bytes_histogram
    return io.written_bytes, io.sequential_written_bytes, io.write_size_bytes_histogram


def at_devices(jobs: dict[str, JobDemand], summary: Summary) -> dict[str, JobDemand]:
    """Device bytes brought to what the devices showed: of each role, or of all where they share some."""
    by_role = summary.io.devices_by_role
    whole = summary.host.role_devices if summary.host else None

    def key_of(flow: Flow) -> tuple[str, str]:
        return (flow.role if by_role is not None else "all"), flow.direction

    def wanted(role: str, direction: str) -> float | None:
        measured = getattr(by_role, role) if by_role is not None else whole
        if measured is None:
            return None
        moved: float | None = measured.read_bytes if direction == "read" else measured.written_bytes
        return moved

    placed: dict[tuple[str, str], list[tuple[float, Flow]]] = defaultdict(list)
    for step in (step for job in jobs.values() for step in job.steps):
        alike = Counter(map(key_of, step.flows))
        for flow in step.flows:
            placed[key_of(flow)].append((step.page_faults / alike[key_of(flow)], flow))
    kept: dict[int, float] = {}
    for (role, direction), flows in placed.items():
        total = wanted(role, direction)
        if total is None:
            continue
        amounts = [flow.device_bytes for _, flow in flows]
        if direction == "read":
            amounts = _unpaged(amounts, [faults for faults, _ in flows], sum(amounts) - total)
        if not sum(amounts):
            amounts = [flow.application_bytes for _, flow in flows]
        factor = total / sum(amounts)
        kept |= {id(flow): amount * factor for (_, flow), amount in zip(flows, amounts, strict=True)}

    def brought(flow: Flow) -> Flow:
        return replace(flow, device_bytes=kept[id(flow)]) if id(flow) in kept else flow

    return {
        name: replace(
            job,
            steps=tuple(replace(step, flows=tuple(map(brought, step.flows))) for step in job.steps),
        )
        for name, job in jobs.items()
    }


def _unpaged(charged: Sequence[float], faults: Sequence[float], surplus: float) -> list[float]:
    """Charged bytes without ``surplus``, as far as page faults explain it.

    The kernel charges a job also for pages of programs and libraries, which come from no role's devices.
    Every fault is taken to have read as much as any other, and no more than was charged beside it; those of
    a step count in equal parts in each of its flows.
    """
    left = list(charged)
    while surplus > LEAST_SURPLUS_BYTES:
        paging = sum(count for count, bytes_ in zip(faults, left, strict=True) if bytes_ > 0.0)
        if not paging:
            break
        each, taken = surplus / paging, 0.0
        for place, count in enumerate(faults):
            part = min(count * each, left[place])
            left[place] -= part
            taken += part
        surplus -= taken
    return left
