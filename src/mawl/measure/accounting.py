"""CPU, memory and I/O of processes by the kernel's accounts: sums over job trees at 1 Hz, and usage records.

Sources: getrusage(2), wait4(2), ``/proc/PID/io``, ``stat`` and ``task/*/children`` (proc(5)).  The root of
``/proc`` is a parameter of the sampler, so that a folder can stand in for a machine.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import resource
import time
from collections.abc import Mapping, Sequence
from operator import add
from pathlib import Path
from typing import NamedTuple

from mawl.measure.processes import PROC, WatchedProcess
from mawl.records.model.node import MOST_JOBS_READ_AT_ONCE
from mawl.records.model.records import Usage

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_BETWEEN_WALKS = 5
_YOUNG_LOOKS = 3
"""A process is walked at each of its first looks."""
_COUNTERS_OF_IO = 4
"""The first of a process's figures; CPU and run delay follow."""
_TICKS_BETWEEN_THREAD_WALKS = 20
"""Children that other threads than the first forked take one file a thread to find."""


class TreeSample(NamedTuple):
    """Sums over one job's process tree; I/O is None where the kernel does not count it.

    Counters (I/O, CPU) never fall from one sample of a job to the next.  ``resident_bytes`` adds
    up ``VmRSS``, so pages that processes share count once for each.
    """

    application_read_bytes: int | None
    application_written_bytes: int | None
    own_read_bytes: int | None
    charged_written_bytes: int | None
    user_cpu_seconds: float
    system_cpu_seconds: float
    resident_bytes: int
    processes: int
    run_delay_seconds: float
    """Waiting for a CPU: the largest sum over living threads seen so far."""
    read_at: float | None = None
    """Monotonic time of the last look at CPU and run queue."""
    first_on_cpu_seconds: float = 0.0
    first_run_delay_seconds: float = 0.0
    """Of the first thread of the first process."""
    helpers: int = 0
    """Other threads that got a CPU since the look before."""
    stopped: int | None = None
    """Pid of a process that a signal has stopped, None if none is; the launcher looks after the root."""
    living_run_delay_seconds: float = 0.0
    """Waiting for a CPU of threads that lived at ``read_at``: less than the largest sum after one ended."""
    first_sleeps_on_timer: bool = False
    """Whether the first thread slept for a time that it chose, at the last look at which others had run."""


class ProcessSampler:
    """The runner's 1 Hz look at every job's tree.

    A root is the process that reaps a job's tree (the pid of
    ``Forked``): its counters take in every descendant it reaped, since
    the kernel folds CPU and I/O of a reaped child into its parent; its own memory is mawl's and is
    left out.  A process that dies between two samples is missing from the sums until it is reaped;
    sums hold their last value meanwhile.  Children of a process that ignores SIGCHLD are folded
    nowhere by the kernel, and drop out when they end.
    """

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._trees: dict[tuple[str, int], _Tree] = {}
        self._numbers = itertools.count()
        self._ticks = 0

    def sample(self, roots: Mapping[str, int]) -> dict[str, TreeSample]:
        """Sums per job for ``roots`` (job to root pid); what is no longer asked for is forgotten.

        A job whose root is gone is left out: ``Reaped`` has the truth.
        """
        wanted = set(roots.items())
        for key in self._trees.keys() - wanted:
            self._trees.pop(key).close()
        self._ticks += 1
        # Of many jobs only I/O is read every tick; figures.open_jobs evens the sums of the rest out.
        in_turns = len(roots) > MOST_JOBS_READ_AT_ONCE
        samples = {}
        for job, pid in roots.items():
            tree = self._trees.get((job, pid))
            if tree is None:
                tree = self._trees[job, pid] = _Tree(pid, self._proc, next(self._numbers))
            sums = tree.sample(io_only=in_turns and (tree.number + self._ticks) % 2 == 1)
            if sums is not None:
                samples[job] = sums
        return samples

    def close(self) -> None:
        self.sample({})


class _Tree:
    """One job's known processes; found ones stay known until they are gone."""

    def __init__(self, root: int, proc: Path, number: int) -> None:
        self.number = number
        self._root, self._proc = WatchedProcess(root, proc), proc
        self._known: dict[int, WatchedProcess] = {}
        """In the order in which they were found: a parent, whose counters take in what it reaped, is read
        before its children, so that nothing is counted twice."""
        self._highest = [0, 0, 0, 0, 0, 0, 0]
        self._living_run_delay = 0
        self._ticks = 0
        self._young = True
        self._read_at: float | None = None
        self._last: TreeSample | None = None
        self._first: WatchedProcess | None = None
        self._helpers = 0
        self._on_timer = False

    def sample(self, *, io_only: bool) -> TreeSample | None:
        """The sums now; ``io_only`` leaves the rest as it was read last."""
        # Counters are sums: nothing is lost by rare walks, and they are a third of the cost.
        walk = self._young or self._ticks % _TICKS_BETWEEN_WALKS == 0
        self._ticks += 1
        # What is gone changes the counters of what reaped it.
        if not walk and self._read(io_only):
            if io_only and not any(process.io_changed for process in self._known.values()):
                return self._last
        elif not self._walk():
            return None
        sums = self._root.figures
        for process in self._known.values():
            sums = list(map(add, sums, process.figures))
        if not io_only:
            self._note_first()
        if io_only:  # also what a walk has read: a sum out of its turn would be neither of now nor of then
            sums[_COUNTERS_OF_IO:] = self._highest[_COUNTERS_OF_IO:]
        else:
            # A zombie has written its own down.
            self._living_run_delay = sum(
                process.figures[-1] for process in self._known.values() if not process.is_zombie
            )
        self._highest = list(map(max, self._highest, sums))
        self._last = self._sample()
        return self._last

    def _note_first(self) -> None:
        """Note the first thread, which is followed also when its process is gone (it gains nothing then)."""
        if self._first is None:
            self._first = next(iter(self._known.values()), None)
        ran = sum(process.ran for process in self._known.values())
        self._read_at, self._helpers = time.monotonic(), max(ran - 1, 0)
        has_others = sum(len(process.turns) for process in self._known.values()) > 1
        self._on_timer = bool(ran and has_others and self._first and self._first.sleeps_on_timer())

    def _read(self, io_only: bool) -> bool:
        """Read what changes each second; False when some process is gone.

        The root does nothing itself, and what it reaps is missed here.
        """
        for process in self._known.values():
            if not (process.read_io() if io_only else process.read() and process.read_run_delay()):
                return False
        return bool(self._known)

    def _walk(self) -> bool:
        """Read all, and look for children; False when the root is gone."""
        every_thread = self._ticks % _TICKS_BETWEEN_THREAD_WALKS == 1
        queue, seen, self._young = [self._root, *self._known.values()], set(self._known), False
        for process in queue:  # grows while it is walked
            if not process.read():
                if process is self._root:
                    return False
                process.close()
                self._known.pop(process.pid, None)
                continue
            if process is not self._root:  # whose waiting is mawl's
                self._known[process.pid] = process
                process.read_run_delay(look_for_threads=True)
            self._young = self._young or process.looks < _YOUNG_LOOKS
            for pid in process.children(every_thread):
                if pid not in seen:
                    seen.add(pid)
                    queue.append(WatchedProcess(pid, self._proc))
        return True

    def _sample(self) -> TreeSample:
        read, written, device_read, device_written, user, system, delay = self._highest
        io_seen = self._root.io_seen or any(process.io_seen for process in self._known.values())
        resident_pages = sum(process.resident_pages for process in self._known.values())
        stopped = (process.pid for process in self._known.values() if process.stopped)
        return TreeSample(
            read if io_seen else None,
            written if io_seen else None,
            device_read if io_seen else None,
            device_written if io_seen else None,
            user / _TICKS_PER_SECOND,
            system / _TICKS_PER_SECOND,
            resident_pages * _PAGE_BYTES,
            len(self._known),
            delay / 1e9,
            self._read_at,
            0.0 if self._first is None else self._first.first_on_cpu / 1e9,
            0.0 if self._first is None else self._first.first_run_delay / 1e9,
            self._helpers,
            next(stopped, None),
            self._living_run_delay / 1e9,
            self._on_timer,
        )

    def close(self) -> None:
        for process in (self._root, *self._known.values()):
            process.close()


IO_FIELDS = (
    "application_read_bytes",
    "application_written_bytes",
    "read_calls",
    "write_calls",
    "own_read_bytes",
    "charged_written_bytes",
    "cancelled_written_bytes",
)
"""Fields of ``Usage`` in the order of the lines of ``/proc/PID/io``."""

_MOST_BYTES = 16384
_PEAK = b"\nVmHWM:"


class OwnIo:
    """``/proc/self/io`` of the process that made it, through a kept descriptor.

    Make a new one after a fork: the descriptor belongs to the process that opened it.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):  # a kernel without task I/O accounting has no such file
            self._descriptor = os.open("/proc/self/io", os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes | None:
        """The file's text, or None where the kernel does not count."""
        return None if self._descriptor is None else os.pread(self._descriptor, 512, 0)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def io_between(before: bytes | None, after: bytes | None) -> list[int] | None:
    """Counters of ``/proc/PID/io`` (order of ``IO_FIELDS``) from one reading to the next.

    The first reading is itself one read call of its own length, counted by the second: taken out.
    """
    if before is None or after is None:
        return None
    counts = [last - first for first, last in zip(io_counts(before), io_counts(after), strict=True)]
    counts[0] -= len(before)
    counts[2] -= 1
    return counts


def usage_of(
    usage: resource.struct_rusage, io: Sequence[int] | None = None, real_time_seconds: float | None = None
) -> Usage:
    """A usage record from a kernel's ``struct rusage`` and counters in the order of ``IO_FIELDS``.

    ``page_swaps`` stays None: Linux keeps ``ru_nswap`` at zero without counting.
    """
    counts: dict[str, int] = {} if io is None else dict(zip(IO_FIELDS, io, strict=True))
    return Usage(
        real_time_seconds=real_time_seconds,
        user_cpu_seconds=usage.ru_utime,
        system_cpu_seconds=usage.ru_stime,
        os_memory_bytes=usage.ru_maxrss * 1024,
        page_faults=usage.ru_majflt,
        page_reclaims=usage.ru_minflt,
        voluntary_context_switches=usage.ru_nvcsw,
        involuntary_context_switches=usage.ru_nivcsw,
        block_input_operations=usage.ru_inblock,
        block_output_operations=usage.ru_oublock,
        **counts,
    )


def own_usage(real_time_seconds: float | None = None) -> Usage:
    """What the calling process (all threads, no children) used since it began."""
    io = OwnIo()
    text = io.read()
    io.close()
    return usage_of(
        resource.getrusage(resource.RUSAGE_SELF),
        None if text is None else io_counts(text),
        real_time_seconds,
    )


def usage_of_process(pid: int, proc: Path = Path("/proc")) -> Usage | None:
    """CPU (in ticks of 10 ms), faults and peak memory of a process alone; None when it is gone."""
    try:
        stat, status = _text(f"{proc}/{pid}/stat"), _text(f"{proc}/{pid}/status")
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    place = status.find(_PEAK)
    peak = None if place < 0 else status[place + len(_PEAK) : place + len(_PEAK) + 32].split(None, 1)[0]
    return Usage(
        user_cpu_seconds=int(fields[11]) / _TICKS_PER_SECOND,
        system_cpu_seconds=int(fields[12]) / _TICKS_PER_SECOND,
        page_reclaims=int(fields[7]),
        page_faults=int(fields[9]),
        os_memory_bytes=None if peak is None else int(peak) * 1024,
    )


def _text(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def resident_bytes() -> int:
    """Resident size of the calling process now (``VmRSS``)."""
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * _PAGE_BYTES


def address_space_bytes() -> int:
    """Address space of the calling process now (``VmSize``)."""
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * _PAGE_BYTES


def address_space_limit() -> int | None:
    """Bytes of address space that this process may have (``ulimit -v``); None where nothing limits it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def shared_bytes() -> int | None:
    """Of the resident size of the calling process: all but pages that it alone holds and has written.

    ``Rss`` less ``Private_Dirty`` of smaps_rollup (proc_pid_smaps(5), since Linux 4.14); about 1 ms.
    """
    sizes = _own_sizes()
    return None if sizes is None else sizes[0] - sizes[1]


def private_peak_bytes() -> int | None:
    """The most memory that the calling process held for itself alone, estimated.

    ``Private_Dirty`` of smaps_rollup, and what the resident size has fallen since its peak (``VmHWM`` of
    proc_pid_status(5) less ``Rss``).  None where the kernel has no smaps_rollup.
    """
    sizes = _own_sizes()
    if sizes is None:
        return None
    peak = re.search(rb"VmHWM:\s+(\d+) kB", _text("/proc/self/status"))
    given_back = 0 if peak is None else max(int(peak[1]) * 1024 - sizes[0], 0)
    return sizes[1] + given_back


def _own_sizes() -> tuple[int, int] | None:
    """``Rss`` and ``Private_Dirty`` of the calling process."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text()
    except OSError:
        return None
    sizes = dict(re.findall(r"^(Rss|Private_Dirty):\s+(\d+) kB", text, re.MULTILINE))
    if len(sizes) != 2:
        return None
    return int(sizes["Rss"]) * 1024, int(sizes["Private_Dirty"]) * 1024


def io_counts(text: bytes) -> list[int]:
    """The numbers of ``/proc/PID/io``, in the order of ``IO_FIELDS``."""
    return [int(count) for count in text.split()[1::2]]
