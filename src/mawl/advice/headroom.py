"""What a run left of each resource, as shares of what there is (docs/design/verdict.md, Headroom)."""

from __future__ import annotations

from mawl.advice.limit.evidence import PORT_WORDS
from mawl.advice.validity.host import foreign_bytes
from mawl.base.units import format_memory
from mawl.figures.host_parts import CPU_KINDS, busy_seconds, whole_seconds
from mawl.figures.missing import Missing
from mawl.figures.network import used_by_port
from mawl.figures.throughput import role_places, why_no_devices
from mawl.figures.view import RunView
from mawl.figures.windows import gauges, rates
from mawl.records.model.summary.judgement import Headroom
from mawl.records.spec.program_options import ROLES

PATH = "limit.headroom"
NOT_MEASURED = "its figures were not measured"


def headroom_of(reading: RunView, missing: Missing) -> Headroom:
    """``limit.headroom``: of processors, storage, memory and networks; None with the reason where unknown.

    Each source says what the figure is of.  A share below 0 means that more was asked than the probe found.
    """
    missing |= {f"{PATH}.{name}_ratio": NOT_MEASURED for name in ("cpu", "storage", "memory", "network")}
    missing |= {f"{PATH}.{name}_source": NOT_MEASURED for name in ("storage", "memory", "network")}
    storage, memory, network = _storage(reading), _memory(reading), _network(reading)
    for name, (share, words) in {"storage": storage, "memory": memory, "network": network}.items():
        if share is None and words:
            missing[f"{PATH}.{name}_ratio"] = missing[f"{PATH}.{name}_source"] = words
    return Headroom(
        cpu_ratio=_processors(reading),
        storage_ratio=storage[0],
        storage_source=_source(storage),
        memory_ratio=memory[0],
        memory_source=_source(memory),
        network_ratio=network[0],
        network_source=_source(network),
    )


def _source(found: tuple[float | None, str]) -> str | None:
    share, words = found
    return None if share is None else words


def _processors(reading: RunView) -> float | None:
    """Idle time of all processors over all their time in the active phase; stolen time is not idle.

    Where the jobs may use only some processors, it is the share of these that the jobs did not use.  It is
    never more than what all processors were idle.
    """
    if reading.over_time is None:
        return None
    samples, windows = reading.over_time
    edges = (windows.active_edges[0], windows.active_edges[-1])
    spent = {kind: rates(samples, [f"host.cpu_{kind}_seconds"], edges)[0] for kind in CPU_KINDS}
    busy, whole = busy_seconds(spent), whole_seconds(spent)
    if busy is None or spent["idle"] is None or whole <= 0:
        return None
    idle = whole - busy - (spent["steal"] or 0.0)
    facts, machines = reading.facts, reading.facts.machines()
    if not any(facts.granted_cpus(node) for node in machines):
        return idle / whole
    usable = [cpus for node in machines if (cpus := facts.usable_cpus(node))]
    used = rates(samples, ["jobs.on_cpu_seconds"], edges)[0]
    if used is None or len(usable) < len(machines):
        return None
    left = min(sum(usable) - used, idle)
    return max(left, 0.0) / sum(usable)


def _storage(reading: RunView) -> tuple[float | None, str]:
    others = foreign_bytes(reading.summary)
    if others is not None:
        return None, others
    return _of_probe(reading) or _of_busy_time(reading)


def _of_probe(reading: RunView) -> tuple[float, str] | None:
    """1 less the highest of demand over capability, of any role and direction."""
    block = reading.summary.storage
    if block is None:
        return None
    used = [
        (ratio, f"{role}, {found.test}")
        for role in ROLES
        for direction in ("read", "write")
        if (found := getattr(block.by_role[role], direction)) is not None
        and (ratio := found.sustained_used_ratio) is not None
    ]
    if not used:
        return None
    most, words = max(used)
    return 1.0 - most, f"the probe: {words}"


def _of_busy_time(reading: RunView) -> tuple[float | None, str]:
    why = why_no_devices(reading.facts)
    if reading.over_time is None or why is not None:
        return None, why or NOT_MEASURED
    samples, windows = reading.over_time
    edges = (windows.active_edges[0], windows.active_edges[-1])
    shares = []
    for node, device in sorted(role_places(reading.facts)):
        found = rates(samples, [f"device.{device}.busy_seconds"], edges, [node])[0]
        if found is not None:
            shares.append((found, device))
    if not shares:
        return None, "no sample says how long the devices were busy"
    most, device = max(shares)
    return 1.0 - most, (
        f"the time in which {device} had no request; a device that serves several at once has more, "
        "and one behind a rate limit less (probe it: mawl probe)"
    )


def _memory(reading: RunView) -> tuple[float | None, str]:
    """The least that was available, over the limit in force: of the run, the container or the machine."""
    sizes = [node.memory_bytes for node in reading.facts.machines()]
    if reading.over_time is None or not sizes or None in sizes:
        return None, NOT_MEASURED
    samples, windows = reading.over_time
    whole = sum(size for size in sizes if size)
    limit = limit_in_force(reading)
    edges = windows.active_edges
    if limit is not None and limit < whole:
        held = [value for value in gauges(samples, "jobs_resident_bytes", edges) if value is not None]
        if not held:
            return None, "no sample says what the jobs held in memory"
        return 1.0 - max(held) / limit, (
            f"memory limit {format_memory(limit)} less the most that the jobs held without page cache"
        )
    available = gauges(samples, "host.memory_available_bytes", edges)
    known = [value for value in available if value is not None]
    return (min(known) / whole if known else None), f"{format_memory(whole)} of the machine"


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
    if reading.over_time is None:
        return None, NOT_MEASURED
    samples, windows = reading.over_time
    edges = windows.active_edges
    used = [
        (max(shares), f"{PORT_WORDS[kind]} {name}")
        for (kind, name), shares in used_by_port(reading.facts, samples, edges).items()
    ]
    if not used:
        return None, "no interface or port reports its speed"
    most, name = max(used)
    return 1.0 - most, f"the highest window of {name}, one way, over its speed"
