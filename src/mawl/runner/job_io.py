"""A job's own I/O by role and waits: what its counters say in the end, less start-up and verify."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mawl.measure.preload.ledger import START, Entry
from mawl.model.messages import Reaped
from mawl.model.options import ROLES
from mawl.model.records import StepRecord
from mawl.model.role_io import (
    IoByRole,
    VolumeBytes,
    Waits,
    io_between,
    sum_by_role,
    sum_by_volume,
    sum_of,
    volumes_between,
    waits_of,
)
from mawl.model.usage import Usage
from mawl.runner.counting import JobCount
from mawl.units import format_bytes

UNSEEN_RATIO, UNSEEN_BYTES = 0.01, 2**17
"""More than both of the kernel's bytes uncounted is worth a remark; mawl's own lines are below."""

NOT_COUNTED = "no program of the job could be counted: static, set-uid, or with an environment of its own"
DAMAGED_FILE = "the job damaged the file of its counters, and nothing in it is believed"

LOADED_BYTES = 2**13
"""What the kernel and the loader read to start a program, before it can count: 3 to 6 kB for small ones."""


class OwnIo(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of :class:`~mawl.model.records.JobRecord` that come from the counters."""

    io: IoByRole | None = None
    waits: Waits = Waits()
    counted_read_bytes: int | None = None
    counted_written_bytes: int | None = None
    io_remark: str | None = None
    volume_bytes: VolumeBytes | None = None


def run_delay_of(reaped: Reaped, count: JobCount | None, sampled_seconds: float) -> float | None:
    """What a job's whole tree waited for a CPU; None where the kernel does not say.

    Threads that were killed write nothing down, and without counters none does: then the last look at
    the living ones (``sampled_seconds``, taken once a second) stands in.
    """
    if reaped.run_delay_seconds is None:
        return None
    if count is None:
        return max(reaped.run_delay_seconds, sampled_seconds)
    living = max(reaped.run_delay_seconds, sampled_seconds if reaped.signal is not None else 0.0)
    return count.run_delay_seconds + living


def own_io(
    count: JobCount | None,
    steps: Sequence[StepRecord],
    usage: Usage,
    *,
    run_delay_seconds: float | None,
    started_delay_seconds: float | None,
) -> OwnIo:
    """What belongs to the job itself.

    ``usage`` is its own; ``run_delay_seconds`` is the tree's (:func:`run_delay_of`) and
    ``started_delay_seconds`` the part of it before the job was released.
    """
    verify = [step for step in steps if step.kind == "verify"]
    delay = None
    if run_delay_seconds is not None:
        checking = sum(step.waits.run_queue_seconds or 0.0 for step in verify)
        delay = max(run_delay_seconds - (started_delay_seconds or 0.0) - checking, 0.0)
    if count is None or count.images == 0:
        remark = None
        if count is not None:
            remark = DAMAGED_FILE if count.damaged else NOT_COUNTED
        waits = waits_of(usage.real_time_seconds, usage.cpu_seconds, delay, None)
        return OwnIo(waits=waits, io_remark=remark)
    apart = [
        count.entries[number] for number in (START, *(s.number for s in verify)) if number in count.entries
    ]
    io = io_between(sum_by_role(entry.io for entry in apart), count.io)
    read = max(count.moved_bytes[0] - sum(entry.moved_read_bytes for entry in apart), 0)
    written = max(count.moved_bytes[1] - sum(entry.moved_written_bytes for entry in apart), 0)
    return OwnIo(
        io=io,
        waits=waits_of(usage.real_time_seconds, usage.cpu_seconds, delay, io, one_thread=count.one_thread),
        counted_read_bytes=read,
        counted_written_bytes=written,
        io_remark=_remark(count, io, usage, read + written),
        volume_bytes=_by_volume(count, apart),
    )


def _by_volume(count: JobCount, apart: Sequence[Entry]) -> VolumeBytes | None:
    """The job's own bytes by volume."""
    if count.volumes is None:
        return None
    return volumes_between(sum_by_volume(entry.volumes for entry in apart), count.volumes)


def _remark(count: JobCount, io: IoByRole, usage: Usage, counted: int) -> str | None:
    """What the counters could not see of this job; None where nothing shows that they missed any."""
    seen = []
    roles = sum_of(io[role] for role in ROLES)
    if count.io_uring_setups:
        seen.append("it used io_uring, whose requests are not seen")
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
