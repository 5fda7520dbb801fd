"""Jobs against their steps: the account of the whole process against those of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from mawl.archive.agreement.tables import RunRecords
from mawl.model.records import JobRecord, StepRecord
from mawl.model.role_io import (
    HISTOGRAMS,
    IO_FIELDS,
    LONGEST,
    WAIT_FIELDS,
    IoByRole,
    RoleIo,
    Waits,
    sum_by_role,
)
from mawl.model.usage import FIELDS, PEAKS, Usage, total

SECONDS = 1e-6
"""What sums of seconds in floating point may be off by."""
CLOCKS_SECONDS, CLOCKS_RATIO = 0.05, 0.001
WITHIN_OR_BEFORE = ("startup", "view", "nested")
"""Steps before the job's start, or within a step that follows them."""
_ADDED = tuple(name for name in FIELDS if name not in PEAKS)


def faults(records: RunRecords) -> Iterator[str]:
    """Sentences on jobs that are not the sum of their parts."""
    for name in sorted(set(records.steps) - set(records.by_name)):
        yield f"steps has rows of {name}, which is no job"
    for job in records.finished:
        steps = records.steps.get(job.job, [])
        if [step.number for step in steps] != list(range(1, job.steps + 1)):
            yield f"{job.job}: jobs counts {job.steps} steps, steps has other ones"
        yield from (f"{job.job}: {text}" for text in _usages(job, steps))
        yield from (f"{job.job}: {text}" for text in _times(job, steps))
        yield from (f"{job.job}: {text}" for text in _io(job, steps))


def _usages(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    own = total(step.usage for step in steps if step.kind in ("data", "procedure"))
    verify = total(step.usage for step in steps if step.kind == "verify")
    for name in _ADDED:
        whole, part = getattr(job.usage, name), getattr(own, name)
        if whole is not None and part is not None and part > whole + SECONDS:
            yield f"{name} is {whole} of the job, and its steps have {part}"
        if getattr(job.verify, name) != getattr(verify, name):
            yield f"verify_{name} is not that of the step verify"
        yield from _outside(name, job)
    for name in PEAKS:
        if getattr(job.verify, name) != getattr(verify, name):
            yield f"verify_{name} is not that of the step verify"
        of_steps, of_job = getattr(own, name), getattr(job.usage, name)
        if of_steps is not None and of_job is not None and of_steps > of_job:
            yield f"{name} is {of_job} of the job, and a step reached {of_steps}"
    if steps and job.usage.memory_bytes is not None:
        for step in steps:
            yield from _memory(step)


def _memory(step: StepRecord) -> Iterator[str]:
    above, whole = step.usage.memory_bytes, step.usage.os_memory_bytes
    if above is not None and whole is not None and above > whole:
        yield f"step {step.number} used more memory than its process had"


def _outside(name: str, job: JobRecord) -> Iterator[str]:
    """What an outside account of the process tree saw is start-up, own and verify together."""
    whole = getattr(job.total, name)
    parts = [getattr(usage, name) for usage in (job.usage, job.startup, job.verify)]
    if whole is None or parts[0] is None:
        return
    added = sum(part for part in parts if part is not None)
    if name == "real_time_seconds":
        wrong = added > whole + SECONDS  # it waited at the gate, too
    else:
        # Clocks of different calls may disagree by a tick: the job's own is then cut at zero.
        wrong = abs(whole - added) > SECONDS and not (parts[0] == 0 and added > whole)
    if wrong:
        yield f"total_{name} is {whole}, and start-up, own and verify are {added}"


def _times(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    yield from _waits("", job.waits, job.usage)
    if job.started_at is None or job.ended_at is None:
        yield "it finished without a start or an end"
        return
    if job.ended_at < job.started_at or (job.ready_at is not None and job.ready_at > job.started_at):
        yield "it was ready, started and ended in another order"
    real = job.usage.real_time_seconds
    if real is not None and _apart(
        job.ended_at - job.started_at, real + (job.verify.real_time_seconds or 0.0)
    ):
        yield f"it took {real} s, and its start and end are not so far apart"
    before = job.started_at
    for step in steps:
        yield from _waits(f"step {step.number}: ", step.waits, step.usage)
        if step.started_at is None or step.ended_at is None or step.kind in WITHIN_OR_BEFORE:
            continue
        if not before - 1e-3 <= step.started_at <= step.ended_at <= job.ended_at + 1e-3:
            yield f"step {step.number} began before the previous step ended, or is not within its job"
        real = step.usage.real_time_seconds
        if real is not None and _apart(step.ended_at - step.started_at, real):
            yield f"step {step.number} took {real} s, and its start and end are not so far apart"
        before = step.started_at


def _apart(wall: float, real: float) -> bool:
    """Whether two clocks disagree by more than a slew (adjtimex(2)) and the time between two readings."""
    return abs(wall - real) > CLOCKS_SECONDS + CLOCKS_RATIO * real


def _waits(where: str, waits: Waits, usage: Usage) -> Iterator[str]:
    values = [getattr(waits, name) for name in WAIT_FIELDS]
    if usage.real_time_seconds is None or None in values:
        return
    if min(values) < -SECONDS or abs(sum(values) - usage.real_time_seconds) > SECONDS:
        yield f"{where}CPU time, run queue and waits add up to {sum(values)} of {usage.real_time_seconds} s"


def _io(job: JobRecord, steps: list[StepRecord]) -> Iterator[str]:
    if job.io is None:
        return
    own = [step for step in steps if step.kind in ("data", "procedure")]
    parts = sum_by_role(step.io for step in own if step.io is not None)
    for role, whole in job.io.items():
        for name in IO_FIELDS:
            if name in HISTOGRAMS or name in LONGEST or role not in parts:
                continue
            if getattr(parts[role], name) > getattr(whole, name) + SECONDS:
                yield f"{role}_{name} is {getattr(whole, name)} of the job, and its steps have more"
        yield from (f"{role}: {text}" for text in _calls(whole))
    yield from _bytes(job, job.io)


def _calls(whole: RoleIo) -> Iterator[str]:
    """Each call has one latency and each that did not fail one size."""
    for ways, calls, moved in (("read", "reads", "read"), ("write", "writes", "written")):
        done, failed = getattr(whole, calls), getattr(whole, f"failed_{calls}")
        if sum(getattr(whole, f"{ways}_nanoseconds_histogram").values()) != done:
            yield f"the latencies of {calls} are of another number of calls"
        sizes = getattr(whole, f"{ways}_size_bytes_histogram")
        if sum(sizes.values()) != done - failed:
            yield f"the sizes of {calls} are of another number of calls"
        if sum(size * count for size, count in sizes.items()) > getattr(whole, f"{moved}_bytes"):
            yield f"the sizes of {calls} are more bytes than were {moved}"
        if getattr(whole, f"sequential_{moved}_bytes") > getattr(whole, f"{moved}_bytes"):
            yield f"more bytes were {moved} in sequence than at all"


def _bytes(job: JobRecord, io: IoByRole) -> Iterator[str]:
    """Bytes by volume, by role, by the counters and by the kernel."""
    for way, moved in ((0, "read"), (1, "written")):
        by_role = {role: getattr(one, f"{moved}_bytes") for role, one in io.items()}
        if job.volume_bytes is not None:
            by_volume = sum(both[way] for both in job.volume_bytes.values())
            of_roles = sum(count for role, count in by_role.items() if role != "other")
            if by_volume != of_roles:
                yield f"{by_volume} bytes were {moved} by volume, and {of_roles} by role"
        counted = getattr(job, f"counted_{moved}_bytes")
        if counted is not None and sum(by_role.values()) > counted:
            yield f"{sum(by_role.values())} bytes were {moved} by role, and {counted} in all"
    kernel, counted = job.usage.application_read_bytes, job.counted_read_bytes
    if kernel is not None and counted is not None and counted > kernel:
        yield f"{counted} bytes were read by the counters, and {kernel} by the kernel"
