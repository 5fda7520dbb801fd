"""Time that threads waited for a CPU: the second number of ``schedstat`` (Linux sched-stats.rst).

The kernel keeps it for each thread and loses it when the thread ends (that of a process's first
thread when the process is reaped).  Now and then it takes a sleep for waiting (measured on Linux 6.18:
1 of 60 sleeps of 2 s), so a thread beside the first, which may sleep as long as its job runs, is
believed no more than ``LONGEST_TURN_NANOSECONDS`` for each time that it got a CPU.
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
