"""What the host did while the jobs ran: the block ``host`` of a summary, from the samples.

Everything is over the time from the first start to the last end; a peak is the highest mean of a
window (docs/design/host.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from mawl.figures.host_parts import (
    CPU_KINDS,
    PARTS,
    busy_ratio,
    busy_seconds,
    devices,
    interfaces,
    mounts,
    ports,
    whole_seconds,
)
from mawl.figures.missing import Missing
from mawl.figures.series import RunSamples, amount, fewest_seconds, gain
from mawl.figures.threads import core_busy
from mawl.figures.throughput import role_places
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.host import ControlGroup, Host, HostPressure, RoleDevices, Runnable

Amount = TypeVar("Amount", int, float)
PRESSURE = ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")

SECONDS_AROUND = 1.0
"""A run may be over between two looks: those just outside stand for it."""

NO_SAMPLES = "the run holds no samples of the host (mawl 0.1 before format 1.1, or an imported run)"


def host_block(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None, missing: Missing
) -> Host | None:
    """The block, over windows bounded by ``edges``; None, with the reason, for runs without host samples."""
    if samples is None or edges is None or not _nodes(samples):
        missing["host"] = NO_SAMPLES
        return None
    whole = (edges[0], edges[-1])

    def gained(name: str) -> float | None:
        return _gain(facts, samples, f"host.{name}", whole)

    seconds = {kind: gained(f"cpu_{kind}_seconds") for kind in CPU_KINDS}
    spent = whole_seconds(seconds)
    unread = {part for part in PARTS if f"host.{part}" in facts.missing}
    return Host(
        known_seconds=_known_seconds(facts, samples, whole),
        cpu_busy_ratio=busy_ratio(seconds),
        cpu_user_ratio=_share(seconds["user"], spent),
        cpu_system_ratio=_share(seconds["system"], spent),
        cpu_interrupt_ratio=_share(seconds["interrupt"], spent),
        cpu_iowait_ratio=_share(seconds["iowait"], spent),
        cpu_steal_ratio=_share(seconds["steal"], spent),
        cpu_busy_seconds=None if "host.cpu_busy_seconds" in facts.missing else busy_seconds(seconds),
        physical_cpu_seconds=gained("physical_cpu_seconds"),
        **msgspec.structs.asdict(core_busy(facts, samples, whole, missing)),
        core_basis=_one(node.core_basis for node in facts.nodes),
        cores=_total(node.cores for node in facts.machines()),
        memory_bytes=_total(node.memory_bytes for node in facts.machines()),
        runnable=Runnable(
            mean=_gauge(samples, "host.runnable", whole),
            peak=max(_known(_gauges(samples, "host.runnable", edges)), default=None),
        ),
        blocked_processes=_gauge(samples, "host.blocked_processes", whole),
        least_memory_available_bytes=_extreme(samples, "host.memory_available_bytes", whole, least=True),
        most_memory_dirty_bytes=_extreme(samples, "host.memory_dirty_bytes", whole, least=False),
        context_switches=gained("context_switches"),
        major_faults=gained("major_faults"),
        swap_read_bytes=gained("swap_read_bytes"),
        swap_written_bytes=gained("swap_written_bytes"),
        cache_evicted_bytes=gained("cache_evicted_bytes"),
        cache_reread_bytes=gained("cache_reread_bytes"),
        frequency_hertz=_frequency(samples, whole),
        pressure=HostPressure(
            **{f"{name}_ratio": _pressure(facts, samples, name, whole) for name in PRESSURE}
        ),
        group=ControlGroup(
            most_memory_bytes=_extreme(samples, "group.memory_bytes", whole, least=False),
            memory_limit_hits=_gain(facts, samples, "group.memory_limit_hits", whole),
            cpu_throttled_seconds=_gain(facts, samples, "group.cpu_throttled_seconds", whole),
        ),
        device=devices(facts, samples, edges) or (None if "device" in unread else {}),
        network=interfaces(facts, samples, edges) or (None if "network" in unread else {}),
        fabric=ports(facts, samples, edges) or (None if "fabric" in unread else {}),
        mount=mounts(facts, samples, edges) or (None if "mount" in unread else {}),
        role_devices=role_devices(facts, samples, whole),
    )


def role_devices(facts: RunFacts, samples: RunSamples, span: tuple[float, float]) -> RoleDevices:
    """Bytes that moved at the devices under the roles, whoever asked for them, each byte once.

    The devices are those of the windows of ``io.device``.
    """
    places = role_places(facts)
    read, written = (
        _total(
            amount(facts, samples, node, f"device.{device}.{figure}", span) for node, device in sorted(places)
        )
        for figure in ("read_bytes", "written_bytes")
    )
    return RoleDevices(read_bytes=read, written_bytes=written)


def _known_seconds(facts: RunFacts, samples: RunSamples, span: tuple[float, float]) -> float | None:
    """How much of the time samples of the processors cover, of the least known node."""
    return fewest_seconds(
        gain(facts, samples, node, f"host.cpu_{kind}_seconds", span)
        for node in _nodes(samples)
        for kind in CPU_KINDS
    )


def _nodes(samples: RunSamples) -> list[str]:
    """The nodes with samples of the host; where none has, as in recordings of devices alone, of devices."""
    for kind in ("host.", "device."):
        found = [node for node in samples.nodes if any(name.startswith(kind) for name in samples.names(node))]
        if found:
            return found
    return []


def _gain(facts: RunFacts, samples: RunSamples, name: str, span: tuple[float, float]) -> float | None:
    return _total(amount(facts, samples, node, name, span) for node in _nodes(samples))


def _gauges(samples: RunSamples, name: str, edges: Sequence[float]) -> list[float | None]:
    columns = [samples.means(node, name, edges) for node in _nodes(samples)]
    return [_total(row) for row in zip(*columns, strict=True)]


def _gauge(samples: RunSamples, name: str, span: tuple[float, float]) -> float | None:
    return _gauges(samples, name, span)[0]


def _extreme(samples: RunSamples, name: str, span: tuple[float, float], *, least: bool) -> float | None:
    """The smallest or largest sample of any node within the span, or within a second around it."""
    first, last = span[0] - SECONDS_AROUND, span[1] + SECONDS_AROUND
    values = []
    for node in _nodes(samples):
        series = samples.series(node, name)
        if series is not None:
            values += series.values[(series.times >= first) & (series.times <= last)].tolist()
    return (min if least else max)(values, default=None)


def _pressure(facts: RunFacts, samples: RunSamples, name: str, span: tuple[float, float]) -> float | None:
    """Share of the time, the mean over nodes."""
    series = f"host.pressure_{name}_seconds"
    changes = [gain(facts, samples, node, series, span) for node in _nodes(samples)]
    found = [change.per_second for change in changes if change is not None]
    return sum(found) / len(found) if found else None


def _frequency(samples: RunSamples, span: tuple[float, float]) -> float | None:
    found = _known(samples.means(node, "host.frequency_hertz", span)[0] for node in _nodes(samples))
    return sum(found) / len(found) if found else None


def _share(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _known(values: Iterable[Amount | None]) -> list[Amount]:
    return [value for value in values if value is not None]


def _total(values: Iterable[Amount | None]) -> Amount | None:
    found = list(values)
    known = _known(found)
    return sum(known) if known and len(known) == len(found) else None


def _one(values: Iterable[str | None]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None
