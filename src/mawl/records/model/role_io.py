"""I/O by role as a job's own calls had it, and where its time went (docs/design/io-by-role.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from mawl.records.spec.program_options import ROLES, Role

FileRole = Literal["data", "work", "util", "other"]
FILE_ROLES: tuple[FileRole, ...] = (*ROLES, "other")
"""The roles, and ``other`` for files that lie under none of them."""

Histogram = dict[int, int]
"""Lower bound of a bucket (nanoseconds or bytes) to calls; empty buckets are not in it."""


class RoleIo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What calls moved in the directories of one role.

    ``reads`` and ``writes`` are calls that returned, ``failed_*`` those of them with an error;
    ``*_seconds`` is time inside the calls and ``*_waited_seconds`` the part of it that was neither
    CPU nor waiting for a CPU; ``open_seconds`` are those of opens, closes and changes of a file's
    length.  ``uncaching_seconds`` is the part of the time inside reads, writes and closes that
    ``--cache none`` added: writeback that is started and waited for, and pages dropped.
    ``sequential_*`` are bytes of requests that continue one of the last 16 streams on their file.
    ``mapped_bytes`` were mapped (what of them was touched is not known), ``submitted_*`` were asked of
    asynchronous I/O, without a latency; neither is in the bytes.
    """

    reads: int = 0
    writes: int = 0
    syncs: int = 0
    opens: int = 0
    failed_reads: int = 0
    failed_writes: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    sequential_read_bytes: int = 0
    sequential_written_bytes: int = 0
    mapped_bytes: int = 0
    submitted_read_bytes: int = 0
    submitted_written_bytes: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0
    sync_seconds: float = 0.0
    open_seconds: float = 0.0
    read_waited_seconds: float = 0.0
    write_waited_seconds: float = 0.0
    sync_waited_seconds: float = 0.0
    open_waited_seconds: float = 0.0
    uncaching_seconds: float = 0.0
    longest_read_seconds: float = 0.0
    longest_write_seconds: float = 0.0
    read_nanoseconds_histogram: Histogram = {}
    write_nanoseconds_histogram: Histogram = {}
    read_size_bytes_histogram: Histogram = {}
    write_size_bytes_histogram: Histogram = {}

    @property
    def waited_seconds(self) -> float:
        """Time inside calls that was neither CPU nor waiting for a CPU."""
        return (
            self.read_waited_seconds
            + self.write_waited_seconds
            + self.sync_waited_seconds
            + self.open_waited_seconds
        )


IO_FIELDS: tuple[str, ...] = RoleIo.__struct_fields__
HISTOGRAMS = frozenset(name for name in IO_FIELDS if name.endswith("_histogram"))
LONGEST = {
    "longest_read_seconds": "read_nanoseconds_histogram",
    "longest_write_seconds": "write_nanoseconds_histogram",
}
"""Maxima, and the histogram that bounds them in a difference."""

IoByRole = dict[FileRole, RoleIo]

VolumeBytes = dict[int, tuple[int, int]]
"""Bytes that calls read and wrote by volume: 1 is the first directory of data, the last one of util's.
Volumes in which nothing moved are not in it."""


def refused_roles(io: IoByRole) -> list[Role]:
    """The roles where a read or a write failed."""
    return [role for role in ROLES if role in io and io[role].failed_reads + io[role].failed_writes]


class Waits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the time of a job or step went (docs/design/waits.md); None where it is not known.

    The six add up to its real time, however many threads it has: they are those of the thread on which its
    end depends.  ``blocked_other_seconds`` is sleep outside the roles' files.
    """

    on_cpu_seconds: float | None = None
    run_queue_seconds: float | None = None
    blocked_data_seconds: float | None = None
    blocked_work_seconds: float | None = None
    blocked_util_seconds: float | None = None
    blocked_other_seconds: float | None = None


WAIT_FIELDS: tuple[str, ...] = Waits.__struct_fields__


def sum_of(ios: Iterable[RoleIo]) -> RoleIo:
    """Add up, field by field; of maxima the largest."""
    parts = list(ios)
    values: dict[str, object] = {}
    for name in IO_FIELDS:
        column = [getattr(part, name) for part in parts]
        if name in HISTOGRAMS:
            values[name] = _added(column)
        else:
            values[name] = max(column, default=0.0) if name in LONGEST else sum(column)
    return RoleIo(**values)  # type: ignore[arg-type]


def sum_by_role(ios: Iterable[Mapping[FileRole, RoleIo]]) -> IoByRole:
    """Add up role by role."""
    parts = list(ios)
    return {role: sum_of(part[role] for part in parts if role in part) for role in FILE_ROLES}


def io_between(start: Mapping[FileRole, RoleIo], end: Mapping[FileRole, RoleIo]) -> IoByRole:
    """What came between two readings of the same counters.

    A maximum cannot be taken apart: it is the end's, but no more than the upper bound of the
    difference's last bucket, so it is right within 1/16 (exact where the longest call came between).
    """
    return {role: _less(end.get(role, RoleIo()), start.get(role, RoleIo())) for role in FILE_ROLES}


def volumes_between(start: VolumeBytes, end: VolumeBytes) -> VolumeBytes:
    """Bytes by volume that moved between two readings of the same counters."""
    moved: VolumeBytes = {}
    for volume, (read, written) in end.items():
        read_before, written_before = start.get(volume, (0, 0))
        moved[volume] = (max(read - read_before, 0), max(written - written_before, 0))
    return {volume: both for volume, both in moved.items() if any(both)}


def sum_by_volume(parts: Iterable[VolumeBytes]) -> VolumeBytes:
    """Add up volume by volume."""
    whole: VolumeBytes = {}
    for part in parts:
        for volume, (read, written) in part.items():
            before = whole.get(volume, (0, 0))
            whole[volume] = (before[0] + read, before[1] + written)
    return dict(sorted(whole.items()))


def _less(whole: RoleIo, part: RoleIo) -> RoleIo:
    values: dict[str, object] = {}
    for name in IO_FIELDS:
        value, taken = getattr(whole, name), getattr(part, name)
        if name in HISTOGRAMS:
            left = {bound: count - taken.get(bound, 0) for bound, count in value.items()}
            values[name] = {bound: count for bound, count in left.items() if count > 0}
        elif name not in LONGEST:
            values[name] = max(value - taken, type(value)(0))
    for name, histogram in LONGEST.items():
        buckets: Histogram = values[histogram]  # type: ignore[assignment]
        bound = upper_bound(max(buckets)) / 1e9 if buckets else 0.0
        values[name] = min(getattr(whole, name), bound)
    return RoleIo(**values)  # type: ignore[arg-type]


def _added(histograms: Iterable[Histogram]) -> Histogram:
    whole: Histogram = {}
    for histogram in histograms:
        for bound, count in histogram.items():
            whole[bound] = whole.get(bound, 0) + count
    return dict(sorted(whole.items()))


SUB_BUCKETS = 16
"""Buckets of an octave; below 16 every number has its own."""


def upper_bound(lower: int) -> int:
    """The upper bound (exclusive) of the bucket that begins at ``lower``."""
    return lower + (1 if lower < SUB_BUCKETS else 1 << (lower.bit_length() - SUB_BUCKETS.bit_length()))


def typical(histogram: Mapping[int, int], share: float) -> int | None:
    """The lower bound of the bucket in which the ``share`` of the calls is reached; None without calls.

    For sizes, which are mostly powers of two: those it gives exactly, others at most 1/16 too small.
    """
    wanted, passed = sum(histogram.values()) * share, 0
    for lower in sorted(histogram):
        passed += histogram[lower]
        if histogram[lower] and passed >= wanted:
            return lower
    return None


def quantile(histogram: Mapping[int, int], share: float) -> float | None:
    """The value below which ``share`` of the calls lie, interpolated within its bucket; None without calls.

    A bucket is at most 1/16 of its lower bound wide, so the value is right within 6 %.
    """
    wanted = sum(histogram.values()) * share
    passed = 0
    for lower in sorted(histogram):
        count = histogram[lower]
        if count and passed + count >= wanted:
            return lower + (upper_bound(lower) - lower) * max(wanted - passed, 0.0) / count
        passed += count
    return None
