"""Throughput over windows: peak, initial, sustained and mean of the active phase, by direction."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from mawl.figures.layers import DeviceLayer, disks
from mawl.figures.missing import NO_TIMES, Missing
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Rates, Windows, added, fills, initial_edges, rates
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary import io as figures

MEMORY_FILE_SYSTEMS = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
"""What lies there moves at no device."""

DIRECTIONS = ("read", "write", "total")
FIGURES = ("peak", "initial", "sustained", "lowest", "active_mean")
NO_SAMPLES = "no samples cover a window of the run"

Flow = dict[str, Rates]
"""Bytes per second of each window, by direction."""


class Counters:
    """Which series of the samples are one side's counters, by direction.

    ``reason`` is why no series are, where that is so; ``source`` then says it, too.  ``remark`` says what may
    count twice.
    """

    remark: str | None = None

    def __init__(
        self, source: str, read: Sequence[str], write: Sequence[str], *, reason: str | None = None
    ) -> None:
        self.source, self.read, self.write = source, tuple(read), tuple(write)
        self.reason = reason

    def flow(self, samples: RunSamples, edges: Sequence[float], nodes: Sequence[str] | None = None) -> Flow:
        read, write = (rates(samples, names, edges, nodes) for names in (self.read, self.write))
        return {
            "read": read,
            "write": write,
            "total": [added(pair) for pair in zip(read, write, strict=True)],
        }


class SideInTime(msgspec.Struct, frozen=True, kw_only=True):
    """The figures over windows of one side, ``io.application`` or ``io.device``."""

    peak: figures.Rates
    initial: figures.Rates
    sustained: figures.Rates
    lowest: figures.Rates
    active_mean: figures.Rates
    sustained_bytes_per_second_per_core: float | None
    window_seconds: float | None
    windows_source: str


APPLICATION = Counters("jobs' processes", ("application_read_bytes",), ("application_written_bytes",))


def unknown_counters(reason: str) -> Counters:
    return Counters(f"not known: {reason}", (), (), reason=reason)


def device_counters(facts: RunFacts, samples: RunSamples | None) -> Counters:
    """The counters of the block devices under the roles, whoever asked them, where the run knows them all.

    Of imported recordings without roles they are all block devices, each byte once.  What the kernel
    charges to the jobs' processes is never taken for them: a page written counts there when it becomes dirty.
    """
    imported = facts.kind == "imported" and not facts.volumes
    if not imported and (why := why_no_devices(facts)) is not None:
        return unknown_counters(why)
    if samples is None:
        return unknown_counters("the run holds no samples of the host")
    layer = (
        disks(samples)
        if imported
        else DeviceLayer(tuple(sorted({device for _, device in role_places(facts)})))
    )
    if layer.reason is not None:
        return unknown_counters(layer.reason)
    devices = layer.devices
    names = {
        figure: [f"device.{device}.{figure}_bytes" for device in devices] for figure in ("read", "written")
    }
    there = {name for node in samples.nodes for name in samples.names(node)}
    if not devices or not there.issuperset(names["read"] + names["written"]):
        return unknown_counters(_no_devices(facts, devices))
    plural = "" if len(devices) == 1 else "s"
    source = (
        f"all {len(devices)} block device{plural}"
        if imported
        else f"block device{plural} {', '.join(devices)}"
    )
    counters = Counters(source, names["read"], names["written"])
    counters.remark = layer.remark
    return counters


def _no_devices(facts: RunFacts, devices: Sequence[str]) -> str:
    """Why there are no samples of devices; of an import with what its recordings have instead."""
    if facts.kind != "imported":
        return "the run holds no samples of the devices of the roles"
    if devices:
        return f"the recordings do not tell bytes read from bytes written of {devices[0]}"
    passed = [
        f"{source.file}: {skipped.reason}"
        for source in facts.sources
        for skipped in source.skipped
        if skipped.line is None
    ]
    told = f" ({passed[0]}{f', and {len(passed) - 1} more' if passed[1:] else ''})" if passed else ""
    return f"no recording has a table of block devices that mawl reads{told}"


def is_placed(volume: VolumeFacts) -> bool:
    """Whether the devices that hold it are known, here or at another node of the same machine."""
    return bool(volume.devices) or volume.counted_at is not None


def why_no_devices(facts: RunFacts) -> str | None:
    """Why the devices of a role are not known; None where all are.  File systems in memory have none."""
    if not facts.volumes:
        return "the run does not say which block devices hold its roles"
    for volume in facts.volumes:
        if not is_placed(volume) and volume.file_system not in MEMORY_FILE_SYSTEMS:
            return f"{volume.role}: {volume.reason or 'no block device is known for it'}"
    if not any(volume.devices for volume in facts.volumes):
        return "the roles lie in file systems that are memory"
    return None


def fuse_roles(facts: RunFacts) -> list[str]:
    """The roles of a measured run with a volume on a file system of FUSE."""
    found = {
        volume.role: None
        for volume in facts.volumes
        if (volume.file_system or "").partition(".")[0] == "fuse"
    }
    return list(found)


def role_places(facts: RunFacts) -> set[tuple[str, str]]:
    """The block devices under the roles as (node, device), each byte once: those that the file systems name.

    Where one of them lies below another (an image file on a role's own disk), only the lower one:
    what the upper one moves passes through it.  Not the disks at the bottom, where mirrors count twice.
    """
    named = {(volume.node, device) for volume in facts.volumes for device in volume.devices}
    upper = {
        (volume.node, device)
        for volume in facts.volumes
        if any((volume.node, layer) in named for layer in volume.layers if layer not in volume.devices)
        for device in volume.devices
    }
    return named - upper


def side_in_time(
    path: str,
    counters: Counters,
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    windows: Windows | None,
    samples: RunSamples | None,
    missing: Missing,
) -> SideInTime:
    """The window figures of one side (``io.application`` or ``io.device``) of a summary."""
    if windows is None or samples is None:
        found: dict[str, Flow] = {figure: {} for figure in FIGURES}
        reasons = dict.fromkeys(FIGURES, NO_SAMPLES if windows else NO_TIMES)
    else:
        found, reasons = _found(counters, jobs, windows, samples)
        if counters.reason is not None:
            reasons = dict.fromkeys(FIGURES, counters.reason)
    if windows is None:
        missing[f"{path}.window_seconds"] = reasons["peak"]
    by_figure = {name: _rates(name, found[name], f"{path}.{name}", reasons, missing) for name in FIGURES}
    sustained = by_figure["sustained"].total_bytes_per_second
    cores, why = cores_of(facts)
    why = missing[f"{path}.sustained.total_bytes_per_second"] if sustained is None else why
    missing[f"{path}.sustained_bytes_per_second_per_core"] = why
    return SideInTime(
        **by_figure,
        sustained_bytes_per_second_per_core=sustained / cores if sustained is not None and cores else None,
        window_seconds=windows.seconds if windows else None,
        windows_source=counters.source,
    )


def cores_of(facts: RunFacts) -> tuple[float | None, str]:
    """Cores that the jobs could use, over all nodes in one basis; None with the reason.

    A CPU quota of so many logical CPUs is that part of the machine's cores.
    """
    bases = {node.core_basis for node in facts.nodes}
    if not bases:
        return None, "the run names no node"
    if None in bases:
        return None, "the cores of a node are not known"
    if len(bases) > 1:
        return None, "the nodes count cores in different units (core_basis)"
    total = 0.0
    for node in facts.machines():
        if node.cores is None:
            return None, "the cores of a node are not known"
        granted = facts.granted_cpus(node)
        if granted is None:
            total += node.cores
        elif node.core_basis == "vCPU":
            total += granted
        elif node.cpus_used is None and node.logical_cpus:
            total += node.cores * granted / node.logical_cpus
        else:
            return None, "the jobs were held to some processors, whose physical cores are not known"
    return total or None, "the cores of a node are not known"


def _found(
    counters: Counters, jobs: Sequence[JobRecord], windows: Windows, samples: RunSamples
) -> tuple[dict[str, Flow], dict[str, str]]:
    whole = counters.flow(samples, windows.edges)
    active = {direction: values[: windows.active] for direction, values in whole.items()}
    start, end = windows.active_edges[0], windows.active_edges[-1]
    found: dict[str, Flow] = {
        "peak": {},
        "sustained": active,
        "lowest": {direction: _peak(values, [], windows) for direction, values in active.items()},
        "active_mean": counters.flow(samples, (start, end)),
        "initial": {},
    }
    reasons = dict.fromkeys(FIGURES, NO_SAMPLES)
    initial = initial_edges(jobs, windows)
    if isinstance(initial, str):
        reasons["initial"] = initial
    else:
        found["initial"] = counters.flow(samples, initial)
    found["peak"] = {
        direction: _peak(values, found["initial"].get(direction, []), windows)
        for direction, values in whole.items()
    }
    return found, reasons


def _peak(values: Rates, initial: Rates, windows: Windows) -> Rates:
    """The windows that a peak or a lowest rate may be of: those of at least half the length, the others
    where these lack.

    The initial one lies across the others, and a peak below it would be none."""
    full = [*_full(values, windows), *initial]
    return full if any(value is not None for value in full) else values


def _full(values: Rates, windows: Windows) -> Rates:
    """Those of windows, from the first on, that are of at least half the length."""
    lengths = [end - start for start, end in pairwise(windows.edges)]
    return [value for value, length in zip(values, lengths, strict=False) if fills(length, windows.seconds)]


def _rates(figure: str, flow: Flow, path: str, reasons: dict[str, str], missing: Missing) -> figures.Rates:
    names = {way: f"{way}_bytes_per_second" for way in DIRECTIONS}
    return figures.Rates(
        **{
            name: _value(figure, flow.get(way, []), f"{path}.{name}", reasons, missing)
            for way, name in names.items()
        }
    )


def _value(figure: str, values: Rates, path: str, reasons: dict[str, str], missing: Missing) -> float | None:
    known = [value for value in values if value is not None]
    if not known:
        missing[path] = reasons[figure]
        return None
    if figure == "sustained":
        return statistics.median(known)
    return min(known) if figure == "lowest" else max(known)
