"""Steps of a job: a context manager around each, a record for each that ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import msgspec

from mawl.measure.preload.job import JobCounters, Reading
from mawl.measure.run_delay import first_thread_seconds, own_run_delay_seconds
from mawl.measure.snapshot import Snapshot, Snapshots, reset_peak, usage_between
from mawl.model.followed import spent, waits_of, waits_without_io
from mawl.model.records import StepKind, StepRecord
from mawl.model.role_io import FileRole, IoByRole, Waits
from mawl.model.usage import Usage


class DirectBytes(Protocol):
    """Who counts the bytes of a job's requests that passed by the page cache."""

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
        """Give the kept descriptors back."""
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
        """:attr:`peak_bytes` less the resident size when the job was ready."""
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
