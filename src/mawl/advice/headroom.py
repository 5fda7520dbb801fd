"""What a run left of each resource, as shares of what there is (docs/design/verdict.md, Headroom)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from mawl.advice.limit.evidence import ABOVE_CAP_RATIO, NEAR_CAP_RATIO, PORT_WORDS, flow_of_role
from mawl.advice.validity.host import foreign_bytes_at
from mawl.base.units import format_memory, format_rate
from mawl.figures.caps import DIRECTIONS, cap_of
from mawl.figures.host_parts import CPU_KINDS, busy_seconds, whole_seconds
from mawl.figures.io import places_of
from mawl.figures.missing import Missing
from mawl.figures.network import used_by_port
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Windows, gauges, rates
from mawl.figures.throughput import MEMORY_FILE_SYSTEMS, role_places, why_no_devices
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Cause, Headroom
from mawl.records.spec.program_options import ROLES, Role

PATH = "limit.headroom"


def headroom_of(
    reading: RunView,
    missing: Missing,
    limiting: Sequence[Cause] = (),
    costs: Sequence[Cause] = (),
) -> Headroom:
    """``limit.headroom``: of processors, storage, memory and networks; None with the reason where unknown.

    It is 0 of what is ``limiting`` the run; processors that are slow, and storage whose requests take long,
    may be idle all the same.  Memory holds the page cache, too, where it is one of the ``costs``.  Each
    source says what the figure is of.  A share below 0 means that more was asked than the probe found.
    """
    found = {
        "cpu": _processors(reading),
        "storage": _storage(reading),
        "memory": _memory(reading, with_cache=any(cost.resource == "memory" for cost in costs)),
        "network": _network(reading),
    }
    for cost in limiting:
        role = cost.roles[0] if cost.resource == "storage" and cost.roles else None
        others = foreign_bytes_at(reading, role) if cost.resource == "storage" else None
        if others:
            found["storage"] = None, others
        elif cost.resource in found and cost.kind not in ("speed", "latency"):
            found[cost.resource] = 0.0, f"{role or cost.resource} limited the run"
    for name, (share, words) in found.items():
        if share is None:
            sources = () if name == "cpu" else (f"{PATH}.{name}_source",)
            missing |= dict.fromkeys((f"{PATH}.{name}_ratio", *sources), words)
    return Headroom(
        cpu_ratio=found["cpu"][0],
        storage_ratio=found["storage"][0],
        storage_source=_source(found["storage"]),
        memory_ratio=found["memory"][0],
        memory_source=_source(found["memory"]),
        network_ratio=found["network"][0],
        network_source=_source(found["network"]),
    )


def _source(found: tuple[float | None, str]) -> str | None:
    share, words = found
    return None if share is None else words


def _processors(reading: RunView) -> tuple[float | None, str]:
    """Idle time of all processors over all their time in the active phase; stolen time is not idle.

    Where the jobs may use only some processors, it is the share of these that the jobs did not use.  It is
    never more than what all processors were idle.
    """
    samples, windows = _over_time(reading)
    edges = (windows.active_edges[0], windows.active_edges[-1])
    spent = {kind: rates(samples, [f"host.cpu_{kind}_seconds"], edges)[0] for kind in CPU_KINDS}
    busy, whole = busy_seconds(spent), whole_seconds(spent)
    if busy is None or spent["idle"] is None or whole <= 0:
        return None, "no sample says how long the processors were idle"
    idle = whole - busy - (spent["steal"] or 0.0)
    facts, machines = reading.facts, reading.facts.machines()
    if not any(facts.granted_cpus(node) for node in machines):
        return idle / whole, ""
    usable = [cpus for node in machines if (cpus := facts.usable_cpus(node))]
    used = rates(samples, ["jobs.on_cpu_seconds"], edges)[0]
    if len(usable) < len(machines):
        return None, "how many processors the jobs could use is not known"
    if used is None:
        return None, "no sample says how long the jobs were on processors"
    left = min(sum(usable) - used, idle)
    return max(left, 0.0) / sum(usable), ""


def _over_time(reading: RunView) -> tuple[RunSamples, Windows]:
    assert reading.over_time is not None, "a run with a limit has samples and windows"
    return reading.over_time


def _storage(reading: RunView) -> tuple[float | None, str]:
    """1 less the highest of demand over capability or cap, of any role and direction.

    Of a role without both in a direction it is the busy share of its devices, too.
    """
    why = why_no_devices(reading.facts)
    used: list[tuple[float, str, Role]] = []
    for role in ROLES:
        found = [*_of_probe(reading, role), *_of_caps(reading, role)]
        if len({direction for _, _, direction in found}) < len(DIRECTIONS):
            found += _of_busy_time(reading, role)
        used += [(share, words, role) for share, words, _ in found]
        on_devices = any(volume.file_system not in MEMORY_FILE_SYSTEMS for volume in reading.volumes(role))
        if why is not None and on_devices and not found:
            return None, why
    if not used:
        return None, why or "no sample says how long the devices were busy"
    by_role = reading.summary.io.by_role or {}
    moved = {role: (one.read_bytes or 0) + (one.written_bytes or 0) for role, one in by_role.items()}
    most, words, role = max(used, key=lambda one: (one[0], moved.get(one[2], 0)))
    others = foreign_bytes_at(reading, role)
    return (None, others) if others else (1.0 - most, words)


def _of_probe(reading: RunView, role: Role) -> Iterator[tuple[float, str, str]]:
    """Sustained demand of the role over what the probe found, by direction."""
    block = reading.summary.storage
    for direction in DIRECTIONS:
        demand = getattr(block.by_role[role], direction) if block else None
        if demand is not None and demand.sustained_used_ratio is not None:
            yield demand.sustained_used_ratio, f"the probe: {role}, {demand.test}", direction


def _of_caps(reading: RunView, role: Role) -> Iterator[tuple[float, str, str]]:
    """Sustained demand of the role over the cap in force, by direction; 1 where it is near the cap.

    A cap that the devices passed does not hold them.
    """
    flow = flow_of_role(reading, role)
    for direction in DIRECTIONS:
        cap = cap_of(reading.summary.caps, role, direction)
        known = [rate for rate in flow[direction] if rate is not None]
        if cap.bytes_per_second and known and max(known) <= ABOVE_CAP_RATIO * cap.bytes_per_second:
            share = statistics.median(known) / cap.bytes_per_second
            words = f"{role}, {direction}, {format_rate(cap.bytes_per_second)} at {', '.join(cap.devices)}"
            yield 1.0 if share >= NEAR_CAP_RATIO else share, f"the cap: {words}", direction


def _of_busy_time(reading: RunView, role: Role) -> Iterator[tuple[float, str, str]]:
    samples, windows = _over_time(reading)
    edges = (windows.active_edges[0], windows.active_edges[-1])
    for node, device in sorted(role_places(reading.facts) & places_of(reading.volumes(role))):
        found = rates(samples, [f"device.{device}.busy_seconds"], edges, [node])[0]
        if found is not None:
            words = (
                f"the time in which {device} had no request; a device that serves several at once has more, "
                "and one behind a rate limit less (probe it: mawl probe)"
            )
            yield found, words, ""


def _memory(reading: RunView, *, with_cache: bool) -> tuple[float | None, str]:
    """The least that was left of the limit in force: of the run, the container or the machine.

    What the page cache holds counts as left, unless memory cost the jobs time.
    """
    sizes = [node.memory_bytes for node in reading.facts.machines()]
    if not sizes or None in sizes:
        return None, "the memory of a machine is not known"
    samples, windows = _over_time(reading)
    whole = sum(size for size in sizes if size)
    limit = limit_in_force(reading)
    limited = limit is not None and limit < whole
    name = {
        (True, True): "group.memory_bytes",
        (True, False): "jobs_resident_bytes",
        (False, True): "host.memory_free_bytes",
        (False, False): "host.memory_available_bytes",
    }[limited, with_cache]
    nodes = () if limited else [node.name for node in reading.facts.machines()]
    known = [value for value in gauges(samples, name, windows.active_edges, nodes) if value is not None]
    cache = "with" if with_cache else "without"
    if not limited or limit is None:
        if not known:
            return None, "no sample says how much memory of the machine was free"
        words = f"{format_memory(whole)} of the machine" + (", page cache not free" if with_cache else "")
        return min(known) / whole, words
    if not known:
        return None, f"no sample says what the jobs held in memory {cache} page cache"
    return max(1.0 - max(known) / limit, 0.0), (
        f"memory limit {format_memory(limit)} less the most that the jobs held {cache} page cache"
    )


def limit_in_force(reading: RunView) -> int | None:
    """What the jobs of all machines may hold at most by a control group; None where a node has no limit."""
    container = reading.facts.settings.get("container_memory_limit_bytes")
    limits = []
    for node in reading.facts.machines():
        known = [size for size in (node.memory_limit_bytes, container) if isinstance(size, int)]
        if not known:
            return None
        limits.append(min(known))
    return sum(limits) or None


def _network(reading: RunView) -> tuple[float | None, str]:
    """1 less the highest window of any interface or fibre channel port, one way, over its speed."""
    samples, windows = _over_time(reading)
    edges = windows.active_edges
    used = [
        (max(shares), f"{PORT_WORDS[kind]} {name}")
        for (kind, name), shares in used_by_port(reading.facts, samples, edges).items()
    ]
    if not used:
        return None, "no interface or port reports its speed"
    most, name = max(used)
    return 1.0 - most, f"the highest window of {name}, one way, over its speed"
