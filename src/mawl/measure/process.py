"""1 Hz sums over whole job trees, from ``/proc/PID/io``, ``stat`` and ``task/*/children`` (proc(5)).

The root of ``/proc`` is a parameter, so that a folder of files serves as well as a machine.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mawl.measure.run_delay import plausible_run_delay

PROC = Path("/proc")

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_BETWEEN_WALKS = 5
"""A process's children are looked for when it is new and then every so many ticks: nothing is lost
by it, since counters are sums, and it is a third of the sampler's cost."""
_TICKS_BETWEEN_THREAD_WALKS = 20
"""Children that other threads than the first forked take one file a thread to find."""
_NEW_TICKS = 3


def children(pid: int, proc: Path = PROC) -> list[int]:
    """Children of a process, of all its threads; empty when it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(proc / str(pid) / "task"):
            found.extend(_children_of_thread(proc / str(pid) / "task" / thread / "children"))
    return found


class TreeSample(NamedTuple):
    """Sums over one job's process tree; I/O is None where the kernel does not count it.

    Counters (I/O, CPU) never fall from one sample of a job to the next.  ``resident_bytes`` adds
    up ``VmRSS``, so pages that processes share count once for each.
    """

    application_read_bytes: int | None
    application_written_bytes: int | None
    device_read_bytes: int | None
    device_written_bytes: int | None
    user_cpu_seconds: float
    system_cpu_seconds: float
    resident_bytes: int
    processes: int
    run_delay_seconds: float
    """Waiting for a CPU: the largest sum over living threads seen so far."""


class ProcessSampler:
    """The runner's 1 Hz look at every job's tree.

    A root is the process that reaps a job's tree (the pid of
    :class:`~mawl.model.messages.Forked`): its counters take in every descendant it reaped, since
    the kernel folds CPU and I/O of a reaped child into its parent; its own memory is mawl's and is
    left out.  A process that dies between two samples is missing from the sums until it is reaped;
    sums hold their last value meanwhile.  Children of a process that ignores SIGCHLD are folded
    nowhere by the kernel, and drop out when they end.
    """

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._trees: dict[tuple[str, int], _Tree] = {}

    def sample(self, roots: Mapping[str, int]) -> dict[str, TreeSample]:
        """Sums per job for ``roots`` (job to root pid); what is no longer asked for is forgotten.

        A job whose root is gone is left out: :class:`~mawl.model.messages.Reaped` has the truth.
        """
        wanted = set(roots.items())
        for key in self._trees.keys() - wanted:
            self._trees.pop(key).close()
        samples = {}
        for job, pid in roots.items():
            tree = self._trees.get((job, pid))
            if tree is None:
                tree = self._trees[job, pid] = _Tree(pid, self._proc)
            sums = tree.sample()
            if sums is not None:
                samples[job] = sums
        return samples

    def close(self) -> None:
        """Give the kept descriptors back."""
        self.sample({})


class _Tree:
    """One job's known processes; found ones stay known until they are gone."""

    def __init__(self, root: int, proc: Path) -> None:
        self._root, self._proc = root, proc
        self._known: dict[int, _Process] = {}
        self._highest = [0, 0, 0, 0, 0, 0, 0]
        self._ticks = 0

    def sample(self) -> TreeSample | None:
        walk = self._ticks % _TICKS_BETWEEN_WALKS == 0
        self._ticks += 1
        sums, resident_pages, io_seen = [0, 0, 0, 0, 0, 0, 0], 0, False
        queue, seen = [self._root, *self._known], set[int]()
        for pid in queue:  # grows while it is walked
            if pid in seen:
                continue
            seen.add(pid)
            process = self._known.get(pid) or _Process(pid, self._proc)
            if not process.read(io_only=pid == self._root and not walk):
                process.close()
                self._known.pop(pid, None)
                continue
            self._known[pid] = process
            if walk or process.looks <= _NEW_TICKS:
                queue.extend(process.children(self._ticks % _TICKS_BETWEEN_THREAD_WALKS == 1))
            delay = 0 if pid == self._root else process.run_delay(walk, self._ticks)  # the keeper is mawl's
            for position, value in enumerate((*process.io, *process.ticks, delay)):
                sums[position] += value
            io_seen = io_seen or process.io_seen
            resident_pages += process.resident_pages if pid != self._root else 0
        if self._root not in self._known:
            return None
        self._highest = [max(pair) for pair in zip(self._highest, sums, strict=True)]
        read, written, device_read, device_written, user, system, delay = self._highest
        return TreeSample(
            read if io_seen else None,
            written if io_seen else None,
            device_read if io_seen else None,
            device_written if io_seen else None,
            user / _TICKS_PER_SECOND,
            system / _TICKS_PER_SECOND,
            resident_pages * _PAGE_BYTES,
            len(self._known) - 1,
            delay / 1e9,
        )

    def close(self) -> None:
        for process in self._known.values():
            process.close()


class _Process:
    """Kept descriptors of one process; they never come to mean a later process of the same pid."""

    def __init__(self, pid: int, proc: Path) -> None:
        self._folder = f"{proc}/{pid}"
        self._children_file = f"task/{pid}/children"
        self._descriptors: dict[str, int | None] = {}
        self.io: tuple[int, int, int, int] = (0, 0, 0, 0)
        self.io_seen = False
        self.ticks: tuple[int, int] = (0, 0)
        self.resident_pages = 0
        self._threads = 1
        self._tasks: list[str] = []
        self._pid = pid
        self._run_delay = 0
        self.looks = 0

    def read(self, *, io_only: bool = False) -> bool:
        """Read the counters anew; False when the process is gone.

        ``io_only`` spares the other file: a keeper uses no CPU to speak of, and its strays' can wait.
        """
        if io_only and self.io_seen:
            return self._read_io()
        stat = self._text("stat")
        if not stat:
            return False
        self.looks += 1
        # The command name may hold blanks and parentheses: fields count from the last ")".
        fields = stat[stat.rindex(b")") + 2 :].split(maxsplit=22)
        self.ticks = int(fields[11]) + int(fields[13]), int(fields[12]) + int(fields[14])
        self._threads = int(fields[17])
        self.resident_pages = int(fields[21])
        self._read_io()  # a zombie's is refused without root: its last value stands
        return True

    def _read_io(self) -> bool:
        counts = (self._text("io") or b"").split()
        if counts:
            self.io = int(counts[1]), int(counts[3]), int(counts[9]), int(counts[11])
            self.io_seen = True
        return bool(counts)

    def run_delay(self, walk: bool, tick: int) -> int:
        """Nanoseconds that its threads waited for a CPU; new threads are found at a walk.

        Half of the processes are asked in every tick: their sum grows as evenly.
        """
        if self.looks > _NEW_TICKS and (self._pid + tick) % 2:
            return self._run_delay
        if self._threads == 1:
            self._run_delay = _second(self._text("schedstat"))
            return self._run_delay
        if walk or not self._tasks:
            with contextlib.suppress(OSError):
                self._tasks = os.listdir(f"{self._folder}/task")
        first = str(self._pid)
        self._run_delay = _second(self._text("schedstat")) + sum(
            _plausible(self._text(f"task/{task}/schedstat")) for task in self._tasks if task != first
        )
        return self._run_delay

    def children(self, every_thread: bool) -> Iterator[int]:
        """Pids of children; those forked by other threads than the first only when asked."""
        yield from map(int, (self._text(self._children_file) or b"").split())
        if every_thread and self._threads > 1:
            path = Path(self._folder)
            yield from children(int(path.name), path.parent)

    def _text(self, name: str) -> bytes | None:
        if name not in self._descriptors:
            self._descriptors[name] = None
            with contextlib.suppress(OSError):
                self._descriptors[name] = os.open(f"{self._folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        descriptor = self._descriptors[name]
        if descriptor is None:
            return None
        try:
            return os.pread(descriptor, 4096, 0)
        except OSError:
            return None

    def close(self) -> None:
        for descriptor in self._descriptors.values():
            if descriptor is not None:
                os.close(descriptor)
        self._descriptors.clear()


def _second(schedstat: bytes | None) -> int:
    """The run delay of a ``schedstat`` file; 0 where there is none or the thread is gone."""
    words = (schedstat or b"").split()
    return int(words[1]) if len(words) > 1 else 0


def _children_of_thread(path: Path) -> list[int]:
    try:
        return [int(pid) for pid in path.read_bytes().split()]
    except OSError:
        return []


def _plausible(schedstat: bytes | None) -> int:
    """The same of a thread beside the first."""
    with contextlib.suppress(IndexError):
        return plausible_run_delay(schedstat or b"")
    return 0
