"""Whether jobs waited for a role while its devices moved as much as a cap of a control group allows."""

from __future__ import annotations

from mawl.advice.foreign import foreign
from mawl.advice.limit.rule import LEAST_LOSS_RATIO, RuleEvidence
from mawl.analysis.caps import DIRECTIONS, cap_of
from mawl.analysis.throughput import Counters
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import ReachedCap
from mawl.model.thresholds import value_of
from mawl.spec.program_options import Role
from mawl.units import counted_noun, format_percent, format_rate

NEAR_RATIO = value_of("limit.cap.near_ratio")
ABOVE_RATIO = value_of("limit.cap.above_ratio")
"""A device that moves more than this many times a cap is not held by it."""

VERBS = {"read": "read", "write": "wrote"}


def caps_reached(reading: RunView, role: Role, blocked: list[float | None]) -> list[ReachedCap]:
    """The caps on bytes that the role's devices came near while jobs waited for the role.

    ``blocked`` is the share of the jobs' time that waiting for the role cost in each window of the active
    phase.  The counters of devices include the bytes of other programs; if these are many, the list is empty.
    """
    caps = reading.summary.caps
    most = {way: rate for way in DIRECTIONS if (rate := cap_of(caps, role, way).bytes_per_second) is not None}
    if not most or foreign(reading.summary) is not None:
        return []
    if reading.over_time is None:
        return []
    samples, windows = reading.over_time
    volumes = reading.volumes(role)
    devices = sorted({device for volume in volumes for device in volume.devices})
    names = [[f"device.{name}.{way}_bytes" for name in devices] for way in ("read", "written")]
    flow = Counters(f"block devices {', '.join(devices)}", *names).flow(samples, windows.active_edges)
    found = []
    for direction, allowed in most.items():
        waited = [
            rate / allowed
            for rate, share in zip(flow[direction], blocked, strict=False)
            if rate is not None and share is not None and share >= LEAST_LOSS_RATIO
        ]
        near = sum(NEAR_RATIO <= ratio <= ABOVE_RATIO for ratio in waited)
        if near and not any(ratio > ABOVE_RATIO for ratio in waited):
            found.append(
                ReachedCap(
                    direction=direction,
                    bytes_per_second=allowed,
                    devices=cap_of(caps, role, direction).devices,
                    near_windows=near,
                    waited_windows=len(waited),
                )
            )
    return found


def cap_lines(role: Role, reached: list[ReachedCap]) -> list[RuleEvidence]:
    """A line for each cap that was reached."""
    return [
        RuleEvidence(
            kind="evidence",
            sentence=f"cap: jobs waited for {role} in {counted_noun(one.waited_windows, 'window')}; in "
            f"{one.near_windows} of them {role} {VERBS[one.direction]} at least {format_percent(NEAR_RATIO)} "
            "of what its control group allows at "
            f"{', '.join(one.devices)}, {format_rate(one.bytes_per_second)}",
        )
        for one in reached
    ]
