"""Steps of a job: a context manager that measures what its process uses, and reports a record."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import msgspec

from mawl.measure.accounting import IO_FIELDS, io_counts
from mawl.measure.preload.job import JobCounters, Reading
from mawl.measure.processes import first_thread_seconds, own_run_delay_seconds
from mawl.records.model.records import StepKind, StepRecord, Usage, spent, waits_of, waits_without_io
from mawl.records.model.role_io import FileRole, IoByRole, Waits

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
    """Takes snapshots of the process that calls it, in about 25 microseconds each.

    They hold resource usage of the process and its reaped children, ``/proc/self/io``, and the peak and
    present resident size from ``/proc/self/status``.  The two files stay open, since opening costs more than
    reading; after a fork they would still be the parent's, so the process id is checked before each reading.
    """

    def __init__(self) -> None:
        self._owner = 0
        self._io: int | None = None
        self._status: int | None = None

    def take(self) -> Snapshot:
        self._open()
        io_text = os.pread(self._io, 512, 0) if self._io is not None else b""
        own = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        status_text = self._read_status()
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
            io=tuple(io_counts(io_text)) or None,
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
        io = {name: after - before for name, before, after in zip(IO_FIELDS, start.io, end.io, strict=True)}
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
    match = pattern.search(text)
    return int(match[1]) * 1024 if match else None


class DirectBytes(Protocol):
    """Counts the bytes of a job's requests that went past the page cache."""

    read_bytes: int
    written_bytes: int


class RunningStep:
    """What a program may say about the step it is in; rows are None until it does."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows_read: int | None = None
        self.rows_written: int | None = None


class StepRecorder:
    """Measures the steps of one job and hands each record to ``report``, also of one that raises.

    ``resident_bytes`` is the resident size when the job's process was ready; by default the size
    now.  A step's ``memory_bytes`` is its peak less that.  ``counters`` are the job's; I/O by role
    goes into their ledger, and from it into the records.
    """

    def __init__(
        self,
        job: str,
        report: Callable[[StepRecord], None],
        *,
        resident_bytes: int | None = None,
        counters: JobCounters | None = None,
    ) -> None:
        self.job = job
        self._counters = counters
        self._report = report
        self._snapshots = Snapshots()
        self._resident = self._snapshots.memory()[1] if resident_bytes is None else resident_bytes
        self._number = 0
        self._peak: int | None = None
        self.direct: DirectBytes | None = None
        """Counts what the program moves past the page cache; None where nobody does."""
        self._direct_before = (0, 0)
        self.current: str | None = None
        """The name of the running step, or of the last one that raised."""
        self._others_bytes = 0
        """Memory that other processes of the running step held alone."""

    def add_memory(self, others_bytes: int) -> None:
        """Count what another process of the running step held alone into the step's peak."""
        self._others_bytes += others_bytes

    def close(self) -> None:
        self._snapshots.close()

    @property
    def ready_bytes(self) -> int | None:
        """Resident size when the job was ready, which the memory of steps does not count."""
        return self._resident

    @property
    def peak_bytes(self) -> int | None:
        """Largest resident size seen since the recorder was made, between steps included."""
        self._note_peak(self._snapshots.memory()[0])
        return self._peak

    @property
    def memory_bytes(self) -> int | None:
        return self._beyond_ready(self.peak_bytes)

    @contextmanager
    def step(self, name: str, kind: StepKind = "procedure") -> Iterator[RunningStep]:
        """Measure what happens inside.  Steps do not nest, since the peak is reset process-wide."""
        if self.current is not None:
            raise RuntimeError(f"step {name!r} cannot begin inside step {self.current!r}")
        running = RunningStep(name)
        self._number += 1
        self.current, self._others_bytes = name, 0
        # The mark holds the peak since the last step ended; it must not get lost by the reset.
        self._note_peak(self._snapshots.memory()[0])
        has_reset = reset_peak()
        count = None if self._counters is None else self._counters.read()
        threads = self._threads_now()
        self._direct_before = self._direct_so_far() or (0, 0)
        start = self._snapshots.take()
        try:
            yield running
        except BaseException:
            self._end(running, kind, start, has_reset, count, threads)
            raise
        self._end(running, kind, start, has_reset, count, threads)
        self.current = None

    def _end(
        self,
        running: RunningStep,
        kind: StepKind,
        start: Snapshot,
        has_reset: bool,
        count: Reading | None,
        threads: _Threads,
    ) -> None:
        end = self._snapshots.take()
        threads_end = self._threads_now()
        whole = None if end.peak_bytes is None else end.peak_bytes + self._others_bytes
        self._note_peak(whole)
        # Without the reset the mark is the job's, not the step's: then the step's is not known.
        peak = whole if has_reset else None
        usage = msgspec.structs.replace(
            usage_between(start, end), os_memory_bytes=peak, memory_bytes=self._beyond_ready(peak)
        )
        io = None
        if self._counters is not None and count is not None:
            io = self._counters.note_step(self._number, count)
        direct = self._direct_so_far()
        waits = _waits(usage, threads, threads_end, io)
        self._report(
            StepRecord(
                job=self.job,
                number=self._number,
                name=running.name,
                kind=kind,
                started_at=start.at,
                ended_at=end.at,
                usage=usage,
                rows_read=running.rows_read,
                rows_written=running.rows_written,
                direct_read_bytes=None if direct is None else direct[0] - self._direct_before[0],
                direct_written_bytes=None if direct is None else direct[1] - self._direct_before[1],
                waits=waits,
            )
        )

    def _direct_so_far(self) -> tuple[int, int] | None:
        return None if self.direct is None else (self.direct.read_bytes, self.direct.written_bytes)

    def _threads_now(self) -> _Threads:
        first = first_thread_seconds(os.getpid())
        if self._counters is None:
            return _Threads(own_run_delay_seconds(), first, {})
        return _Threads(self._counters.run_delay_seconds(), first, self._counters.file.first_waited_seconds)

    def _note_peak(self, peak: int | None) -> None:
        if peak is not None:
            self._peak = peak if self._peak is None else max(self._peak, peak)

    def _beyond_ready(self, peak: int | None) -> int | None:
        if peak is None or self._resident is None:
            return None
        return max(peak - self._resident, 0)


class _Threads(NamedTuple):
    """Run delay of all threads; CPU time, run delay and waiting in calls of the first one."""

    delay: float | None
    first: tuple[float, float] | None
    waited: dict[FileRole, float]


def _waits(usage: Usage, start: _Threads, end: _Threads, io: IoByRole | None) -> Waits:
    if start.delay is None or end.delay is None or start.first is None or end.first is None:
        return Waits()
    delay = max(end.delay - start.delay, 0.0)
    first = end.first[0] - start.first[0], end.first[1] - start.first[1]
    if io is None or usage.cpu_seconds is None:
        return waits_without_io(first, usage.cpu_seconds, delay)
    waited = {role: seconds - start.waited[role] for role, seconds in end.waited.items()}
    whole = {role: of_role.waited_seconds for role, of_role in io.items()}
    return waits_of(usage.real_time_seconds, spent(*first, waited), spent(usage.cpu_seconds, delay, whole))
