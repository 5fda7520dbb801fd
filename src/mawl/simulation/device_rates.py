"""What the devices of a run can do by direction, and what each rate rests on.

The grounds are, in this order: a cap that the run recorded, a probe, and the highest rate of a run that
waited for the device (docs/design/simulation.md, Grounds of rates).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mawl.figures.cluster import device_rates, network_rates
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Rates
from mawl.figures.throughput import fuse_roles
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.demand import Demand, Direction, Flow, JobDemand, StepDemand
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
    return {way: sum(flow.device_bytes for flow in flows if flow.direction == way) for way in DIRECTIONS}


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
            and sum(flow.device_bytes for flow in flows if flow.role in roles and flow.direction == way)
            > least
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


Floats = NDArray[np.float64]

NO_SERVER = "bytes at the storage server: its samples, or those of the nodes' networks, do not cover the run"
WAYS: dict[Direction, str] = {"read": "received", "write": "sent"}
"""What a node's network does when its jobs read and write."""


def served_roles(facts: RunFacts) -> tuple[Role, ...]:
    """The roles that lie on a watched storage server: behind a network, on no device of the nodes."""
    if not facts.storage_runs:
        return ()
    volumes = {role: [volume for volume in facts.volumes if volume.role == role] for role in ROLES}
    return tuple(
        role for role, own in volumes.items() if own and all(one.network and not one.devices for one in own)
    )


@dataclass(frozen=True)
class _ServedBytes:
    """Of one direction: bytes over all links, and at the server's devices, in each window."""

    crossed: Floats
    reached: Floats


def with_served_bytes(
    demand: Demand, facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None
) -> Demand:
    """The demand with bytes on links and at the server's devices, for the roles that it serves.

    ``edges`` bound the run's windows (seconds since the epoch).  What the nodes' networks carried, and what
    the server's devices moved, is shared out window by window over the steps that ran in it, by their bytes
    of that direction.  Sums are kept: all of what was measured belongs to some step.
    Where the samples do not tell, the demand stays, and says that it lacks it.
    """
    roles = served_roles(facts)
    if not roles:
        return demand
    found = _measured(facts, samples, edges)
    if found is None or edges is None:
        return replace(demand, lacks=tuple(sorted({*demand.lacks, NO_SERVER})))
    over_fuse = set(fuse_roles(facts))

    def asked(flow: Flow) -> float:
        """Bytes that left the node: those charged, but what FUSE reads is charged to nobody."""
        uncharged = flow.role in over_fuse and flow.direction == "read"
        return flow.application_bytes if uncharged else flow.device_bytes

    jobs = demand.jobs
    for direction, one in found.items():
        jobs = _shared_out(
            jobs, lambda flow: asked(flow) if flow.role in roles else 0.0, direction, one, edges
        )
    return replace(demand, jobs=jobs)


def _measured(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None
) -> dict[Direction, _ServedBytes] | None:
    if samples is None or edges is None:
        return None
    lengths, whole = np.diff(edges), (edges[0], edges[-1])
    found: dict[Direction, _ServedBytes] = {}
    for direction, way in WAYS.items():
        networks = [_known(network_rates(samples, node, way, edges)) for node in samples.nodes]
        crossed = [rates for rates in networks if rates is not None]
        devices = [_known(device_rates(run, samples, edges)[direction]) for run in facts.storage_runs]
        reached = [rates for rates in devices if rates is not None]
        if not crossed or len(reached) < len(devices):
            return None
        over = [network_rates(samples, node, way, whole)[0] or 0.0 for node in samples.nodes]
        found[direction] = _ServedBytes(
            _of_sum(np.sum(crossed, axis=0) * lengths, sum(over) * (whole[1] - whole[0])),
            np.sum(reached, axis=0) * lengths,
        )
    return found


def _of_sum(bytes_: Floats, whole: float) -> Floats:
    """The same course with the sum that is known of the whole: samples may not cover every window."""
    return bytes_ * (whole / bytes_.sum()) if whole > 0.0 and bytes_.sum() > 0.0 else bytes_


def _known(rates: Rates) -> Floats | None:
    """Windows that samples do not cover have nothing of their own; None where they cover none."""
    if all(rate is None for rate in rates):
        return None
    return np.array([rate or 0.0 for rate in rates])


def _shared_out(
    jobs: Mapping[str, JobDemand],
    asked: Callable[[Flow], float],
    direction: Direction,
    one: _ServedBytes,
    edges: Sequence[float],
) -> dict[str, JobDemand]:
    inside = {
        id(step): sum(asked(flow) for flow in step.flows if flow.direction == direction)
        for step in _steps(jobs.values())
    }
    if sum(inside.values()) <= 0.0:
        return dict(jobs)
    times = {id(step): _times(step, edges) for step in _steps(jobs.values())}
    crossed, reached = (_for_each_byte(bytes_, inside, times) for bytes_ in (one.crossed, one.reached))

    def moved(flow: Flow, step: StepDemand) -> Flow:
        bytes_ = asked(flow)
        if flow.direction != direction or bytes_ <= 0.0:
            return flow
        return replace(
            flow,
            link_bytes=bytes_ * crossed[id(step)],
            device_bytes=bytes_ * reached[id(step)],
        )

    return {
        name: replace(
            job,
            steps=tuple(
                replace(step, flows=tuple(moved(flow, step) for flow in step.flows)) for step in job.steps
            ),
        )
        for name, job in jobs.items()
    }


def _for_each_byte(
    moved: Floats, asked: Mapping[int, float], times: Mapping[int, Floats]
) -> dict[int, float]:
    """Bytes of ``moved`` (in each window) for each byte that a step asked for; over all steps their sum."""
    in_window = sum((times[key] * bytes_ for key, bytes_ in asked.items()), np.zeros_like(moved))
    ratio = np.divide(moved, in_window, out=np.zeros_like(moved), where=in_window > 0.0)
    own = {key: float(times[key] @ ratio) for key in asked}
    attributed = sum(own[key] * bytes_ for key, bytes_ in asked.items())
    if attributed <= 0.0:
        # It moved when nobody asked, as what is written behind does: alike for all.
        return dict.fromkeys(asked, float(moved.sum()) / sum(asked.values()))
    level = float(moved.sum()) / attributed
    return {key: value * level for key, value in own.items()}


def _steps(jobs: Iterable[JobDemand]) -> Iterator[StepDemand]:
    return (step for job in jobs for step in job.steps)


def _times(step: StepDemand, edges: Sequence[float]) -> Floats:
    """The parts of a step's time that lie in each window; of an unknown time, the windows' own lengths."""
    started, ended = step.span or (edges[0], edges[-1])
    starts, ends = np.array(edges[:-1]), np.array(edges[1:])
    inside = np.clip(np.minimum(ended, ends) - np.maximum(started, starts), 0.0, None)
    if inside.sum() <= 0.0:
        inside = ((starts <= started) & (started < ends)).astype(np.float64)
        inside[-1] += not inside.any()
    return np.asarray(inside / inside.sum(), dtype=np.float64)
