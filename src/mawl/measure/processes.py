"""Processes on this machine: finding trees of them, signals, and ending them.

``kill_marked`` and ``marked_processes`` find processes by a mark, an environment variable as
``/proc/PID/environ`` shows it: what a process had when it was last exec'ed, so also in every copy it forked.
A process that exec'ed with a cleaned environment *and* left the tree of its launcher is not found.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

LONGEST_TURN_NANOSECONDS = 100_000_000
"""Mean waiting for one turn on a CPU that is believed; with 17 threads a CPU it is 20 to 45 ms."""


def plausible_run_delay(schedstat: bytes) -> int:
    """Nanoseconds that a thread beside the first waited for a CPU: the second number of ``schedstat``.

    The kernel keeps it for each thread and loses it when the thread ends (that of a process's first thread
    when the process is reaped; Linux sched-stats.rst).  Now and then it takes a sleep for waiting (measured
    on Linux 6.18: 1 of 60 sleeps of 2 s), so a thread beside the first, which may sleep as long as its job
    runs, is believed no more than ``LONGEST_TURN_NANOSECONDS`` for each time that it got a CPU.
    IndexError or ValueError for what is no ``schedstat``.
    """
    words = schedstat.split()
    return min(int(words[1]), int(words[2]) * LONGEST_TURN_NANOSECONDS)


def first_thread_seconds(pid: int) -> tuple[float, float] | None:
    """CPU time and run delay of a process's first thread, also when it has ended and was not reaped yet.

    None where the kernel keeps no ``schedstat``, or the process is gone.
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb", buffering=0) as file:
            on_cpu, delay, _ = file.read(96).split()
            return int(on_cpu) / 1e9, int(delay) / 1e9
    except (OSError, ValueError):
        return None


def own_run_delay_seconds() -> float | None:
    """Run delay of all living threads of the calling process; None where the kernel does not keep it."""
    first = first_thread_seconds(os.getpid())
    if first is None:
        return None
    others = 0
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            path = f"/proc/self/task/{thread}/schedstat"
            # It may end meanwhile.
            with contextlib.suppress(OSError, IndexError), open(path, "rb", buffering=0) as file:
                others += plausible_run_delay(file.read(96))
    return first[1] + others / 1e9


PROC = Path("/proc")


def children(pid: int, proc: Path = PROC) -> list[int]:
    """Children of a process, of all its threads; empty when it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(proc / str(pid) / "task"):
            found.extend(_children_of_thread(proc / str(pid) / "task" / thread / "children"))
    return found


_PAUSE_SECONDS = 0.02
_PATIENCE_SECONDS = 10.0


def descendants(pid: int, spare: frozenset[int] = frozenset()) -> list[int]:
    """Every process below ``pid``, parents first; what hangs below ``spare`` is left out."""
    child_of = children if _has_children_files() else _children_by_scan()
    found = {pid: None}
    queue = [pid]
    for parent in queue:  # grows while it is walked
        below = [child for child in child_of(parent) if child not in spare and child not in found]
        found.update(dict.fromkeys(below))
        queue.extend(below)
    return queue[1:]


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    stat = _stat(pid)
    return stat is not None and stat[0] not in (b"Z", b"X")


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal (SIGSTOP), so that it does nothing until it is continued."""
    stat = _stat(pid)
    return stat is not None and stat[0] == b"T"


def started_ticks(pid: int) -> int | None:
    """When a process began, in clock ticks since the machine's start (proc(5)); None where there is none."""
    stat = _stat(pid)
    return None if stat is None else int(stat[19])


def user_of(path: Path) -> str:
    """``user NAME``, whose file it is (such as ``/proc/PID``); ``user number 7`` for one without a name."""
    try:
        user = path.stat().st_uid
    except OSError:
        return "its user is not known"
    try:
        return f"user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"user number {user}"


def signal_all(pids: Iterable[int], number: int) -> int:
    """Send a signal to each; how many living processes were there to get it."""
    reached = 0
    for pid in pids:
        if is_alive(pid):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
                reached += 1
    return reached


def kill_marked(variable: str, value: str) -> int:
    """Kill all of this user's processes with a mark and what hangs below them, until none is left.

    Returns how many were killed.  The calling process and its ancestors are spared.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + _PATIENCE_SECONDS  # a process in an uninterruptible call outlasts SIGKILL
    while marked := marked_processes(variable).get(value, []):
        # What hangs below goes too, and first: without its parents, an unmarked one is never found again.
        pids = {below: None for pid in marked for below in descendants(pid)} | dict.fromkeys(marked)
        signal_all(pids, signal.SIGKILL)
        killed.update(pids)
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_SECONDS)
    return len(killed)


def marked_processes(variable: str) -> dict[str, list[int]]:
    """Value of the variable to the living processes that have it, without the caller and its ancestors."""
    spared = _ancestors()
    prefix = variable.encode() + b"="
    found: dict[str, list[int]] = {}
    for pid in _all_pids():
        if pid in spared:
            continue
        for entry in _environment(pid):
            if entry.startswith(prefix):
                if is_alive(pid):
                    found.setdefault(os.fsdecode(entry[len(prefix) :]), []).append(pid)
                break
    return found


def _environment(pid: int) -> list[bytes]:
    """A process's environment; empty where it is gone, a zombie or another user's."""
    try:
        if Path(f"/proc/{pid}").stat().st_uid != os.geteuid():
            return []
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _ancestors() -> set[int]:
    spared, pid = set[int](), os.getpid()
    while pid > 0 and pid not in spared:
        spared.add(pid)
        stat = _stat(pid)
        pid = int(stat[1]) if stat else 0
    return spared


def _stat(pid: int) -> list[bytes] | None:
    """Fields of ``/proc/PID/stat`` from the state on; None when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    return text[text.rindex(b")") + 2 :].split()


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _has_children_files() -> bool:
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children_by_scan() -> Callable[[int], list[int]]:
    """Parent to children from every ``stat``: for kernels without CONFIG_PROC_CHILDREN."""
    below: dict[int, list[int]] = {}
    for pid in _all_pids():
        stat = _stat(pid)
        if stat is not None:
            below.setdefault(int(stat[1]), []).append(pid)
    return lambda parent: below.get(parent, [])


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """In the block Ctrl-C, SIGTERM and SIGHUP wait; each that came has its effect at the end of the block.

    It has it also if the block raises: what the signal raises then has the error of the block as its context.
    A process that begins with ``preexec_fn`` belongs into such a block: functions of Python run after its
    fork, and what an interrupt raises in them is printed and lost (os.register_at_fork).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, lambda which, _: came.append(which))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for which in came:
            signal.raise_signal(which)


def _children_of_thread(path: Path) -> list[int]:
    try:
        return [int(pid) for pid in path.read_bytes().split()]
    except OSError:
        return []


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
