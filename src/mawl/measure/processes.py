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
