"""Busy processors: one definition for the whole run and for its windows (docs/design/host.md)."""

from __future__ import annotations

from collections.abc import Mapping

CPU_KINDS = ("user", "system", "interrupt", "iowait", "idle", "steal")
BUSY_KINDS = ("user", "system", "interrupt")
"""iowait is idle time, and steal somebody else's."""

ALWAYS_TOLD = ("user", "system")
"""Recorders such as nmon and vmstat do not tell interrupts from the rest of the kernel."""


def busy_seconds(seconds: Mapping[str, float | None]) -> float | None:
    """Busy time of all processors, from their time by kind; None where a kind of it is not known."""
    if any(seconds[kind] is None for kind in ALWAYS_TOLD):
        return None
    return sum(value for kind in BUSY_KINDS if (value := seconds[kind]) is not None)


def whole_seconds(seconds: Mapping[str, float | None]) -> float:
    """All of the processors' time that is known, by kind; kernels before 2.6.11 have no steal."""
    return sum(value for kind in CPU_KINDS if (value := seconds[kind]) is not None)


def busy_ratio(seconds: Mapping[str, float | None]) -> float | None:
    """Busy over all time, also per second of both; None where busy time is not known, or no time went by."""
    busy, whole = busy_seconds(seconds), whole_seconds(seconds)
    return busy / whole if busy is not None and whole > 0 else None
