"""How far the clocks of this machine can be trusted."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Literal

import msgspec

Synchronised = Literal["yes", "no"]

_TIME_ERROR = 5
"""Return value of adjtimex(2): the clock is not synchronised to a reliable source."""

_TIMEX_BYTES = 256
"""More than ``struct timex`` takes on any Linux (208 on 64-bit machines)."""


class ClockLook(msgspec.Struct, frozen=True, kw_only=True):
    """A short look at the clocks.

    ``drift_ratio`` is how much faster the wall clock ran than the monotonic clock's raw hardware
    rate: 0 is perfect, a step of the wall clock shows as a large figure.  ``synchronised`` is the
    kernel's word (adjtimex(2)); None where it cannot be asked, with ``reason``.
    """

    seconds: float
    drift_ratio: float
    synchronised: Synchronised | None
    reason: str | None = None


def realtime() -> float:
    """Wall clock, seconds since the epoch."""
    return time.clock_gettime(time.CLOCK_REALTIME)


def raw() -> float:
    """Hardware clock that nobody adjusts, seconds since some start."""
    return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)


class ClockWatch:
    """Begins a look when it is made; :meth:`look` ends it."""

    def __init__(self, wall: Callable[[], float] = realtime, steady: Callable[[], float] = raw) -> None:
        self._wall, self._steady = wall, steady
        self._began = (wall(), steady())

    def look(self) -> ClockLook:
        """The drift since the watch was made; at least some milliseconds should have passed."""
        wall, steady = self._wall() - self._began[0], self._steady() - self._began[1]
        synchronised, reason = kernel_synchronised()
        return ClockLook(
            seconds=steady,
            drift_ratio=(wall - steady) / steady if steady > 0 else 0.0,
            synchronised=synchronised,
            reason=reason,
        )


def kernel_synchronised() -> tuple[Synchronised | None, str | None]:
    """Whether the kernel counts its clock as synchronised (NTP, PTP), or None and why not known."""
    try:
        call = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return None, "the C library has no adjtimex"
    state = call(ctypes.create_string_buffer(_TIMEX_BYTES))
    if state < 0:
        return None, "adjtimex is not permitted here"
    return ("no" if state == _TIME_ERROR else "yes"), None
