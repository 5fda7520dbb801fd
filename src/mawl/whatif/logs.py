"""What a forecast of a run of logs rests on: what logs leave open, and what is assumed instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mawl.simulation.forecast import Base
from mawl.simulation.own_system import DESCRIBE, RECORDED, is_assumed
from mawl.spec.program_options import ROLES
from mawl.units import counted_noun, format_percent, format_seconds
from mawl.whatif.metrics import ElapsedRange

OF_LOGS = "bytes and waits are those of logs: no such forecast was compared with a run"
OF_DERIVED_JOBS = (
    "the jobs were derived from logs: evidence.html of their workload says which figures are inferred or "
    "assumed, and waits for a database, a lock or a sleep are not in them"
)


class LogsBasis(NamedTuple):
    """The range that logs leave, and what was assumed."""

    range: ElapsedRange
    assumptions: list[str]


def unknown_devices(base: Base) -> list[str]:
    """Roles with bytes whose devices neither a recording nor a description tells."""
    used = {flow.role for job in base.demand.jobs.values() for step in job.steps for flow in step.flows}
    return [
        role
        for role in ROLES
        if role in used
        and not base.described
        and any(
            is_assumed(base.seen, f"devices.{name}.shared_bytes_per_second")
            for name in base.seen.nodes[0].roles[role]
        )
    ]


def range_of_logs(base: Base, still_seconds: float, waiting_seconds: float) -> ElapsedRange:
    """Between the forecast with no I/O in the waits of the logs and that with nothing else in them.

    Unknown where the devices are not: how much faster others are is then not known.
    """
    if unknown_devices(base):
        return ElapsedRange(low_seconds=None, high_seconds=None)
    ends = sorted((still_seconds, waiting_seconds))
    return ElapsedRange(low_seconds=ends[0], high_seconds=ends[1])


def assumptions_of_logs(base: Base, without_blocks: int, device_share: float | None) -> Iterator[str]:
    """What is taken for granted of a run of logs, a sentence each, and which file would tell more."""
    steps = [step for job in base.demand.jobs.values() for step in job.steps]
    most, waited = base.demand.blocked_seconds, sum(step.other_seconds for step in steps)
    yield (
        f"of {format_seconds(most + waited)} that steps waited (real time less CPU time), "
        f"{format_seconds(most)} were in steps that move bytes: at most so much is I/O, at least none"
    )
    yield (
        "all figures but the range take all of it for I/O, waits for a processor as well, so gains of "
        "devices are the most that they can be"
    )
    yield "bytes by role are those that mawl derive infers (its evidence.html has each with its range)"
    if without_blocks:
        yield (
            f"of {counted_noun(len(steps), 'step')} {without_blocks} tell no block operations: all their "
            "bytes are taken to reach the devices"
        )
    if device_share is not None:
        yield f"devices served {format_percent(min(device_share, 1.0))} of the reads, and will on any system"
    if roles := unknown_devices(base):
        yield (
            f"the devices of {', '.join(roles)} are not known, so there is no range: {RECORDED} and name its "
            f"devices (--role work=sdb), or {DESCRIBE}"
        )
    yield (
        "logs alone give no checked forecast: mawl derive makes a workload of them, and a run of it has "
        "counted bytes and waits"
    )
