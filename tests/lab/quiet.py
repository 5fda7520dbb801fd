"""Is this machine ours?  Tests of figures skip, and say the figure, where others keep it busy."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mawl.measure.noise import NoiseWatch

IDLE_RATIO = 0.1
LOOKS = 15
"""So often, every other second, the machine may be found busy before a test gives up."""

_LOOK_SECONDS = 2.0


def busy_ratio() -> float:
    """The share of all CPU time that is used now."""
    watch = NoiseWatch()
    time.sleep(_LOOK_SECONDS)
    return watch.look().busy_ratio or 0.0


def quiet_machine() -> None:
    """Wait until the machine is idle; skip where it does not become so."""
    for _ in range(LOOKS):
        busy = busy_ratio()
        if busy <= IDLE_RATIO:
            return
    pytest.skip(f"needs an idle machine; processors are busy for {busy:.0%} of the time")


def others_ratio(arm: dict[str, Any]) -> float:
    """What neither jobs nor mawl used of all CPU time in an arm's run: others, the bed, the kernel."""
    busy, own = arm["cpu_busy_ratio"], arm["own_cpu_ratio"]
    assert busy is not None and own is not None, arm
    used: float = busy - own
    return used
