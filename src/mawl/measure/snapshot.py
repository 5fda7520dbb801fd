"""What the calling process has used so far, in about 25 microseconds.

Resource usage of the process and its reaped children, ``/proc/self/io``, and the peak and present
resident size from ``/proc/self/status``.  The two files stay open, since opening costs more than
reading; after a fork they would still be the parent's, so the
process id is looked at before each reading.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import time

import msgspec

from mawl.model.usage import Usage

_IO = re.compile(
    rb"rchar: (\d+)\nwchar: (\d+)\nsyscr: (\d+)\nsyscw: (\d+)\n"
    rb"read_bytes: (\d+)\nwrite_bytes: (\d+)\ncancelled_write_bytes: (-?\d+)"
)
_PEAK = re.compile(rb"VmHWM:\s+(\d+) kB")
_RESIDENT = re.compile(rb"VmRSS:\s+(\d+) kB")


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Counters of one moment; ``io`` is None where the kernel has no /proc/self/io.

    ``reading_bytes`` is what taking the snapshot adds to ``rchar`` after ``io`` was made.
    """

    at: float
    monotonic_seconds: float
    user_cpu_seconds: float
    system_cpu_seconds: float
    page_faults: int
    page_reclaims: int
    voluntary_context_switches: int
    involuntary_context_switches: int
    block_input_operations: int
    block_output_operations: int
    io: tuple[int, ...] | None
    reading_bytes: int
    peak_bytes: int | None
    resident_bytes: int | None


class Snapshots:
    """Takes snapshots of the process that calls it."""

    def __init__(self) -> None:
        self._owner = 0
        self._io: int | None = None
        self._status: int | None = None

    def take(self) -> Snapshot:
        """The counters now: about 25 us."""
        self._open()
        io_text = os.pread(self._io, 512, 0) if self._io is not None else b""
        own = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        status_text = self._read_status()
        io = _IO.match(io_text)
        return Snapshot(
            at=time.time(),
            monotonic_seconds=time.monotonic(),
            user_cpu_seconds=own.ru_utime + children.ru_utime,
            system_cpu_seconds=own.ru_stime + children.ru_stime,
            page_faults=own.ru_majflt + children.ru_majflt,
            page_reclaims=own.ru_minflt + children.ru_minflt,
            voluntary_context_switches=own.ru_nvcsw + children.ru_nvcsw,
            involuntary_context_switches=own.ru_nivcsw + children.ru_nivcsw,
            block_input_operations=own.ru_inblock + children.ru_inblock,
            block_output_operations=own.ru_oublock + children.ru_oublock,
            io=tuple(int(number) for number in io.groups()) if io else None,
            reading_bytes=len(io_text) + len(status_text),
            peak_bytes=_kibibytes(_PEAK, status_text),
            resident_bytes=_kibibytes(_RESIDENT, status_text),
        )

    def memory(self) -> tuple[int | None, int | None]:
        """Peak (since the last reset) and present resident size, in bytes."""
        self._open()
        text = self._read_status()
        return _kibibytes(_PEAK, text), _kibibytes(_RESIDENT, text)

    def _read_status(self) -> bytes:
        return os.pread(self._status, 4096, 0) if self._status is not None else b""

    def close(self) -> None:
        """Close the two files."""
        for descriptor in (self._io, self._status):
            if descriptor is not None and self._owner == os.getpid():
                os.close(descriptor)
        self._owner, self._io, self._status = 0, None, None

    def _open(self) -> None:
        if self._owner == os.getpid():
            return
        # Descriptors inherited through a fork show the parent's figures: close them here too.
        for descriptor in (self._io, self._status):
            if descriptor is not None:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        self._owner = os.getpid()
        self._io = _open_or_none("/proc/self/io")
        self._status = _open_or_none("/proc/self/status")


def reset_peak() -> bool:
    """Set VmHWM and ru_maxrss of this process to its present size; False where that is refused."""
    try:
        with open("/proc/self/clear_refs", "wb", buffering=0) as file:
            file.write(b"5")
    except OSError:
        return False
    return True


def usage_between(start: Snapshot, end: Snapshot) -> Usage:
    """What was used from ``start`` to ``end``, without memory (a peak is no difference)."""
    io: dict[str, int] = {}
    if start.io is not None and end.io is not None:
        names = (
            "application_read_bytes",
            "application_written_bytes",
            "read_calls",
            "write_calls",
            "own_read_bytes",
            "charged_written_bytes",
            "cancelled_written_bytes",
        )
        io = {name: after - before for name, before, after in zip(names, start.io, end.io, strict=True)}
        # Taking the first snapshot counts as reading, after its own figures were made.
        io["application_read_bytes"] = max(io["application_read_bytes"] - start.reading_bytes, 0)
    return Usage(
        real_time_seconds=end.monotonic_seconds - start.monotonic_seconds,
        user_cpu_seconds=end.user_cpu_seconds - start.user_cpu_seconds,
        system_cpu_seconds=end.system_cpu_seconds - start.system_cpu_seconds,
        page_faults=end.page_faults - start.page_faults,
        page_reclaims=end.page_reclaims - start.page_reclaims,
        voluntary_context_switches=end.voluntary_context_switches - start.voluntary_context_switches,
        involuntary_context_switches=end.involuntary_context_switches - start.involuntary_context_switches,
        block_input_operations=end.block_input_operations - start.block_input_operations,
        block_output_operations=end.block_output_operations - start.block_output_operations,
        **io,
    )


def _open_or_none(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _kibibytes(pattern: re.Pattern[bytes], text: bytes) -> int | None:
    found = pattern.search(text)
    return int(found[1]) * 1024 if found else None
