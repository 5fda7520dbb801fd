"""A step of a job on a described system: what it takes of each resource, and how fast it is alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mawl.model.options import ROLES, Options, Role
from mawl.simulation.demand import Direction, Flow, StepDemand
from mawl.simulation.resources import CORES, FABRIC, LINK, Resources
from mawl.simulation.system import Device, NodeKind, System

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
    ``alone_seconds`` is how long it takes alone, of which ``blocked_seconds`` (by role) and
    ``other_seconds`` are waits.  ``roles_on`` maps columns of devices, link and fabric to the bytes of
    each role there, ``crossing`` directions to the bytes that cross the node's link.
    """

    step: StepDemand
    uses: Mapping[int, float]
    alone_seconds: float
    blocked_seconds: Mapping[Role, float]
    roles_on: Mapping[int, Mapping[Role, float]]
    crossing: Mapping[Direction, float]

    def role_shares(self, column: int) -> dict[Role, float]:
        """Shares of the roles in what the step takes of a resource; none of cores."""
        amounts = self.roles_on.get(column, {})
        total = sum(amounts.values())
        return {role: amount / total for role, amount in amounts.items()}


def activity(
    step: StepDemand, resources: Resources, group: int, turn: int, calibration: Calibration
) -> Activity:
    """The step on a node of the group; ``turn`` decides which of a role's devices holds its bytes."""
    kind = resources.groups[group].kind
    measured = calibration.kind(resources, group)
    uses: dict[int, float] = {}
    roles_on: dict[int, dict[Role, float]] = {}
    crossing: dict[Direction, float] = {}

    def use(limit: str, what: str, amount: float, role: Role, least: float = LEAST_BYTES) -> None:
        column = resources.column(group, limit, what)
        if column is not None and amount > least:
            uses[column] = uses.get(column, 0.0) + amount
            shares = roles_on.setdefault(column, {})
            shares[role] = shares.get(role, 0.0) + amount

    cores = resources.column(group, CORES)
    assert cores is not None, "every node has cores"
    if step.cpu_seconds > LEAST_SECONDS:
        uses[cores] = step.cpu_seconds
    for flow in step.flows:
        device = resources.system.holder(kind, flow.role, turn)
        use(device.name, flow.direction, flow.device_bytes, flow.role)
        use(device.name, "shared", flow.device_bytes, flow.role)
        use(
            device.name,
            "requests",
            flow.device_bytes / _request(flow),
            flow.role,
            LEAST_BYTES / _request(flow),
        )
        if not device.local:
            use(LINK, flow.direction, flow.crossing_bytes, flow.role)
            use(FABRIC, flow.direction, flow.crossing_bytes, flow.role)
            crossing[flow.direction] = crossing.get(flow.direction, 0.0) + flow.crossing_bytes
    blocked = {
        role: step.blocked_seconds[role]
        * calibration.alone_ratio
        * _slower(
            step, role, Way(resources.system.holder(kind, role, turn), kind), turn, calibration.own, measured
        )
        for role in ROLES
    }
    threads = min(step.threads, kind.cores)
    cpu = step.cpu_seconds / (threads * kind.core_speed)
    return Activity(
        step=step,
        uses=uses,
        alone_seconds=cpu + step.other_seconds + sum(blocked.values()),
        blocked_seconds=blocked,
        roles_on=roles_on,
        crossing=crossing,
    )


@dataclass(frozen=True)
class Way:
    """A device, and the kind of node that reaches it: over its link, where the device is not its own."""

    device: Device
    kind: NodeKind


def _slower(step: StepDemand, role: Role, now: Way, turn: int, own: System, measured: NodeKind) -> float:
    """How many times as long the role's bytes take alone ``now`` as on a ``measured`` node of ``own``.

    1 where they took no time there: then they tell nothing of the waits.
    """
    flows = [flow for flow in step.flows if flow.role == role and (flow.device_bytes or flow.link_bytes)]
    before = service_seconds(Way(own.holder(measured, role, turn), measured), flows)
    return service_seconds(now, flows) / before if before > 0.0 else 1.0


def service_seconds(way: Way, flows: list[Flow]) -> float:
    """Seconds for the bytes of the flows, one request at a time: over the link, then at the device.

    Each request has the device's latency.
    """
    device = way.device
    rates = {"read": device.read_bytes_per_second, "write": device.write_bytes_per_second}
    link = None if device.local else way.kind.link_bytes_per_second
    return sum(
        flow.device_bytes
        / min(rates[flow.direction], device.shared_bytes_per_second or rates[flow.direction])
        + flow.device_bytes / _request(flow) * device.latency_seconds
        + (flow.crossing_bytes / link if link else 0.0)
        for flow in flows
    )


def _request(flow: Flow) -> float:
    return flow.request_bytes or USUAL_REQUEST_BYTES
