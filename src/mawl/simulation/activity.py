"""A step of a job on a described system: what it takes of each resource, and how fast it is alone.

What the kernel writes while programs go on.

Linux keeps what programs write in the page cache and writes it to the device later, so that a step does not
wait for the device until too much is dirty (docs/design/simulation.md, Write-back).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from statistics import fmean

from mawl.records.model.role_io import RoleIo, typical
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Direction, Flow, JobDemand, StepDemand
from mawl.simulation.resources import CORES, FABRIC, LINK, Resources
from mawl.simulation.system import Device, NodeKind, System

LEAST_SECONDS = 1e-9
LEAST_BYTES = 1.0
"""What is less than these is nothing: of such amounts no rate can be told."""


@dataclass(frozen=True)
class Calibration:
    """What is known of the system that the demand was measured on.

    ``own`` is that system; ``alone_ratio`` (0 to 1) the part of the measured blocked time that a step
    would have had without others; ``seek_ratio`` (0 to 1) the part of the seeks between streams that were
    made, the kernel having saved the others (docs/design/simulation.md).  ``unknown`` are devices of which
    nothing says what they can do: steps are blocked in their roles for as long as they were.
    """

    own: System
    alone_ratio: float
    seek_ratio: float = 1.0
    unknown: Collection[str] = ()

    def kind(self, resources: Resources, group: int) -> NodeKind:
        """The measured kind of node that a group's stands for: the one in its place, else the first."""
        alike = len(self.own.nodes) == len(resources.system.nodes)
        return self.own.nodes[resources.groups[group].number if alike else 0]


@dataclass
class Uses:
    """What something takes of each resource.

    ``amounts`` maps columns of ``Resources`` to what the whole of it takes,
    ``turns`` those of devices to how often it waits in their queues (of link and fabric: their bytes; none of
    cores), ``parts`` those of devices to the part of its time at a role's devices that it is at this one
    (0 to 1), ``roles_on`` columns of devices, link and fabric to the bytes of each role there.
    """

    amounts: dict[int, float] = field(default_factory=dict)
    turns: dict[int, float] = field(default_factory=dict)
    parts: dict[int, float] = field(default_factory=dict)
    roles_on: dict[int, dict[Role, float]] = field(default_factory=dict)

    def add(
        self,
        column: int | None,
        amount: float,
        role: Role,
        part: float,
        *,
        turns: float,
        least: float = LEAST_BYTES,
    ) -> None:
        """Add what a role takes of a resource, if the system has it and it is more than ``least``."""
        if column is None:
            return
        if amount <= least:
            return
        self.amounts[column] = self.amounts.get(column, 0.0) + amount
        self.turns[column] = self.turns.get(column, 0.0) + turns
        self.parts[column] = max(self.parts.get(column, 0.0), part)
        shares = self.roles_on.setdefault(column, {})
        shares[role] = shares.get(role, 0.0) + amount

    def with_ratio(self, other: Uses, ratio: float) -> Uses:
        found = deepcopy(self)
        for column, roles in other.roles_on.items():
            turns_each = other.turns[column] / other.amounts[column]
            for role, amount in roles.items():
                more, part = amount * ratio, other.parts[column]
                found.add(column, more, role, part, turns=more * turns_each, least=0.0)
        return found


@dataclass(frozen=True)
class WrittenBehind:
    """``bytes`` that the kernel writes to a role's devices while the step that wrote them goes on."""

    role: Role
    bytes: float
    uses: Uses


@dataclass(frozen=True)
class Activity:
    """One step, ready for the engine.

    ``uses`` is what the whole step takes, ``behind`` what it does not wait for.  ``alone_seconds`` is how
    long it takes alone, of which ``blocked_seconds`` (by role) and ``other_seconds`` are waits.
    ``device_bytes`` and ``crossing`` are the bytes by direction that it moves at devices, and over the node's
    link, ``awaited`` those by role and direction that it waits for.
    """

    step: StepDemand
    uses: Uses
    alone_seconds: float
    blocked_seconds: Mapping[Role, float]
    device_bytes: Mapping[Direction, float]
    crossing: Mapping[Direction, float]
    awaited: Mapping[tuple[Role, Direction], float]
    behind: tuple[WrittenBehind, ...] = ()

    def role_shares(self, column: int) -> dict[Role, float]:
        amounts = self.uses.roles_on.get(column, {})
        total = sum(amounts.values())
        return {role: amount / total for role, amount in amounts.items()}

    def waiting_for(self, written: Iterable[tuple[WrittenBehind, float]]) -> Activity:
        """The step if it waits for parts (0 to 1) of what was to be written behind."""
        uses, device_bytes, awaited = self.uses, dict(self.device_bytes), dict(self.awaited)
        for one, ratio in written:
            uses = uses.with_ratio(one.uses, ratio)
            device_bytes["write"] = device_bytes.get("write", 0.0) + one.bytes * ratio
            awaited[one.role, "write"] = awaited.get((one.role, "write"), 0.0) + one.bytes * ratio
        return replace(self, uses=uses, device_bytes=device_bytes, awaited=awaited)


def activity(step: StepDemand, resources: Resources, group: int, calibration: Calibration) -> Activity:
    """The step on a node of the group."""
    kind = resources.groups[group].kind
    measured = calibration.kind(resources, group)
    uses = Uses()
    behind: defaultdict[Role, Uses] = defaultdict(Uses)
    written: defaultdict[Role, float] = defaultdict(float)
    device_bytes: dict[Direction, float] = {}
    crossing: dict[Direction, float] = {}
    awaited: defaultdict[tuple[Role, Direction], float] = defaultdict(float)
    cores = resources.column(group, CORES)
    assert cores is not None, "every node has cores"
    if step.cpu_seconds > LEAST_SECONDS:
        uses.amounts[cores] = step.cpu_seconds
    for flow in step.flows:
        devices = resources.system.holders(kind, flow.role)
        times = [_seconds_per_byte(device, flow) for device in devices]
        for device, seconds in zip(devices, times, strict=True):
            late = flow.behind_bytes / len(devices) if device.local else 0.0
            now = flow.device_bytes / len(devices) - late
            part, request = seconds / sum(times), _request(flow)
            written[flow.role] += late
            awaited[flow.role, flow.direction] += flow.crossing_bytes / len(devices) - late
            device_bytes[flow.direction] = device_bytes.get(flow.direction, 0.0) + now
            for amount, of in ((now, uses), (late, behind[flow.role])):
                for what in (flow.direction, "shared"):
                    turns = amount / (flow.outstanding_bytes or USUAL_REQUEST_BYTES)
                    of.add(resources.column(group, device.name, what), amount, flow.role, part, turns=turns)
                waits = amount / (flow.outstanding_bytes or request)
                of.add(
                    resources.column(group, device.name, "requests"),
                    max(amount / request, waits),
                    flow.role,
                    part,
                    turns=waits,
                    least=LEAST_BYTES / request,
                )
            if not device.local:
                crossed = flow.crossing_bytes / len(devices)
                for limit, what in ((LINK, flow.direction), (FABRIC, flow.direction), (FABRIC, "shared")):
                    uses.add(resources.column(group, limit, what), crossed, flow.role, 1.0, turns=crossed)
                crossing[flow.direction] = crossing.get(flow.direction, 0.0) + crossed
    now_way, then = Way(resources.system, kind), Way(calibration.own, measured)
    blocked = {
        role: _alone(step, role, now_way, then, calibration.alone_ratio, calibration.unknown)
        for role in ROLES
    }
    threads = min(step.threads, kind.cores)
    cpu = step.cpu_seconds / (threads * kind.core_speed)
    return Activity(
        step=step,
        uses=uses,
        alone_seconds=cpu + step.other_seconds + sum(blocked.values()),
        blocked_seconds=blocked,
        device_bytes=device_bytes,
        crossing=crossing,
        awaited=awaited,
        behind=tuple(WrittenBehind(role, written[role], of) for role, of in behind.items() if of.amounts),
    )


@dataclass(frozen=True)
class Way:
    """A system, and the kind of node from which its devices are reached, over its link or not."""

    system: System
    kind: NodeKind


def _alone(
    step: StepDemand, role: Role, now: Way, measured: Way, alone_ratio: float, unknown: Collection[str]
) -> float:
    """Seconds that the step is blocked in the role without others, ``now``.

    The part of the waits that it would have had without others where they were ``measured``, times as long as
    its bytes take now; but at least the time of the requests that it waits for one by one.
    Of waits for bytes that took no time where they were measured the same part stays.  Waits for a device
    in ``unknown`` stay.
    """
    flows = [flow for flow in step.flows if flow.role == role and (flow.device_bytes or flow.link_bytes)]
    waited = step.blocked_seconds[role]
    before = service_seconds(measured, role, flows)
    if any(name in unknown for name in measured.kind.roles[role]):
        return waited
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


def stream_rate(device: Device, direction: Direction) -> float:
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
    at_rate = 1.0 / stream_rate(device, flow.direction)
    return max(at_rate, (at_rate + device.latency_seconds / _request(flow)) / flow.requests_at_once)


def _request(flow: Flow) -> float:
    return flow.request_bytes or USUAL_REQUEST_BYTES


LINUX_READ_AHEAD_BYTES = 128 * 1024.0
"""What Linux reads ahead by default, where a run does not say."""

GATHERED_BYTES = 2.0 * 2**20
"""What ``--cache none`` has on its way of a file that is written; as much is assumed of the kernel's own
write-back."""

PAGE_BYTES = 4096.0

PAGES_A_WRITE = 2.0
"""A write that begins and ends within a page reads both of them first."""


def read_ahead_of(facts: RunFacts) -> Mapping[Role, float]:
    """Bytes that the kernel reads ahead in each role: the mean over its volumes, as the run recorded it."""
    read_ahead: defaultdict[Role, list[float]] = defaultdict(list)
    for volume in facts.volumes:
        inventory = facts.inventories.get(volume.node)
        mounts = inventory.families.get("file_system", {}) if inventory else {}
        ahead = mounts.get(volume.mount_point or "", {}).get("read_ahead_bytes")
        if isinstance(ahead, (int, float)):
            read_ahead[volume.role].append(float(ahead))
    return {role: fmean(read_ahead[role] or [LINUX_READ_AHEAD_BYTES]) for role in ROLES}


def outstanding_bytes(
    io: RoleIo,
    direction: Direction,
    *,
    device_bytes: float,
    direct_ratio: float,
    requests_at_once: float,
    read_ahead_bytes: float,
) -> float:
    """Bytes of a step in a role and direction that wait at its device at once: what it moved over its turns.

    If a device serves requests in the order in which they come, each waits equally long.  So a step with more
    bytes in the queue gets more of the device (docs/design/simulation.md, Sharing).

    A turn is one wait in the queue: for ``requests_at_once`` direct requests or reads at random, for as many
    times what the kernel reads ahead of other reads, for what it gathers of other writes, for a sync, for a
    close with ``--cache none``, or for a page that a write at random fills in part.
    """
    reads = direction == "read"
    moved = io.read_bytes if reads else io.written_bytes
    sizes = io.read_size_bytes_histogram if reads else io.write_size_bytes_histogram
    request = typical(sizes, 0.5) or USUAL_REQUEST_BYTES
    together = request * requests_at_once
    if reads:
        pages = max(device_bytes - moved, 0.0) / PAGE_BYTES
        cached = (
            io.sequential_read_bytes / (max(read_ahead_bytes, request) * requests_at_once)
            + (moved - io.sequential_read_bytes) / together
            + min(pages, PAGES_A_WRITE * _scattered_writes(io))
        )
    else:
        closes = min(io.opens, io.writes) if io.uncaching_seconds else 0
        cached = max(moved / GATHERED_BYTES, io.syncs, closes)
    turns = direct_ratio * moved / together + (1.0 - direct_ratio) * cached
    return max(device_bytes, moved) / turns if turns else USUAL_REQUEST_BYTES


def _scattered_writes(io: RoleIo) -> float:
    size = typical(io.write_size_bytes_histogram, 0.5) or USUAL_REQUEST_BYTES
    return (io.written_bytes - io.sequential_written_bytes) / size


LEAST_BEHIND_RATIO = 2 / 3
"""Where steps waited for more of what they write, the kernel held them back, as with a small ``max_bytes`` of
the backing device.  Runs on beds with 8 MiB of it showed 0 to 0.58, others 0.72 to 1."""


def with_write_behind(jobs: Mapping[str, JobDemand], way: Way) -> dict[str, JobDemand]:
    """The jobs of a run with a page cache, measured on ``way``, with the part that they write behind.

    Of each role it is what the steps did not wait for.  If they waited for most of it, nothing is written
    behind: the kernel held them back.  Nor is what goes to devices that other nodes share, since network file
    systems write a file when it is closed.
    """
    ratios = {role: _behind_ratio(jobs, role, way) for role in ROLES}

    def marked(flow: Flow) -> Flow:
        return replace(flow, behind_ratio=ratios[flow.role]) if flow.direction == "write" else flow

    return {
        name: replace(
            job, steps=tuple(replace(step, flows=tuple(map(marked, step.flows))) for step in job.steps)
        )
        for name, job in jobs.items()
    }


def _behind_ratio(jobs: Mapping[str, JobDemand], role: Role, way: Way) -> float:
    """The part of the role's writes through the page cache that no step waited for: 0 to 1.

    Steps that do not read in the role tell it.  If there are none, all steps that write do, less the time of
    their reads.  Direct writes are taken off like reads.  Without any bytes at the device nothing was waited
    for: 1.  Below ``LEAST_BEHIND_RATIO``, and if no step's waits are known, it is 0.
    """
    steps = [step for job in jobs.values() for step in job.steps if step.waits_known]
    if not steps or not all(device.local for device in way.system.holders(way.kind, role)):
        return 0.0
    waits: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for step in steps:
        flows = [flow for flow in step.flows if flow.role == role]
        writes = [flow for flow in flows if flow.direction == "write"]
        cached = [replace(flow, device_bytes=flow.cached_bytes) for flow in writes]
        needed = service_seconds(way, role, cached)
        if needed > 0.0:
            awaited = service_seconds(way, role, flows) - needed
            reads = any(flow.direction == "read" and flow.device_bytes > 0.0 for flow in flows)
            waits[reads].append((max(step.blocked_seconds[role] - awaited, 0.0), needed))
    wait = waits[False] or waits[True]
    if not wait:
        return 1.0
    ratio = 1.0 - sum(waited for waited, _ in wait) / sum(needed for _, needed in wait)
    return ratio if ratio >= LEAST_BEHIND_RATIO else 0.0
