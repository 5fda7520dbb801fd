"""What a forecast of a run of logs rests on: what logs do not contain, and what is assumed instead."""

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
    """The range of elapsed times that fit the logs, and what was assumed."""

    range: ElapsedRange
    assumptions: list[str]


def unknown_devices(base: Base) -> list[str]:
    """Roles with bytes on devices that neither a recording nor a description describes."""
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
    """Between the forecast in which no waiting of the logs is I/O, and that in which all of it is.

    Unknown if the devices are not known: then nothing says how much faster others are.
    """
    if unknown_devices(base):
        return ElapsedRange(low_seconds=None, high_seconds=None)
    ends = sorted((still_seconds, waiting_seconds))
    return ElapsedRange(low_seconds=ends[0], high_seconds=ends[1])


def assumptions_of_logs(base: Base, without_blocks: int, device_share: float | None) -> Iterator[str]:
    """What is assumed of a run of logs, in sentences, and which file would replace an assumption."""
    steps = [step for job in base.demand.jobs.values() for step in job.steps]
    most, waited = base.demand.blocked_seconds, sum(step.other_seconds for step in steps)
    yield (
        f"of {format_seconds(most + waited)} that steps waited (real time less CPU time), "
        f"{format_seconds(most)} were in steps that move bytes: at most so much is I/O, at least 0 s"
    )
    yield (
        "all figures except the range take all of it for I/O, also waits for a processor, so the gains of "
        "faster devices are the largest that are possible"
    )
    yield "bytes by role are those that mawl derive infers (its evidence.html has each with its range)"
    if without_blocks:
        yield (
            f"{without_blocks} of {counted_noun(len(steps), 'step')} have no block operations in the logs: "
            "all their bytes are taken to reach the devices"
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
