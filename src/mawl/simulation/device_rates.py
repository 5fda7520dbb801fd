"""What the devices of a run can do by direction, and what each rate rests on.

The grounds are, in this order: a cap that the run recorded, a probe, and the highest rate of a run that
waited for the device (docs/design/simulation.md, Grounds of rates).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mawl.figures.windows import Rates
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.demand import Demand, Direction, StepDemand
from mawl.simulation.system import Device, System

DIRECTIONS: tuple[Direction, ...] = ("read", "write")

UNKNOWN_BYTES_PER_SECOND = 1e9
"""The least of a direction in which nothing says what the device can do; marked assumed."""

LEAST_WAITED_RATIO = value_of("limit.least_loss_ratio")
"""Jobs waited for a role for at least this share of their time: its devices then did what they can."""

LEAST_DIRECTION_RATIO = 1.0 / (1.0 + value_of("qualification.least_direction_ratio"))
"""Of the time blocked at a device: in a direction with less, it may be able to do more."""

LEAST_BYTES_RATIO = 0.01
"""Of all bytes at devices: a direction with fewer bytes changes no forecast."""

CAP = "measured: cap in"
WAITED = "measured: highest rate, while jobs waited for it"

Waited = Mapping[tuple[Role, Direction], float]
"""Time blocked over real time, by role and direction."""


def is_assumed(system: System, path: str) -> bool:
    """Whether a figure is neither measured nor published."""
    return system.sources.get(path, "").startswith("assumed")


def rate_path(device: str, way: str) -> str:
    """Key path of a device's rate in a direction."""
    return f"devices.{device}.{way}_bytes_per_second"


def is_capped(system: System, device: Device) -> bool:
    """Whether a cap that the run recorded is what the device can do, in some direction."""
    return any(system.sources.get(rate_path(device.name, way), "").startswith(CAP) for way in DIRECTIONS)


def rate_of(device: Device, way: Direction) -> float:
    """Bytes a second in a direction."""
    return device.read_bytes_per_second if way == "read" else device.write_bytes_per_second


def waited_for(demand: Demand, summary: Summary) -> Waited:
    """How long jobs were blocked by role and direction, over their real time.

    The time blocked in a role is shared over directions by the time of its calls, else by the bytes at its
    devices.  The role that the verdict names counts at least ``LEAST_WAITED_RATIO``.
    """
    steps = [step for job in demand.jobs.values() for step in job.steps]
    real = summary.time.real_time_seconds or math.inf
    found: dict[tuple[Role, Direction], float] = {}
    for role in ROLES:
        ratio = sum(step.blocked_seconds.get(role, 0.0) for step in steps) / real
        if summary.limit is not None and summary.limit.role == role:
            ratio = max(ratio, LEAST_WAITED_RATIO)
        spent = _spent(steps, summary, role)
        whole = sum(spent.values())
        found |= {(role, way): ratio * part / whole for way, part in spent.items() if whole > 0.0}
    return found


def limited(waited: Waited, roles: Collection[Role]) -> list[Direction]:
    """The directions in which the device of these roles did what it can, since jobs waited for it."""
    ratios = {way: sum(waited.get((role, way), 0.0) for role in roles) for way in DIRECTIONS}
    whole = sum(ratios.values())
    if whole < LEAST_WAITED_RATIO * (1.0 - 1e-9):
        return []
    least = min(LEAST_DIRECTION_RATIO * whole, LEAST_WAITED_RATIO)
    return [way for way, ratio in ratios.items() if ratio >= least]


def _spent(steps: Sequence[StepDemand], summary: Summary, role: Role) -> dict[Direction, float]:
    io = None if summary.io.by_role is None else summary.io.by_role[role]
    if io is not None and any(one.mean for one in (io.read_latency_seconds, io.write_latency_seconds)):
        return {
            "read": io.reads * (io.read_latency_seconds.mean or 0.0),
            "write": io.writes * (io.write_latency_seconds.mean or 0.0)
            + io.syncs * (io.sync_latency_seconds.mean or 0.0),
        }
    flows = [flow for step in steps for flow in step.flows if flow.role == role]
    return {way: sum(one.device_bytes for one in flows if one.direction == way) for way in DIRECTIONS}


def peaks_of(moved: Mapping[Direction, Sequence[Rates]], parts: int = 1) -> dict[str, float]:
    """The highest window of several rows of rates, added up, by direction and ``shared`` by both; 0: none."""
    rows: dict[str, Sequence[Rates]] = dict(moved.items())
    rows["shared"] = [row for own in moved.values() for row in own]
    sums = {
        way: [sum(rate or 0.0 for rate in column) for column in zip(*own, strict=True)]
        for way, own in rows.items()
    }
    return {way: max(own, default=0.0) / parts for way, own in sums.items()}


def rated(
    device: Device,
    probe: str | None,
    peaks: Mapping[str, float],
    waited: Collection[Direction],
    caps: Mapping[Direction, tuple[int | None, Sequence[str]]],
) -> tuple[Device, dict[str, str]]:
    """The device with what it can do, and the sources of its rates by key path.

    ``device`` has the rates that a probe (its tool) found; without a probe its rates say nothing.
    """
    found: dict[Direction, float] = {}
    sources: dict[str, str] = {}
    for way in DIRECTIONS:
        cap, files = caps.get(way, (None, ()))
        known = None if probe is None else rate_of(device, way)
        if cap is not None and cap <= (known or math.inf):
            known, source = float(cap), f"{CAP} {', '.join(files)}"
        elif known is not None:
            source = f"measured: {probe}"
        elif way in waited and peaks[way] > 0.0:
            known, source = peaks[way], WAITED
        else:
            known, source = max(peaks[way], UNKNOWN_BYTES_PER_SECOND), "assumed"
        found[way], sources[rate_path(device.name, way)] = known, source
    shared = device.shared_bytes_per_second
    if set(sources.values()) == {WAITED}:
        shared = peaks["shared"]
        sources[rate_path(device.name, "shared")] = WAITED
    made = replace(
        device,
        read_bytes_per_second=found["read"],
        write_bytes_per_second=found["write"],
        shared_bytes_per_second=shared,
    )
    return made, sources


def unknown_directions(system: System, demand: Demand) -> dict[str, list[Direction]]:
    """The directions by device in which the run moved bytes and nothing says what the device can do."""
    flows = [flow for job in demand.jobs.values() for step in job.steps for flow in step.flows]
    least = LEAST_BYTES_RATIO * sum(flow.device_bytes for flow in flows)
    found = {}
    for device in system.devices:
        roles = {role for kind in system.nodes for role, names in kind.roles.items() if device.name in names}
        ways = [
            way
            for way in DIRECTIONS
            if is_assumed(system, rate_path(device.name, way))
            and sum(one.device_bytes for one in flows if one.role in roles and one.direction == way) > least
        ]
        if ways:
            found[device.name] = ways
    return found


def why_unknown(devices: Collection[str]) -> str:
    """The reason for no number, and its cure, as one sentence."""
    return (
        f"what {', '.join(sorted(devices))} can do is not known: the run recorded no cap there, has no "
        "probe, and its jobs waited little for it"
    )


PROBE_IT = "probe the devices with mawl probe --run RUN, or describe the system with --measured-on FILE"


OTHER_FIGURES = ("shared_bytes_per_second", "latency_seconds", "requests_per_second", "spinning_streams")


def changed_unknown(before: System, after: System, unknown: Mapping[str, Sequence[Direction]]) -> list[str]:
    """The devices without a ground (``unknown_directions``) that ``after`` changes, or moves a role from."""
    now = {device.name: device for device in after.devices}
    return [name for name, ways in unknown.items() if _differs(before, after, now.get(name), name, ways)]


def _differs(before: System, after: System, now: Device | None, name: str, ways: Sequence[Direction]) -> bool:
    was, kinds = before.device(name), zip(before.nodes, after.nodes, strict=False)
    if now is None or any(rate_of(now, way) != rate_of(was, way) for way in ways):
        return True
    if any((name in old.roles[role]) != (name in new.roles[role]) for old, new in kinds for role in ROLES):
        return True
    other_rates = any(rate_of(now, way) != rate_of(was, way) for way in DIRECTIONS)
    # A rate above what both directions had together raises that bound, too.
    figures = OTHER_FIGURES[1:] if other_rates else OTHER_FIGURES
    return any(getattr(now, figure) != getattr(was, figure) for figure in figures)
