"""The descriptors of one process, read each second: its CPU time, bytes and waits for a processor."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from mawl.measure.processes import children
from mawl.measure.run_delay import plausible_run_delay

_MOST_BYTES = 4096
TIMERS = (b"hrtimer_nanosleep", b"do_nanosleep")


class WatchedProcess:
    """Kept descriptors of one process; they never come to mean a later process of the same pid.

    ``figures``: application and device bytes read and written (four), user and system ticks,
    nanoseconds that its threads waited for a CPU.
    """

    def __init__(self, pid: int, proc: Path) -> None:
        self.pid = pid
        self._folder = f"{proc}/{pid}"
        self._stat, self._io = self._open("stat"), self._open("io")
        self._schedstat: int | None = None
        self._wchan: int | None = None
        self._children: int | None = None
        self._threads: dict[str, int] = {}
        """Descriptors of ``schedstat`` of threads beside the first."""
        self.figures = [0, 0, 0, 0, 0, 0, 0]
        self._io_text = b""
        self.io_seen = self.io_changed = False
        """Whether the kernel counts I/O, and whether the counts changed from the look before to the last."""
        self.resident_pages = 0
        self.stopped = False
        """By a signal (SIGSTOP), so that it does nothing until it is continued."""
        self.is_zombie = False
        """It has ended, and its parent has not reaped it yet: its files keep their last counts."""
        self._thread_count = 1
        self.looks = 0
        self.first_on_cpu = self.first_run_delay = 0
        """Nanoseconds of the first thread."""
        self.turns: dict[str, bytes] = {}
        """How often each thread got a CPU, the first thread under no name."""
        self.ran = 0
        """Threads that got one since the look before."""

    def read(self) -> bool:
        """Read CPU, memory and I/O anew; False when the process is gone."""
        stat = _text(self._stat)
        if not stat:
            return False
        self.looks += 1
        # The command name may hold blanks and parentheses: fields count from the last ")".
        fields = stat[stat.rindex(b")") + 2 :].split(maxsplit=22)
        self.stopped, self.is_zombie = fields[0] == b"T", fields[0] == b"Z"
        self.figures[4] = int(fields[11]) + int(fields[13])
        self.figures[5] = int(fields[12]) + int(fields[14])
        self._thread_count = int(fields[17])
        self.resident_pages = int(fields[21])
        self.read_io()
        return True

    def read_io(self) -> bool:
        """Read I/O anew; False when the process is gone.

        A zombie's is refused without root: its last value stands.
        """
        self.io_changed = False
        if self._io is None:
            return True
        try:
            text = os.pread(self._io, _MOST_BYTES, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        if text and text != self._io_text:  # in most seconds most processes do no I/O
            self._io_text, counts = text, text.split()
            self.figures[:4] = int(counts[1]), int(counts[3]), int(counts[9]), int(counts[11])
            self.io_seen = self.io_changed = True
        return True

    def read_run_delay(self, *, look_for_threads: bool = False) -> bool:
        """Read how long its threads waited for a CPU (new ones are found only when looked for); True."""
        if self._schedstat is None:
            self._schedstat = self._open("schedstat")
        first = _text(self._schedstat).split()
        before, self.ran = self.turns, 0
        if len(first) > 2:
            self.first_on_cpu, self.first_run_delay = int(first[0]), int(first[1])
        self.turns = {"": first[2]} if len(first) > 2 else {}
        delay = int(first[1]) if len(first) > 1 else 0
        if self._thread_count > 1:
            if look_for_threads or not self._threads:
                self._find_threads()
            for name, thread in self._threads.items():
                text = _text(thread)
                delay += _plausible(text)
                self.turns[name] = text.rpartition(b" ")[2]
        self.ran = sum(before.get(name) != turns for name, turns in self.turns.items())
        self.figures[6] = delay
        return True

    def _find_threads(self) -> None:
        with contextlib.suppress(OSError):
            found = set(os.listdir(f"{self._folder}/task")) - {str(self.pid)}
            for gone in self._threads.keys() - found:
                os.close(self._threads.pop(gone))
            for name in found - self._threads.keys():
                descriptor = self._open(f"task/{name}/schedstat")
                if descriptor is not None:
                    self._threads[name] = descriptor

    def sleeps_on_timer(self) -> bool:
        """Whether its first thread sleeps for a time that it chose (nanosleep): nobody else ends that sleep.

        False where the kernel does not tell (``wchan``, proc_pid_wchan(5)).
        """
        if self._wchan is None:
            self._wchan = self._open("wchan")
        return _text(self._wchan) in TIMERS

    def children(self, every_thread: bool) -> list[int]:
        """Pids of children; those forked by other threads than the first only when asked."""
        if self._children is None:
            self._children = self._open(f"task/{self.pid}/children")
        found = [int(pid) for pid in _text(self._children).split()]
        if every_thread and self._thread_count > 1:
            found += children(self.pid, Path(self._folder).parent)
        return found

    def _open(self, name: str) -> int | None:
        try:
            return os.open(f"{self._folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None

    def close(self) -> None:
        for descriptor in (
            self._stat,
            self._io,
            self._schedstat,
            self._wchan,
            self._children,
            *self._threads.values(),
        ):
            if descriptor is not None:
                os.close(descriptor)
        self._stat = self._io = self._schedstat = self._wchan = self._children = None
        self._threads.clear()


def _text(descriptor: int | None) -> bytes:
    """What a kept file says; nothing where it is not there or its process is gone."""
    if descriptor is None:
        return b""
    try:
        return os.pread(descriptor, _MOST_BYTES, 0)
    except OSError:
        return b""


def _plausible(schedstat: bytes) -> int:
    """The run delay in a ``schedstat`` file of a thread beside the first; 0 where the thread is gone."""
    with contextlib.suppress(IndexError):
        return plausible_run_delay(schedstat)
    return 0
