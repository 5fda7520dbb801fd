"""The machine and its storage during the mix: what a reader of the answer asks first of a system."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from mawl.model.inventory import Figures
from mawl.model.qualification import AnswerStorage, AnswerSystem
from mawl.model.run import RunFacts, VolumeFacts
from mawl.model.summary.host import DeviceFigures, NetworkMount
from mawl.model.summary.summary import Judged
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_bytes

StorageFigures = DeviceFigures | NetworkMount


def system_of(facts: RunFacts) -> AnswerSystem | None:
    """The machine of a run; None where its facts name none."""
    if not facts.nodes:
        return None
    node = facts.nodes[0]
    return AnswerSystem(
        cores=node.cores,
        core_basis=node.core_basis,
        logical_cpus=node.logical_cpus,
        cpu_quota=node.cpu_quota,
        memory_bytes=node.memory_bytes,
        memory_limit_bytes=node.memory_limit_bytes,
        virtual=node.virtual,
        kernel=node.kernel,
    )


def storage_of(summaries: Sequence[Judged], facts: RunFacts) -> list[AnswerStorage]:
    """One entry for all roles on the same devices, in the order of the roles; medians over the runs."""
    held: dict[tuple[str, ...], list[VolumeFacts]] = {}
    again = {node.name for node in facts.nodes if node.same_machine_as is not None}
    for role in ROLES:
        own = [volume for volume in facts.volumes if volume.role == role and volume.node not in again]
        names = tuple(dict.fromkeys(name for volume in own for name in _names(volume)))
        if own:
            held.setdefault(names, []).extend(own)
    return [_entry(names, volumes, summaries, facts) for names, volumes in held.items()]


def _names(volume: VolumeFacts) -> list[str]:
    """Devices of the file system; of one without devices its mount point."""
    return list(volume.devices) or ([volume.mount_point] if volume.mount_point else [])


def _entry(
    names: tuple[str, ...], volumes: Sequence[VolumeFacts], summaries: Sequence[Judged], facts: RunFacts
) -> AnswerStorage:
    runs = [found for one in summaries if (found := _figures(one, names))]

    def median(figure: Callable[[Sequence[StorageFigures]], float | None]) -> float | None:
        known = [value for run in runs if (value := figure(run)) is not None]
        return statistics.median(known) if known else None

    roles: list[Role] = list(dict.fromkeys(volume.role for volume in volumes))
    disks = dict.fromkeys(disk for volume in volumes for disk in volume.disks)
    kinds = dict.fromkeys(volume.file_system for volume in volumes if volume.file_system)
    return AnswerStorage(
        roles=roles,
        devices=list(names),
        file_systems=list(kinds),
        disks=[_disk(disk, facts) for disk in disks],
        read_bytes_per_second=median(lambda run: _rate(run, "read_bytes")),
        write_bytes_per_second=median(lambda run: _rate(run, "written_bytes")),
        read_latency_seconds=median(lambda run: _latency(run, "read")),
        write_latency_seconds=median(lambda run: _latency(run, "write")),
        queue_length=median(_queue),
    )


def _figures(summary: Judged, names: Iterable[str]) -> list[StorageFigures]:
    """Those of a run's devices or mounts; empty where one of them is not known."""
    host = summary.host
    if host is None:
        return []
    known: dict[str, StorageFigures] = {**(host.mount or {}), **(host.device or {})}
    return [known[name] for name in names] if all(name in known for name in names) else []


def _rate(parts: Sequence[StorageFigures], figure: str) -> float | None:
    """Bytes a second, over the time that samples cover; None where a part does not say it."""
    rates = [
        getattr(part, figure) / part.known_seconds
        for part in parts
        if part.known_seconds and getattr(part, figure) is not None
    ]
    return sum(rates) if len(rates) == len(parts) else None


def _latency(parts: Sequence[StorageFigures], way: str) -> float | None:
    """Mean time of a request, over all parts; of several mounts, which count no requests, by their bytes."""
    counts = {"read": ("reads", "read_bytes"), "write": ("writes", "written_bytes")}[way]
    figure = counts[0] if isinstance(parts[0], DeviceFigures) else counts[1]
    means = [(getattr(part, f"{way}_await_seconds").mean, getattr(part, figure)) for part in parts]
    known = [(mean, weight) for mean, weight in means if mean is not None and weight]
    return sum(mean * weight for mean, weight in known) / sum(w for _, w in known) if known else None


def _queue(parts: Sequence[StorageFigures]) -> float | None:
    lengths = [part.queue_length for part in parts if isinstance(part, DeviceFigures)]
    known = [length for length in lengths if length is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _disk(name: str, facts: RunFacts) -> str:
    """``vda (virtio, 100 GB)``, as far as the inventory knows it."""
    inventory = facts.inventories.get(facts.nodes[0].name) if facts.nodes else None
    figures: Figures = {} if inventory is None else inventory.families.get("block", {}).get(name, {})
    size = figures.get("size_bytes")
    words = [
        *(str(value) for key in ("model", "transport") if (value := figures.get(key))),
        *([format_bytes(size)] if isinstance(size, int) and size else []),
    ]
    return f"{name} ({', '.join(words)})" if words else name
