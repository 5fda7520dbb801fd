"""A step of a job on a described system: what it takes of each resource, and how fast it is alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mawl.simulation.demand import Direction, Flow, StepDemand
from mawl.simulation.resources import CORES, FABRIC, LINK, Resources
from mawl.simulation.system import Device, NodeKind, System
from mawl.spec.program_options import ROLES, Options, Role

USUAL_REQUEST_BYTES = Options().bufsize_bytes
"""Where request sizes were not measured."""

LEAST_SECONDS = 1e-9
LEAST_BYTES = 1.0
"""What is less than these is nothing: of such amounts no rate can be told."""


@dataclass(frozen=True)
class Calibration:
    """What is known of the system that the demand was measured on.

    ``own`` is that system; ``alone_ratio`` (0 to 1) the part of the measured blocked time that a step
    would have had without others; ``seek_ratio`` (0 to 1) the part of the seeks between streams that were
    made, the kernel having saved the others (docs/design/simulation.md).
    """

    own: System
    alone_ratio: float
    seek_ratio: float = 1.0

    def kind(self, resources: Resources, group: int) -> NodeKind:
        """The measured kind of node that a group's stands for: the one in its place, else the first."""
        alike = len(self.own.nodes) == len(resources.system.nodes)
        return self.own.nodes[resources.groups[group].number if alike else 0]


@dataclass(frozen=True)
class Activity:
    """One step, ready for the engine.

    ``uses`` maps columns of :class:`~mawl.simulation.resources.Resources` to what the whole step takes,
    ``parts`` those of devices to the part of its time at a role's devices that it is at this one (0 to 1),
    ``alone_seconds`` is how long it takes alone, of which ``blocked_seconds`` (by role) and
    ``other_seconds`` are waits.  ``roles_on`` maps columns of devices, link and fabric to the bytes of
    each role there, ``crossing`` directions to the bytes that cross the node's link.
    """

    step: StepDemand
    uses: Mapping[int, float]
    parts: Mapping[int, float]
    alone_seconds: float
    blocked_seconds: Mapping[Role, float]
    roles_on: Mapping[int, Mapping[Role, float]]
    crossing: Mapping[Direction, float]

    def role_shares(self, column: int) -> dict[Role, float]:
        """Shares of the roles in what the step takes of a resource; none of cores."""
        amounts = self.roles_on.get(column, {})
        total = sum(amounts.values())
        return {role: amount / total for role, amount in amounts.items()}


def activity(step: StepDemand, resources: Resources, group: int, calibration: Calibration) -> Activity:
    """The step on a node of the group."""
    kind = resources.groups[group].kind
    measured = calibration.kind(resources, group)
    uses: dict[int, float] = {}
    parts: dict[int, float] = {}
    roles_on: dict[int, dict[Role, float]] = {}
    crossing: dict[Direction, float] = {}

    def use(
        limit: str, what: str, amount: float, role: Role, part: float, least: float = LEAST_BYTES
    ) -> None:
        column = resources.column(group, limit, what)
        if column is not None and amount > least:
            uses[column] = uses.get(column, 0.0) + amount
            parts[column] = max(parts.get(column, 0.0), part)
            shares = roles_on.setdefault(column, {})
            shares[role] = shares.get(role, 0.0) + amount

    cores = resources.column(group, CORES)
    assert cores is not None, "every node has cores"
    if step.cpu_seconds > LEAST_SECONDS:
        uses[cores] = step.cpu_seconds
    for flow in step.flows:
        devices = resources.system.holders(kind, flow.role)
        times = [_seconds_per_byte(device, flow) for device in devices]
        for device, seconds in zip(devices, times, strict=True):
            amount = flow.device_bytes / len(devices)
            part = seconds / sum(times)
            use(device.name, flow.direction, amount, flow.role, part)
            use(device.name, "shared", amount, flow.role, part)
            request = _request(flow)
            use(device.name, "requests", amount / request, flow.role, part, LEAST_BYTES / request)
            if not device.local:
                crossed = flow.crossing_bytes / len(devices)
                use(LINK, flow.direction, crossed, flow.role, 1.0)
                use(FABRIC, flow.direction, crossed, flow.role, 1.0)
                use(FABRIC, "shared", crossed, flow.role, 1.0)
                crossing[flow.direction] = crossing.get(flow.direction, 0.0) + crossed
    now, then = Way(resources.system, kind), Way(calibration.own, measured)
    blocked = {role: _alone(step, role, now, then, calibration.alone_ratio) for role in ROLES}
    threads = min(step.threads, kind.cores)
    cpu = step.cpu_seconds / (threads * kind.core_speed)
    return Activity(
        step=step,
        uses=uses,
        parts=parts,
        alone_seconds=cpu + step.other_seconds + sum(blocked.values()),
        blocked_seconds=blocked,
        roles_on=roles_on,
        crossing=crossing,
    )


@dataclass(frozen=True)
class Way:
    """A system, and the kind of node from which its devices are reached, over its link or not."""

    system: System
    kind: NodeKind


def _alone(step: StepDemand, role: Role, now: Way, measured: Way, alone_ratio: float) -> float:
    """Seconds that the step is blocked in the role without others, ``now``.

    The part of the waits that it would have had without others where they were ``measured``, times as long as
    its bytes take now; but at least the time of the requests that it waits for one by one.
    Waits for bytes that took no time where they were measured stay as long.
    """
    flows = [flow for flow in step.flows if flow.role == role and (flow.device_bytes or flow.link_bytes)]
    waited = step.blocked_seconds[role]
    before = service_seconds(measured, role, flows)
    seconds = waited * alone_ratio * (service_seconds(now, role, flows) / before if before > 0.0 else 1.0)
    described = awaited_seconds(measured, role, flows)
    # Requests that took less than the description says will do so again.
    return max(
        seconds, awaited_seconds(now, role, flows) * min(waited / described if described else 1.0, 1.0)
    )


def service_seconds(way: Way, role: Role, flows: list[Flow]) -> float:
    """Seconds for the bytes of the role's flows, alone: over the link, then at the device.

    Each request has the device's latency, as many at a time as the flow has under way; several devices have
    equal parts of the bytes.
    """
    devices = way.system.holders(way.kind, role)
    link = way.kind.link_bytes_per_second
    return sum(
        flow.device_bytes * _transfer_seconds(device, flow)
        + (flow.crossing_bytes / link if link and not device.local else 0.0)
        for flow in flows
        for device in devices
    ) / len(devices)


def awaited_seconds(way: Way, role: Role, flows: list[Flow]) -> float:
    """Seconds at the devices, alone, of the requests that the step waits for one by one."""
    devices = way.system.holders(way.kind, role)
    return sum(
        flow.awaited_bytes * _transfer_seconds(device, flow) for flow in flows for device in devices
    ) / len(devices)


def _rate(device: Device, direction: Direction) -> float:
    """Bytes a second of one stream in a direction."""
    rates = {"read": device.read_bytes_per_second, "write": device.write_bytes_per_second}
    return min(rates[direction], device.shared_bytes_per_second or rates[direction])


def _seconds_per_byte(device: Device, flow: Flow) -> float:
    """Of one stream at a device: for the bytes and each request's latency, or for the requests themselves."""
    request = _request(flow)
    least = 0.0 if device.requests_per_second is None else 1.0 / (request * device.requests_per_second)
    return max(_transfer_seconds(device, flow), least)


def _transfer_seconds(device: Device, flow: Flow) -> float:
    """Of a byte of the flow at the device, with its part of a request's latency."""
    at_rate = 1.0 / _rate(device, flow.direction)
    return max(at_rate, (at_rate + device.latency_seconds / _request(flow)) / flow.requests_at_once)


def _request(flow: Flow) -> float:
    return flow.request_bytes or USUAL_REQUEST_BYTES
