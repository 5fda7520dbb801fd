"""Time that threads waited for a CPU: the second number of ``schedstat`` (Linux sched-stats.rst).

The kernel keeps it for each thread and loses it when the thread ends (that of a process's first
thread when the process is reaped).
"""

from __future__ import annotations

import os


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
    threads = os.listdir("/proc/self/task")
    known = [
        delay
        for thread in threads
        if (delay := run_delay_seconds(f"/proc/self/task/{thread}/schedstat")) is not None
    ]
    return sum(known) if known else None
