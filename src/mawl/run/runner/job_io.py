"""A job's own I/O by role and waits: what its counters say in the end, less start-up and verify."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import msgspec

from mawl.base.units import format_bytes
from mawl.measure.preload.job import START, Entry
from mawl.records.model.messages import Reaped, Started
from mawl.records.model.records import Look, StepRecord, Usage, spent, waits_of, waits_without_io
from mawl.records.model.role_io import (
    IoByRole,
    VolumeBytes,
    Waits,
    io_between,
    sum_by_role,
    sum_by_volume,
    sum_of,
    volumes_between,
)
from mawl.records.spec.program_options import ROLES
from mawl.run.runner.counting import JobCount

UNSEEN_RATIO, UNSEEN_BYTES = 0.01, 2**17
"""More than both of the kernel's bytes uncounted is worth a remark; mawl's own lines are below."""

NOT_COUNTED = "no program of the job could be counted: static, set-uid, or with its own environment"

REFUSED_CALL = (
    "a filter of system calls (seccomp) refused one, perhaps of mawl's counting library: "
    "env -u LD_PRELOAD before the program leaves the library out"
)

UNSEEN_WAITS_RATIO = 0.05
"""If more than this share of a job's bytes was not counted, what it waited for by role is not known."""

LOADED_BYTES = 2**13
"""What the kernel and the loader read to start a program, before it can count: 3 to 6 kB for small ones."""


LAUNCHER_GROWTH_BYTES = 2**20
"""What the launcher's copy may have grown between its last look at itself and the exec."""


class JobIo(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of ``JobRecord`` that come from the counters."""

    io: IoByRole | None = None
    waits: Waits = Waits()
    counted_read_bytes: int | None = None
    counted_written_bytes: int | None = None
    io_remark: str | None = None
    volume_bytes: VolumeBytes | None = None


def run_delay_of(reaped: Reaped, count: JobCount | None, sampled_seconds: float) -> float | None:
    """What a job's whole tree waited for a CPU; None where the kernel does not say.

    Threads that were killed write nothing down, and without counters no thread does: then the figure is at
    least what the tree had waited at the last look (``sampled_seconds``).
    """
    if reaped.run_delay_seconds is None:
        return None
    if count is None or count.fault is not None:
        return max(reaped.run_delay_seconds, sampled_seconds)
    written = count.run_delay_seconds + reaped.run_delay_seconds
    return written if reaped.signal is None else max(written, sampled_seconds)


def with_own_peak(reaped: Reaped, started: Started | None, count: JobCount | None) -> Reaped:
    """The end of a command with the peak of its own programs; None where that is not known.

    ``ru_maxrss`` keeps what a process held before exec, which of the first process is the launcher's copy: a
    larger figure is the command's.  Else the first process's counters have it.
    """
    peak, used = reaped.usage.os_memory_bytes, None if started is None else started.used
    launcher = None if used is None else used.os_memory_bytes
    if peak is not None and launcher is not None and peak > launcher + LAUNCHER_GROWTH_BYTES:
        return reaped
    own = None if count is None else count.first_peak_bytes
    own = None if own is None else max(own, reaped.orphan_memory_bytes)
    return msgspec.structs.replace(reaped, usage=msgspec.structs.replace(reaped.usage, os_memory_bytes=own))


def why_refused(exit_code: int | None, killed_by: int | None) -> str | None:
    """A sentence for a program that SIGSYS ended, or that a shell says so of; None for any other."""
    is_refused = killed_by == signal.SIGSYS or exit_code == 128 + signal.SIGSYS
    return REFUSED_CALL if is_refused else None


def own_io(
    count: JobCount | None,
    steps: Sequence[StepRecord],
    usage: Usage,
    *,
    run_delay_seconds: float | None,
    started_delay_seconds: float | None,
    first: tuple[float, float] | None = None,
) -> JobIo:
    """What belongs to the job itself.

    ``usage`` is its own; ``run_delay_seconds`` is the tree's (``run_delay_of``) and
    ``started_delay_seconds`` the part of it before the job was released; ``first`` is CPU time and run
    delay of the first thread alone, without start-up (``first_thread_of``).
    """
    verify = [step for step in steps if step.kind == "verify"]
    delay = None
    if run_delay_seconds is not None:
        checked = sum(step.waits.run_queue_seconds or 0.0 for step in verify)
        delay = max(run_delay_seconds - (started_delay_seconds or 0.0) - checked, 0.0)
    if first is not None:
        first = (
            _less_verify(first[0], "on_cpu_seconds", verify),
            _less_verify(first[1], "run_queue_seconds", verify),
        )
    if count is None or count.fault is not None:
        remark = None if count is None else count.fault
        return JobIo(waits=waits_without_io(first, usage.cpu_seconds, delay), io_remark=remark)
    apart = [
        count.entries[number] for number in (START, *(s.number for s in verify)) if number in count.entries
    ]
    io = io_between(sum_by_role(entry.io for entry in apart), count.io)
    read = max(count.moved_bytes[0] - sum(entry.moved_read_bytes for entry in apart), 0)
    written = max(count.moved_bytes[1] - sum(entry.moved_written_bytes for entry in apart), 0)
    if _are_waits_unseen(count, io, usage, read + written):
        waits = waits_without_io(first, usage.cpu_seconds, delay)
    else:
        waits = _waits(count, usage, delay, io, first, apart)
    if count.images == 0:
        return JobIo(waits=waits, io_remark=NOT_COUNTED)
    return JobIo(
        io=io,
        waits=waits,
        counted_read_bytes=read,
        counted_written_bytes=written,
        io_remark=_remark(count, io, usage, read + written),
        volume_bytes=_by_volume(count, apart),
    )


def first_thread_of(reaped: Reaped, started: Started | None) -> tuple[float, float] | None:
    """CPU time and run delay of a job's first thread since its release: until then it was the only one."""
    on_cpu, delay = reaped.first_on_cpu_seconds, reaped.first_run_delay_seconds
    if on_cpu is None or delay is None:
        return None
    used = started.used.cpu_seconds if started is not None and started.used is not None else None
    waited = started.run_delay_seconds if started is not None else None
    return max(on_cpu - (used or 0.0), 0.0), max(delay - (waited or 0.0), 0.0)


def last_look(
    reaped: Reaped, count: JobCount | None, cpu_seconds: float | None, run_delay_seconds: float | None
) -> Look | None:
    """A job at its end; None where a part is not known."""
    on_cpu, delay, at = reaped.first_on_cpu_seconds, reaped.first_run_delay_seconds, reaped.ended_monotonic
    if count is None or count.fault is not None or cpu_seconds is None or run_delay_seconds is None:
        return None
    if on_cpu is None or delay is None or at is None:
        return None
    whole = {role: of_role.waited_seconds for role, of_role in count.io.items()}
    return Look(
        at=at,
        first=spent(on_cpu, delay, count.first_waited_seconds),
        tree=spent(cpu_seconds, run_delay_seconds, whole),
    )


def _less_verify(whole: float, name: str, verify: Sequence[StepRecord]) -> float:
    return max(whole - sum(getattr(step.waits, name) or 0.0 for step in verify), 0.0)


def _waits(
    count: JobCount,
    usage: Usage,
    delay: float | None,
    io: IoByRole,
    first: tuple[float, float] | None,
    apart: Sequence[Entry],
) -> Waits:
    """The waits of the job itself; what it waited before its release and in verify was its first thread's."""
    if first is None or usage.cpu_seconds is None or delay is None:
        return Waits()
    before = sum_by_role(entry.io for entry in apart)
    waited = {
        role: max(seconds - before[role].waited_seconds, 0.0)
        for role, seconds in count.first_waited_seconds.items()
    }
    whole = {role: of_role.waited_seconds for role, of_role in io.items()}
    return waits_of(usage.real_time_seconds, spent(*first, waited), spent(usage.cpu_seconds, delay, whole))


def _by_volume(count: JobCount, apart: Sequence[Entry]) -> VolumeBytes | None:
    if count.volumes is None:
        return None
    return volumes_between(sum_by_volume(entry.volumes for entry in apart), count.volumes)


def _are_waits_unseen(count: JobCount, io: IoByRole, usage: Usage, counted: int) -> bool:
    """Whether calls that mawl did not time may have waited: io_uring, asynchronous I/O, a seccomp filter, or
    programs that were not counted.  A job that moved next to nothing waited for no device."""
    roles = sum_of(io[role] for role in ROLES)
    submitted = roles.submitted_read_bytes + roles.submitted_written_bytes
    kernel = (usage.application_read_bytes or 0) + (usage.application_written_bytes or 0)
    if count.images == 0 or roles.mapped_bytes:  # which no call moves
        kernel = max(kernel, (usage.own_read_bytes or 0) + (usage.charged_written_bytes or 0))
    unseen = max(kernel - counted, 0) + submitted
    loaded = max(UNSEEN_BYTES, count.images * LOADED_BYTES)
    return bool(count.io_uring_setups or count.silenced) or (
        unseen > loaded and unseen > UNSEEN_WAITS_RATIO * max(kernel, unseen)
    )


def _remark(count: JobCount, io: IoByRole, usage: Usage, counted: int) -> str | None:
    """What the counters could not see of this job; None where nothing shows that they missed any."""
    seen = []
    roles = sum_of(io[role] for role in ROLES)
    if count.io_uring_setups:
        seen.append("it used io_uring, whose requests are not seen")
    if count.silenced:
        seen.append(
            f"{count.silenced} programs entered a seccomp filter, after which times and newly opened files "
            "are not seen"
        )
    submitted = roles.submitted_read_bytes + roles.submitted_written_bytes
    if submitted:
        seen.append(f"{format_bytes(submitted)} were asked of asynchronous I/O, without a latency")
    if roles.mapped_bytes:
        seen.append(
            f"{format_bytes(roles.mapped_bytes)} were mapped, and what of them was touched is not seen"
        )
    if count.stdio_unseen:
        seen.append(f"streams of {count.stdio_unseen} programs with another C library are not seen")
    if usage.application_read_bytes is not None and usage.application_written_bytes is not None:
        kernel = usage.application_read_bytes + usage.application_written_bytes
        unseen = kernel - counted
        if unseen > UNSEEN_BYTES and count.images > 1 and unseen <= count.images * LOADED_BYTES:
            seen.append(f"{format_bytes(unseen)} are the loading of {count.images} programs")
        elif unseen > UNSEEN_BYTES and unseen > kernel * UNSEEN_RATIO:
            seen.append(
                f"{format_bytes(unseen)} of the {format_bytes(kernel)} that the kernel counted are not seen"
            )
    return "; ".join(seen) or None
