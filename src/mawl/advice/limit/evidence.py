"""Evidence on the storage that jobs waited for: devices, caps, links, ports; what rules have in common."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection
from typing import Literal

import msgspec

from mawl.advice.validity.host import foreign_bytes_at
from mawl.base.units import counted_noun, format_latency, format_percent, format_rate
from mawl.figures.caps import DIRECTIONS as CAPS_DIRECTIONS
from mawl.figures.caps import cap_of
from mawl.figures.network import FULL_RATIO, kinds_of_role
from mawl.figures.sessions import rates
from mawl.figures.throughput import DIRECTIONS, Counters, Flow
from mawl.figures.view import RunView
from mawl.figures.window_states import Moment
from mawl.records.model.summary.judgement import ReachedCap
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

Resource = Literal["storage", "cpu", "memory", "network"]

LEAST_LOSS_RATIO = value_of("limit.least_loss_ratio")
"""A window is limited by what costs its jobs at least this share of their time: relieving it altogether
would shorten the window by as much."""


class RuleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One line of evidence.  ``kind`` support means: it never decides, it only agrees or does not."""

    kind: Literal["evidence", "support"]
    sentence: str


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that may limit a run.

    ``loss`` is the share (0 to 1) of the jobs' time in a window that they waited for the resource; None if
    the samples of the window do not show it.  ``evidence`` has the figures that a named limit rests on.
    """

    resource: Resource
    loss: Callable[[Moment, RunView], float | None]
    evidence: Callable[[RunView], list[RuleEvidence]]


def share_of_time(reading: RunView, part: str) -> float | None:
    """What the jobs did as a share of their real time, as each part of a report has it."""
    wait = reading.summary.wait
    return None if wait is None else getattr(wait.shares, f"{part}_ratio")


def pressure_line(reading: RunView, name: str, words: str) -> list[RuleEvidence]:
    """The pressure of a resource over the active phase as evidence, where the kernel told."""
    value = reading.mean(lambda moment: moment.pressure[name])
    if value is None:
        return []
    sentence = f"pressure: {words} {format_percent(value)} of the active phase"
    return [RuleEvidence(kind="evidence", sentence=sentence)]


def device_totals(reading: RunView, device: str) -> Flow:
    """Bytes per second of a device in each window of the active phase, by direction and in total."""
    if reading.over_time is None:
        return {direction: [] for direction in DIRECTIONS}
    samples, windows = reading.over_time
    names = [[f"device.{device}.{way}_bytes"] for way in ("read", "written")]
    return Counters(device, *names).flow(
        samples, windows.active_edges, _nodes_of_busiest_machine(reading, device)
    )


def device_peaks(reading: RunView, device: str) -> dict[str, float | None]:
    """The highest window of a device by direction and in total, in bytes per second."""
    return {
        direction: max((value for value in values if value is not None), default=None)
        for direction, values in device_totals(reading, device).items()
    }


def device_lines(reading: RunView, device: str) -> list[RuleEvidence]:
    """Throughput, await and utilisation: they only support, since a throttled device can look idle."""
    lines = []
    moved = [value for value in device_totals(reading, device)["total"] if value is not None]
    name = _device_name(reading, device)
    if moved:
        lines.append(
            f"{name} moved {format_rate(max(moved))} in its highest window, "
            f"{format_rate(statistics.median(moved))} in the median one"
        )
    requests = _device_rate(reading, device, "reads", "writes")
    seconds = _device_rate(reading, device, "read_seconds", "write_seconds")
    busy = _device_rate(reading, device, "busy_seconds")
    if requests and seconds is not None and busy is not None:
        lines.append(
            f"a request to {name} took {format_latency(seconds / requests)} on average, "
            f"and it was in use {format_percent(min(busy, 1.0))} of the time"
        )
    return [RuleEvidence(kind="support", sentence=line) for line in lines]


def _device_rate(reading: RunView, device: str, *figures: str) -> float | None:
    return _counter_rate(
        reading,
        [f"device.{device}.{figure}" for figure in figures],
        _nodes_of_busiest_machine(reading, device),
    )


def _device_name(reading: RunView, device: str) -> str:
    """The device, with its node where several machines have a device of this name."""
    if len(_machines_with_device(reading, device)) < 2:
        return device
    return f"{device} of {_nodes_of_busiest_machine(reading, device)[0]}"


def _machines_with_device(reading: RunView, device: str) -> list[list[str]]:
    """The nodes whose role lies on a device of this name, by machine: on each it is another device."""
    same = {node.name: node.same_machine_as or node.name for node in reading.facts.nodes}
    found: dict[str, list[str]] = {}
    for node in sorted({volume.node for volume in reading.facts.volumes if device in volume.devices}):
        found.setdefault(same.get(node, node), []).append(node)
    return list(found.values())


def _nodes_of_busiest_machine(reading: RunView, device: str) -> list[str]:
    """The nodes of the machine whose device was in use for longest, or moved most if that is not known."""
    machines = _machines_with_device(reading, device)
    if len(machines) < 2:
        return [node for nodes in machines for node in nodes]

    def used(nodes: list[str]) -> tuple[float, float]:
        busy = _counter_rate(reading, [f"device.{device}.busy_seconds"], nodes)
        moved = _counter_rate(reading, [f"device.{device}.{way}_bytes" for way in ("read", "written")], nodes)
        return busy or 0.0, moved or 0.0

    return max(machines, key=used)


def _counter_rate(reading: RunView, names: list[str], nodes: list[str]) -> float | None:
    """What counters gained per second in the active phase, over these nodes."""
    if reading.over_time is None:
        return None
    samples, windows = reading.over_time
    edges = (windows.active_edges[0], windows.active_edges[-1])
    return rates(samples, names, edges, nodes)[0]


NEAR_CAP_RATIO = value_of("limit.cap.near_ratio")
ABOVE_CAP_RATIO = value_of("limit.cap.above_ratio")
"""A device that moves more than this many times a cap is not held by it."""

DIRECTION_VERBS = {"read": "read", "write": "wrote"}


def flow_of(reading: RunView, devices: Collection[str], seconds: float | None = None) -> Flow:
    """Bytes per second of these devices together, of all nodes, in each window of the active phase.

    ``seconds``: in parts of it that are so long.
    """
    if reading.over_time is None:
        return {direction: [] for direction in DIRECTIONS}
    samples, windows = reading.over_time
    edges = windows.active_edges
    if seconds is not None:
        parts = int((edges[-1] - edges[0]) / seconds)
        edges = tuple(edges[0] + part * seconds for part in range(parts + 1))
    names = [[f"device.{name}.{way}_bytes" for name in sorted(devices)] for way in ("read", "written")]
    return Counters(f"block devices {', '.join(devices)}", *names).flow(samples, edges)


def flow_of_role(reading: RunView, role: Role) -> Flow:
    """The same of the devices of a role."""
    return flow_of(reading, {device for volume in reading.volumes(role) for device in volume.devices})


def caps_reached(reading: RunView, role: Role, blocked: list[float | None]) -> list[ReachedCap]:
    """The caps on bytes that the role's devices came near while jobs waited for the role.

    ``blocked`` is the share of the jobs' time that waiting for the role cost in each window of the active
    phase.  The counters of devices include the bytes of other programs; if these are many, the list is empty.
    """
    caps = reading.summary.caps
    most = {
        way: rate for way in CAPS_DIRECTIONS if (rate := cap_of(caps, role, way).bytes_per_second) is not None
    }
    if not most or foreign_bytes_at(reading, role) is not None:
        return []
    flow = flow_of_role(reading, role)
    found = []
    for direction, allowed in most.items():
        waited = [
            rate / allowed
            for rate, share in zip(flow[direction], blocked, strict=False)
            if rate is not None and share is not None and share >= LEAST_LOSS_RATIO
        ]
        near = sum(NEAR_CAP_RATIO <= ratio <= ABOVE_CAP_RATIO for ratio in waited)
        if near and not any(ratio > ABOVE_CAP_RATIO for ratio in waited):
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
            f"{one.near_windows} of them {role} {DIRECTION_VERBS[one.direction]} at least "
            f"{format_percent(NEAR_CAP_RATIO)} of what its control group allows at "
            f"{', '.join(one.devices)}, {format_rate(one.bytes_per_second)}",
        )
        for one in reached
    ]


def server_part(moment: Moment) -> float:
    """The share (0 to 1) of the time blocked over the network that was for the storage server.

    0 where not known: the fabric and the server behind it then are one, the network.
    """
    links = moment.links
    return links.server / links.waited if links is not None and links.waited else 0.0


def links_are_known(reading: RunView) -> bool:
    """Whether some window of the active phase tells links from server."""
    return any(moment.links is not None for moment in reading.active)


def link_lines(reading: RunView) -> list[RuleEvidence]:
    """The links as evidence, each storage server as support; nothing where a run does not tell."""
    link = reading.facts.link_bytes_per_second
    used, waited, full, server = (
        reading.mean(lambda moment, name=name: getattr(moment.links, name, None))  # type: ignore[misc]
        for name in ("used_ratio", "waited", "full", "server")
    )
    if link is None or used is None or waited is None or full is None or server is None:
        return []
    sentence = (
        f"the nodes used {format_percent(used)} of their links ({format_rate(link)} each way, as declared; "
        "the busier way, mean over nodes)"
    )
    if waited:
        sentence += (
            f"; of the time inside I/O calls {format_percent(full / waited)} was on nodes whose link "
            "was full "
            f"(at least {format_percent(FULL_RATIO)}), {format_percent(server / waited)} on others while the "
            "storage server's devices were at their top"
        )
    return [RuleEvidence(kind="evidence", sentence=sentence), *_server_lines(reading)]


def _server_lines(reading: RunView) -> list[RuleEvidence]:
    block = reading.summary.cluster
    lines = []
    for name, server in (block.storage if block else {}).items():
        device = server.device
        peak, sustained = (getattr(device, kind).total_bytes_per_second for kind in ("peak", "sustained"))
        if peak is None or sustained is None:
            continue
        sentence = (
            f"the devices of {name} moved {format_rate(peak)} in their highest window, "
            f"{format_rate(sustained)} in the median one"
        )
        wait = device.await_seconds.mean
        if wait is not None:
            sentence += f", and a request took {format_latency(wait)} on average"
        lines.append(RuleEvidence(kind="support", sentence=sentence))
    return lines


PORT_WORDS = {"fc": "fibre channel port", "ethernet": "network interface"}


def port_part(moment: Moment, reading: RunView, role: str) -> float:
    """The share (0 or 1) of the time blocked in I/O of a role that was for the ports to its devices.

    All of it in a window in which a port of the kind that its disks are attached by was full; none for disks
    inside the machine, and where no port tells its speed.
    """
    kinds = kinds_of_role(reading.facts, role)
    return 1.0 if any(moment.ports.get(kind, 0.0) >= FULL_RATIO for kind in kinds) else 0.0


def port_lines(reading: RunView) -> list[RuleEvidence]:
    """How full the ports were over which roles reach their disks."""
    kinds = sorted({kind for role in ROLES for kind in kinds_of_role(reading.facts, role)})
    lines = []
    for kind in kinds:
        shares = [moment.ports[kind] for moment in reading.active if kind in moment.ports]
        if shares:
            full = sum(share >= FULL_RATIO for share in shares)
            lines.append(
                RuleEvidence(
                    kind="evidence",
                    sentence=f"the fullest {PORT_WORDS[kind]} carried {format_percent(max(shares))} of its "
                    "speed in "
                    f"its highest window, and at least {format_percent(FULL_RATIO)} in {full} of "
                    f"{len(shares)}",
                )
            )
    return lines
