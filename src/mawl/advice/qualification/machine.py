"""What the measured runs say of the system: machine, storage, nodes, limit, contradictions, pods."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from mawl.advice.answer import LEAST_DIRECTION_RATIO
from mawl.advice.limit.costs import named, pooled
from mawl.advice.limit.verdict import OPEN_SECOND
from mawl.advice.next_step import Lack
from mawl.base.units import counted_noun, format_bytes, format_memory, format_percent, format_plain
from mawl.figures.io import REACHES_STORAGE_RATIO
from mawl.figures.statistics import Interval
from mawl.records.model.node import Figures
from mawl.records.model.qualification import (
    AnswerLimit,
    AnswerStorage,
    AnswerSystem,
    QualificationAnswer,
    QualifyNode,
)
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.host import DeviceFigures, NetworkMount
from mawl.records.model.summary.judgement import Cause
from mawl.records.model.summary.summary import Judged
from mawl.records.spec.program_options import ROLES, Role

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
        names = tuple(dict.fromkeys(name for volume in own for name in _device_names(volume)))
        if own:
            held.setdefault(names, []).extend(own)
    return [_storage_entry(names, volumes, summaries, facts) for names, volumes in held.items()]


def _device_names(volume: VolumeFacts) -> list[str]:
    return list(volume.devices) or ([volume.mount_point] if volume.mount_point else [])


def _storage_entry(
    names: tuple[str, ...], volumes: Sequence[VolumeFacts], summaries: Sequence[Judged], facts: RunFacts
) -> AnswerStorage:
    runs = [found for summary in summaries if (found := _storage_figures(summary, names))]

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
        disks=[_disk_words(disk, facts) for disk in disks],
        read_bytes_per_second=median(lambda run: _bytes_per_second(run, "read_bytes")),
        write_bytes_per_second=median(lambda run: _bytes_per_second(run, "written_bytes")),
        read_latency_seconds=median(lambda run: _mean_latency(run, "read")),
        write_latency_seconds=median(lambda run: _mean_latency(run, "write")),
        queue_length=median(_queue_length),
    )


def _storage_figures(summary: Judged, names: Iterable[str]) -> list[StorageFigures]:
    host = summary.host
    if host is None:
        return []
    known: dict[str, StorageFigures] = {**(host.mount or {}), **(host.device or {})}
    return [known[name] for name in names] if all(name in known for name in names) else []


def _bytes_per_second(parts: Sequence[StorageFigures], figure: str) -> float | None:
    """Bytes a second, over the time that samples cover; None where a part does not say it."""
    rates = [
        getattr(part, figure) / part.known_seconds
        for part in parts
        if part.known_seconds and getattr(part, figure) is not None
    ]
    return sum(rates) if len(rates) == len(parts) else None


def _mean_latency(parts: Sequence[StorageFigures], way: str) -> float | None:
    """Mean time of a request, over all parts; of several mounts, which count no requests, by their bytes."""
    counts = {"read": ("reads", "read_bytes"), "write": ("writes", "written_bytes")}[way]
    figure = counts[0] if isinstance(parts[0], DeviceFigures) else counts[1]
    means = [(getattr(part, f"{way}_await_seconds").mean, getattr(part, figure)) for part in parts]
    known = [(mean, weight) for mean, weight in means if mean is not None and weight]
    return sum(mean * weight for mean, weight in known) / sum(w for _, w in known) if known else None


def _queue_length(parts: Sequence[StorageFigures]) -> float | None:
    lengths = [part.queue_length for part in parts if isinstance(part, DeviceFigures)]
    known = [length for length in lengths if length is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _disk_words(name: str, facts: RunFacts) -> str:
    """``vda (virtio, 100 GB)``, as far as the inventory knows it."""
    inventory = facts.inventories.get(facts.nodes[0].name) if facts.nodes else None
    figures: Figures = {} if inventory is None else inventory.families.get("block", {}).get(name, {})
    size = figures.get("size_bytes")
    words = [
        *(str(value) for key in ("model", "transport") if (value := figures.get(key))),
        *([format_bytes(size)] if isinstance(size, int) and size else []),
    ]
    return f"{name} ({', '.join(words)})" if words else name


NO_PROBE = "mawl cannot probe from a node, so the figures of the storage are those of the runs"
MOST_KINDS = 4
"""Kinds of nodes that a sentence names."""


def differing(nodes: Sequence[QualifyNode]) -> list[str]:
    """That nodes are not alike, and how; nothing where they are."""
    kinds: dict[str, list[str]] = {}
    for node in nodes:
        cores, memory = counted_noun(node.cores, "core"), format_memory(node.memory_bytes)
        kinds.setdefault(f"{node.cpu_model or 'unknown processor'}, {cores}, {memory}", []).append(node.name)
    if len(kinds) < 2:
        return []
    said = [f"{', '.join(names)}: {kind}" for kind, names in kinds.items()][:MOST_KINDS]
    more = ["others"] if len(kinds) > MOST_KINDS else []
    return [f"The nodes differ ({'; '.join([*said, *more])}); every node runs the same number of sessions."]


def one_machine(nodes: Sequence[QualifyNode]) -> list[str]:
    """That nodes share a machine, and which; nothing where each has its own."""
    return [
        f"{node.name} and {node.machine} are one machine: they share its processors, memory and devices."
        for node in nodes
        if node.machine is not None
    ]


def unseen_server(facts: RunFacts) -> list[str]:
    """That the devices behind a network file system are not visible, where no storage server was watched."""
    systems = sorted({volume.file_system or "a network" for volume in facts.volumes if volume.network})
    if not systems or facts.storage_runs:
        return []
    return [
        f"The devices behind {' and '.join(systems)} are not visible from the nodes, so storage and network "
        "cannot be told apart. Name the storage server: --storage-node, with --link."
    ]


def limit_of_runs(
    summaries: Sequence[Judged], slowdown: Interval | None, bound: float, missing: dict[str, str]
) -> AnswerLimit | None:
    """What cost the jobs of all runs together most; None, with the reason, where a run does not say it."""
    known = []
    for summary in summaries:
        if summary.limit is None or not summary.time.real_time_seconds:
            missing["limit"] = summary.missing.get("limit", "no job of a run has a real time")
            return None
        known.append((summary.limit.costs, summary.time.real_time_seconds))
    if any(summary.missing.get("limit.second") == OPEN_SECOND for summary in summaries):
        missing["limit.second"] = OPEN_SECOND
    second = "limit.second" not in missing
    if slowdown is None:
        return limit_by(pooled(known, None), None, second=second)
    return limit_by(pooled(known, slowdown.middle), slowdown.middle > bound, second=second)


def limit_by(costs: list[Cause], is_named: bool | None, *, second: bool = True) -> AnswerLimit:
    """The limit of runs with these costs, the largest first; ``second``: whether to name two."""
    limiting = [cost.resource for cost in named(costs)][: 2 if second else 1]
    return AnswerLimit(
        verdict=limiting[0] if limiting else "none",
        second=limiting[1] if len(limiting) > 1 else None,
        named=is_named,
        costs=costs,
    )


NETWORK_FIGURES = {
    "read": ("application_read_bytes", "network_received_bytes_per_second"),
    "written": ("application_written_bytes", "network_sent_bytes_per_second"),
}
IN_PLACE_OF_REACH = (
    "The nodes do not see how many bytes reached a device of the shared storage. What went over their "
    "networks is taken for it; a cache of the storage server may have served it."
)


def is_all_behind_network(facts: RunFacts) -> bool:
    """Whether every role lies on another machine, so that the nodes see no device of it."""
    return bool(facts.volumes) and all(volume.network for volume in facts.volumes)


def unasked_over_network(summary: Judged) -> tuple[str, Lack] | None:
    """Why a run on nodes did not ask the storage behind their networks; None where it did.

    A direction is that of a tenth of all bytes or more.  What a network moved for others counts, too.
    """
    nodes = [] if summary.cluster is None else [*summary.cluster.nodes.values()]
    moved: dict[str, tuple[float, float] | None] = {}
    for way, (asked, rate) in NETWORK_FIGURES.items():
        figures = [(getattr(node, asked), getattr(node, rate), node.done_seconds) for node in nodes]
        known = [figure for figure in figures if None not in figure]
        moved[way] = (
            (sum(own for own, _, _ in known), sum(each * seconds for _, each, seconds in known))
            if known and len(known) == len(figures)
            else None
        )
    whole = sum(found[0] for found in moved.values() if found is not None)
    for way, found in moved.items():
        if found is None:
            return f"how many of the bytes {way} went over the network is not known", "reach"
        if not whole or found[0] < LEAST_DIRECTION_RATIO * whole:
            continue
        if found[1] < REACHES_STORAGE_RATIO * found[0]:
            part, needed = format_percent(found[1] / found[0]), format_percent(REACHES_STORAGE_RATIO)
            return f"only {part} of the bytes {way} went over the network ({needed} required)", "reach"
    return None if whole else ("the programs moved no bytes", "reach")


class PodSize(NamedTuple):
    """What a pod requests: processors as Kubernetes counts them (hardware threads), and bytes of memory."""

    cpus: float
    memory_bytes: int


def pods_sentence(answer: QualificationAnswer, pod: PodSize) -> str:
    """The least of what the requests allow and of the sessions that fit, and which of them binds."""
    size = (
        f"{format_plain(pod.cpus)} {'CPU' if pod.cpus == 1 else 'CPUs'} and {format_memory(pod.memory_bytes)}"
    )
    room, fits = dict(_room(answer, pod)), answer.fits
    unknown = [name for name, number in room.items() if number is None]
    if unknown:
        return f"Pods of {size}: how many fit is not known, nor are the {' and '.join(unknown)} of the node."
    least = min(number for number in room.values() if number is not None)
    each = ", ".join(f"{number} by the {name}" for name, number in room.items())
    if fits.sessions is None:
        why = fits.reason or "mawl could not find it"
        return f"Pods of {size}, one session each: at most {least} ({each}); sessions: not known, {why}."
    span = "" if fits.low is None or fits.high is None else f" ({fits.low} to {fits.high})"
    return (
        f"Pods of {size}, one session each: the node carries {min(least, fits.sessions)} "
        f"({each}, {fits.sessions}{span} by the sessions that fit)."
    )


def _room(answer: QualificationAnswer, pod: PodSize) -> Iterator[tuple[str, int | None]]:
    """How many pods the processors and the memory hold, within the limits of the measured container."""
    system = answer.system
    cpus = None if system is None else system.logical_cpus or system.cores
    quota = None if system is None else system.cpu_quota
    held = [bound for bound in (cpus, quota) if bound is not None]
    yield "processors", math.floor(min(held) / pod.cpus) if held else None
    sizes = [] if system is None else [system.memory_bytes, system.memory_limit_bytes]
    known = [size for size in sizes if size is not None]
    yield "memory", math.floor(min(known) / pod.memory_bytes) if known else None
