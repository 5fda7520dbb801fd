"""The parts of a job's real time: compute, storage, and other waiting."""

from __future__ import annotations

import msgspec

from mawl.model.role_io import Waits
from mawl.spec.program_options import ROLES


class RealTimeParts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of real time.  ``compute`` is on a CPU or in the run queue, ``storage`` blocked in I/O of
    data, work and util, ``other`` every other wait; they add up to ``real``."""

    real: float
    compute: float
    storage: float
    other: float


def parts_of(real_time_seconds: float, waits: Waits) -> RealTimeParts | None:
    """A job's parts; None where CPU time, run queue or blocked time by role is not known.

    Where several threads make the sum of the waits larger than real time, all shrink alike.  What the
    waits leave of real time is ``other``.
    """
    blocked = [getattr(waits, f"blocked_{role}_seconds") for role in ROLES]
    known = (waits.on_cpu_seconds, waits.run_queue_seconds, *blocked)
    if real_time_seconds <= 0 or any(value is None for value in known):
        return None
    compute = (waits.on_cpu_seconds or 0.0) + (waits.run_queue_seconds or 0.0)
    storage = sum(value or 0.0 for value in blocked)
    other = waits.blocked_other_seconds or 0.0
    whole = compute + storage + other
    shrink = real_time_seconds / whole if whole > real_time_seconds else 1.0
    compute, storage = compute * shrink, storage * shrink
    return RealTimeParts(
        real=real_time_seconds,
        compute=compute,
        storage=storage,
        other=max(real_time_seconds - compute - storage, 0.0),
    )
