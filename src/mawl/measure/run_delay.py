"""Time that threads waited for a CPU: the second number of ``schedstat`` (Linux sched-stats.rst).

The kernel keeps it for each thread and loses it when the thread ends (that of a process's first
thread when the process is reaped).  Now and then it takes a sleep for waiting (measured on Linux 6.18:
1 of 60 sleeps of 2 s), so a thread beside the first, which may sleep as long as its job runs, is
believed no more than :data:`LONGEST_TURN_NANOSECONDS` for each time that it got a CPU.
"""

from __future__ import annotations

import contextlib
import os

LONGEST_TURN_NANOSECONDS = 100_000_000
"""Mean waiting for one turn on a CPU that is believed; with 17 threads a CPU it is 20 to 45 ms."""


def plausible_run_delay(schedstat: bytes) -> int:
    """Nanoseconds of a thread beside the first; IndexError or ValueError for what is no ``schedstat``."""
    words = schedstat.split()
    return min(int(words[1]), int(words[2]) * LONGEST_TURN_NANOSECONDS)


def run_delay_seconds(path: str) -> float | None:
    """What one ``schedstat`` file says; None where the kernel has none, or the thread is gone."""
    try:
        with open(path, "rb", buffering=0) as file:
            return int(file.read(96).split()[1]) / 1e9
    except (OSError, IndexError):
        return None


def first_thread_run_delay_seconds(pid: int) -> float | None:
    """Of a process's first thread, also when it has ended and was not reaped yet."""
    return run_delay_seconds(f"/proc/{pid}/schedstat")


def own_run_delay_seconds() -> float | None:
    """Of all living threads of the calling process."""
    first = first_thread_run_delay_seconds(os.getpid())
    if first is None:
        return None
    others = 0
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            path = f"/proc/self/task/{thread}/schedstat"
            # It may end meanwhile.
            with contextlib.suppress(OSError, IndexError), open(path, "rb", buffering=0) as file:
                others += plausible_run_delay(file.read(96))
    return first + others / 1e9
