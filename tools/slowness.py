"""How many hundredths of a quiet machine's time this one takes: ``.ci/run`` sets its limits by it.

``python3 tools/slowness.py`` does a fixed piece of work on every processor at once, so that a slower
processor and what else keeps it busy both count, and prints the time it took over that of a quiet machine:
100 to 200.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

WORK = "for _ in range(3): sorted(range(1_200_000), key=lambda number: number * 7919 % 1_000_003)"
QUIET_SECONDS = 0.75
"""What one round takes on two idle processors of the machine that the limits are made for."""
ROUNDS = 5
LEAST, MOST = 100, 200


def round_seconds() -> float:
    """One round: the same work on every processor at once."""
    began = time.monotonic()
    command = [sys.executable, "-I", "-S", "-c", WORK]
    processes = [subprocess.Popen(command) for _ in os.sched_getaffinity(0)]
    if any(process.wait() for process in processes):
        raise SystemExit("slowness: the fixed piece of work failed")
    return time.monotonic() - began


def slowness(seconds: list[float]) -> int:
    """The median round in hundredths of a quiet one, within the bounds."""
    return min(max(round(100 * statistics.median(seconds) / QUIET_SECONDS), LEAST), MOST)


if __name__ == "__main__":
    print(slowness([round_seconds() for _ in range(ROUNDS)]))
