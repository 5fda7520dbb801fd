"""Is this machine ours?  Tests of figures wait until it is, a bounded time, and say the figure if not."""

from __future__ import annotations

import sys
import time
from typing import Any

from mawl.measure.suitability import NoiseWatch

IDLE_RATIO = 0.1
MOST_SECONDS = 30.0
"""Seconds that the machine may be found busy before a test begins all the same."""

_LOOK_SECONDS = 0.5


def busy_ratio() -> float:
    """The share of all CPU time that is used now."""
    watch = NoiseWatch()
    time.sleep(_LOOK_SECONDS)
    return watch.look().busy_ratio or 0.0


def quiet_machine(most_seconds: float = MOST_SECONDS) -> float:
    """Wait at most so many seconds until the machine is idle, and print its load if it is not.

    Returns the seconds for which it was busy.
    """
    waited = 0.0
    while (busy := busy_ratio()) > IDLE_RATIO:
        if waited >= most_seconds:
            sys.stdout.write(f"the machine is not idle: processors are busy for {busy:.0%} of the time\n")
            break
        waited += _LOOK_SECONDS
    return waited


def others_ratio(arm: dict[str, Any]) -> float:
    """What neither jobs nor mawl used of all CPU time in an arm's run: others, the bed, the kernel."""
    busy, own = arm["cpu_busy_ratio"], arm["own_cpu_ratio"]
    assert busy is not None and own is not None, arm
    used: float = busy - own
    return used
