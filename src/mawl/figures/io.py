"""The block ``io`` of a summary: bytes that programs asked for, that devices moved, and that the run caused.

docs/design/figures.md, Bytes, has the formulas and what they were measured against.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from mawl.figures.missing import NO_TIMES, Missing, ratio, total
from mawl.figures.roles import by_role_block, coverage_ratio, direct_block, io_remarks
from mawl.figures.series import CounterChange, RunSamples, Span, amount, gain
from mawl.figures.sessions import added
from mawl.figures.throughput import APPLICATION, Counters, fuse_roles, is_placed, role_places, side_in_time
from mawl.figures.window_states import peak_latencies
from mawl.records.model.node import DirtyPages
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.io import (
    Application,
    AtDevice,
    DevicesByRole,
    Dirtied,
    Foreign,
    Io,
    OwnBytes,
    Rates,
    Reach,
    RoleDeviceBytes,
)
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

if TYPE_CHECKING:
    from mawl.figures.view import RunView


class DeviceBytes(NamedTuple):
    """What moved at block devices in the known part of a run; each is None where samples do not cover it."""

    source: str
    read: CounterChange | None
    written: CounterChange | None


def device_bytes(
    facts: RunFacts, samples: RunSamples | None, counters: Counters, span: Span | None
) -> DeviceBytes | None:
    if samples is None or span is None or counters.reason is not None:
        return None
    return DeviceBytes(
        counters.source,
        _summed(facts, samples, counters.read, span),
        _summed(facts, samples, counters.write, span),
    )


def _summed(facts: RunFacts, samples: RunSamples, names: Sequence[str], span: Span) -> CounterChange | None:
    """Sum of these counters over all nodes that have them, in the mean of their known seconds by bytes.

    So the rate of the sum is the sum of the rates, also where more is known of one than of another.
    """
    changes = [
        gain(facts, samples, node, name, span)
        for node in samples.nodes
        for name in names
        if samples.times(node, name) is not None
    ]
    known = [change for change in changes if change is not None]
    if not known or len(known) < len(changes):
        return None
    amount, rate = sum(change.amount for change in known), sum(change.per_second for change in known)
    seconds = amount / rate if rate > 0 else min(change.seconds for change in known)
    return CounterChange(amount, seconds)


GROUP = "the control group's io.stat"
SMALLER = "the smaller of device, and dirtied less still dirty at the end"
NOT_LOOKED = "what was still in memory when the last job ended was not measured"
FUSE = "{} on FUSE, whose reads the kernel charges to no process"
COMPRESSED = (
    "btrfs charges bytes to processes before it compresses them, and it is mounted with compression for {}"
)
NETWORK = (
    "{} on a network file system: what the kernel charges to a process there differs by file system, and "
    "the devices are another machine's"
)


def dirtied_block(facts: RunFacts, jobs: Sequence[JobRecord], missing: Missing) -> Dirtied:
    """``io.dirtied``: what the jobs that count made dirty in memory, and what of it was left at the end.

    ``written_bytes`` is charged less cancelled; neither was necessarily written to any device.
    """
    path = "io.dirtied"
    charged = total(jobs, "charged_written_bytes", f"{path}.written_bytes", missing)
    cancelled = total(jobs, "cancelled_written_bytes", f"{path}.written_bytes", missing)
    for name in ("still_dirty_bytes", "removed_bytes", "at_gate_bytes", "sync_seconds"):
        missing[f"{path}.{name}"] = _why_not_dirty(facts)
    return Dirtied(
        written_bytes=None if charged is None or cancelled is None else max(charged - cancelled, 0),
        still_dirty_bytes=still_dirty(facts),
        removed_bytes=_sum_of_own(facts, "removed_bytes"),
        at_gate_bytes=_sum_of_own(facts, "machine_at_gate_bytes"),
        sync_seconds=max(
            (one.sync_seconds for one in facts.dirty.values() if one.sync_seconds is not None), default=None
        ),
    )


def own_block(
    facts: RunFacts, jobs: Sequence[JobRecord], at_devices: DeviceBytes | None, missing: Missing
) -> OwnBytes:
    """``io.own``: reads charged to the jobs' processes, and writes of theirs that reached the devices.

    Per run, not per window: which of the pages that a device was given in a second were whose is not known.
    """
    found: Missing = dict(missing)
    read = total(jobs, "own_read_bytes", "io.own.read_bytes", found)
    written, source = _written(facts, jobs, at_devices, found)
    if (why := _not_charged(facts)) is not None:
        read, written = None, None
        found |= dict.fromkeys(("io.own.read_bytes", "io.own.written_bytes"), why)
    elif fuse := fuse_roles(facts):
        read = None
        found["io.own.read_bytes"] = FUSE.format(" and ".join(fuse))
    both = None if read is None or written is None else read + written
    missing |= found
    missing["io.own.write_source"] = found.get("io.own.written_bytes", "")
    of = "io.own.read_bytes" if read is None else "io.own.written_bytes"
    return OwnBytes(
        read_bytes=read,
        written_bytes=written,
        read_ratio=ratio(read, both, "io.own.read_ratio", missing, (of, of)),
        write_source=source if written is not None else None,
    )


def foreign_block(
    facts: RunFacts, jobs: Sequence[JobRecord], at_devices: DeviceBytes | None, missing: Missing
) -> Foreign | None:
    """``io.foreign``: what the devices moved beyond the run's own, from the first start to the last end.

    ``jobs`` are all of them, however they ended, checks of answers included: none of it is others'.
    """
    path = "io.foreign"
    if at_devices is None or at_devices.read is None or at_devices.written is None:
        missing[path] = missing["io.device.read_bytes"]
        return None
    own: Missing = dict(missing)
    fuse = fuse_roles(facts)
    if facts.kind != "measured" or (why := _not_charged(facts)) is not None or fuse:
        not_own = "only measured runs know which of the bytes were their own"
        missing[path] = not_own if facts.kind != "measured" else why or FUSE.format(" and ".join(fuse))
        return None
    usages = [(job.usage, job.verify) for job in jobs]
    reads = [usage.own_read_bytes for pair in usages for usage in pair]
    if (first := next((job.job for job in jobs if job.usage.own_read_bytes is None), None)) is not None:
        missing[path] = f"{first} has no account of its reads"
        return None
    every = [
        (usage.charged_written_bytes or 0) - (usage.cancelled_written_bytes or 0)
        for pair in usages
        for usage in pair
    ]
    written = _reached(facts, sum(every), at_devices, own)
    if written is None:
        missing[path] = own["io.own.written_bytes"]
        return None
    seconds = min(at_devices.read.seconds, at_devices.written.seconds)
    moved = at_devices.read.amount + at_devices.written.amount
    foreign_read = max(at_devices.read.amount - sum(value or 0 for value in reads), 0.0)
    foreign_written = max(at_devices.written.amount - written, 0.0)
    missing[f"{path}.ratio"] = missing[f"{path}.total_bytes_per_second"] = "the devices moved nothing"
    whole = foreign_read + foreign_written
    return Foreign(
        read_bytes=foreign_read,
        written_bytes=foreign_written,
        total_bytes_per_second=whole / seconds if seconds else None,
        ratio=whole / moved if moved else None,
    )


def still_dirty(facts: RunFacts) -> int | None:
    """Dirty bytes of the run's files when its last job had ended; where the kernel does not tell by file,
    what the whole machine held beyond what it held at the gate.  None where a node does not say."""
    found = [_left(one) for one in facts.dirty.values()]
    return sum(one or 0 for one in found) if found and None not in found else None


def _left(dirty: DirtyPages) -> int | None:
    if dirty.own_at_end_bytes is not None:
        return dirty.own_at_end_bytes
    if dirty.machine_at_end_bytes is None or dirty.machine_at_gate_bytes is None:
        return None
    return max(dirty.machine_at_end_bytes - dirty.machine_at_gate_bytes, 0)


def _sum_of_own(facts: RunFacts, name: str) -> int | None:
    found = [getattr(one, name) for one in facts.dirty.values()]
    return sum(found) if found and None not in found else None


def _why_not_dirty(facts: RunFacts) -> str:
    reasons = [one.sync_reason for one in facts.dirty.values() if one.sync_reason]
    return reasons[0] if reasons else NOT_LOOKED


def _not_charged(facts: RunFacts) -> str | None:
    """Why what the kernel charges to processes does not tell what reached a device."""
    network = list(dict.fromkeys(volume.role for volume in facts.volumes if volume.network))
    if network:
        return NETWORK.format(" and ".join(network))
    compressed = compressed_roles(facts)
    return COMPRESSED.format(" and ".join(compressed)) if compressed else None


def _written(
    facts: RunFacts, jobs: Sequence[JobRecord], at_devices: DeviceBytes | None, missing: Missing
) -> tuple[float | None, str]:
    path = "io.own.written_bytes"
    groups = [one.group_written_bytes for one in facts.dirty.values()]
    if groups and None not in groups:
        return sum(group or 0 for group in groups), GROUP
    charged = total(jobs, "charged_written_bytes", path, missing)
    cancelled = total(jobs, "cancelled_written_bytes", path, missing)
    if charged is None or cancelled is None:
        return None, SMALLER
    return _reached(facts, charged - cancelled, at_devices, missing), SMALLER


def _reached(
    facts: RunFacts, dirtied: float, at_devices: DeviceBytes | None, missing: Missing
) -> float | None:
    """The smaller of what the devices were given, and what was made dirty and is so no more."""
    path = "io.own.written_bytes"
    left = still_dirty(facts)
    if at_devices is None or at_devices.written is None:
        missing[path] = missing["io.device.written_bytes"]
        return None
    if left is None:
        missing[path] = NOT_LOOKED
        return None
    removed = sum(one.removed_bytes or 0 for one in facts.dirty.values())
    return min(at_devices.written.amount, max(dirtied - removed - left, 0.0))


def compressed_roles(facts: RunFacts) -> list[str]:
    """The roles of a measured run with a volume on btrfs that was mounted with compression."""
    return list(
        dict.fromkeys(
            volume.role
            for volume in facts.volumes
            if volume.file_system == "btrfs" and _compression(facts, volume.node, volume.mount_point)
        )
    )


def _compression(facts: RunFacts, node: str, mount_point: str | None) -> bool:
    inventory = facts.inventories.get(node)
    if inventory is None or mount_point is None:
        return False
    found = inventory.families.get("file_system", {}).get(mount_point, {}).get("compression")
    return found not in (None, "none", "no")


PATH = "io.devices_by_role"


def devices_by_role(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None, missing: Missing
) -> DevicesByRole | None:
    """Bytes that moved at the devices of each role, whoever asked for them, from first start to last end.

    Only where each role has devices of its own: what two roles share, the devices cannot split.
    """
    volumes = {role: [volume for volume in facts.volumes if volume.role == role] for role in ROLES}
    why = _not_split(volumes)
    if why is not None or samples is None or edges is None:
        hint = " (mawl import --role)" if why and facts.kind == "imported" and samples is not None else ""
        missing[PATH] = f"{why}{hint}" if why else "the run holds no samples of the host"
        return None
    span = (edges[0], edges[-1])
    return DevicesByRole(
        **{
            role: RoleDeviceBytes(
                read_bytes=_moved_at(facts, samples, places_of(volumes[role]), "read_bytes", span),
                written_bytes=_moved_at(facts, samples, places_of(volumes[role]), "written_bytes", span),
            )
            for role in ROLES
        }
    )


def _not_split(volumes: dict[Role, list[VolumeFacts]]) -> str | None:
    for role, own in volumes.items():
        if not own or not all(map(is_placed, own)):
            return f"no device of {role} is known"
        shared = sorted(other for other in volumes if other != role and _overlap(own, volumes[other]))
        if shared:
            return f"{role} shares a device with {' and '.join(shared)}"
    return None


def _overlap(some: Sequence[VolumeFacts], others: Sequence[VolumeFacts]) -> bool:
    """Whether bytes of one pass through devices whose counters are the other's, a disk below both aside."""
    here, there = (
        [
            {(volume.node, name) for volume in volumes for name in names(volume)}
            for names in (lambda one: one.devices, lambda one: [*one.devices, *one.layers])
        ]
        for volumes in (some, others)
    )
    return bool(here[0] & there[1] or there[0] & here[1])


def places_of(volumes: Sequence[VolumeFacts]) -> set[tuple[str, str]]:
    """The block devices that these file systems name, as (node, device)."""
    return {(volume.node, device) for volume in volumes for device in volume.devices}


def _moved_at(
    facts: RunFacts, samples: RunSamples, places: Collection[tuple[str, str]], figure: str, span: Span
) -> float | None:
    moved = [amount(facts, samples, node, f"device.{device}.{figure}", span) for node, device in places]
    return added(moved) if moved else 0.0


def foreign_at(view: RunView, role: Role) -> Foreign | None:
    """The most that others can have moved at the devices of a role (docs/design/figures.md, Bytes).

    Whatever the calls of the jobs cannot have moved at the other devices, others moved there.  ``io.foreign``
    of all devices where the role is on all of them, or where the figures of some of them are not known.
    """
    whole, places = view.summary.io.foreign, role_places(view.facts)
    here = places_of(view.volumes(role))
    usages = [usage for job in view.jobs for usage in (job.usage, job.verify)]
    if whole is None or not here or not here < places or view.over_time is None:
        return whole
    samples, windows = view.over_time
    span = (windows.edges[0], windows.edges[-1])
    inside = [name for name in ROLES if places_of(view.volumes(name)) <= here]
    foreign, moved = {}, 0.0
    for name in ("read_bytes", "written_bytes"):
        own_device = _moved_at(view.facts, samples, here, name, span)
        others = _moved_at(view.facts, samples, places - here, name, span)
        calls = [getattr(job.usage, f"application_{name}") for job in view.jobs]
        if own_device is None or others is None or None in calls:
            return whole
        whole_calls = sum(getattr(usage, f"application_{name}") or 0 for usage in usages)
        within = sum(getattr(job.io[one], name) for job in view.jobs if job.io for one in inside)
        outside = max(whole_calls - within, 0)
        by_others = getattr(whole, name) or 0.0
        unexplained = own_device + others - by_others - min(within, own_device) - min(outside, others)
        least_elsewhere = max(others - outside - max(unexplained, 0.0), 0.0)
        foreign[name] = min(own_device, max(by_others - least_elsewhere, 0.0))
        moved += own_device
    total = sum(foreign.values())
    return Foreign(
        **foreign,
        total_bytes_per_second=total / (span[1] - span[0]),
        ratio=total / moved if moved else None,
    )


NOT_COVERED = "samples do not cover half of the run at each of the devices"
REACHES_STORAGE_RATIO = value_of("answer.least_reach_ratio")
"""Below this reach the page cache, not the storage, made the figures of a direction."""


def io_block(view: RunView, elapsed_seconds: float | None, missing: Missing) -> Io:
    """Totals, figures over windows and calls by role; docs/design/figures.md, Bytes, has the formulas.

    Application, dirtied and own bytes are of the jobs that count.  ``reach`` is own over application and
    may pass 1: the kernel reads ahead and writes whole pages.
    """
    facts, good, samples, windows = view.facts, view.counted, view.samples, view.windows
    edges = windows.edges if windows else None
    at_devices = view.moved or device_bytes(
        facts, samples, view.device, (edges[0], edges[-1]) if edges else None
    )
    asked, reached = (
        side_in_time(f"io.{name}", counters, facts, view.jobs, windows, samples, missing)
        for name, counters in (("application", APPLICATION), ("device", view.device))
    )
    sums = _sums(
        "io.application",
        total(good, "application_read_bytes", "io.application.read_bytes", missing),
        total(good, "application_written_bytes", "io.application.written_bytes", missing),
        elapsed_seconds,
        missing,
    )
    application = Application(**msgspec.structs.asdict(sums), **msgspec.structs.asdict(asked))
    why = view.device.reason or (NOT_COVERED if edges else NO_TIMES)
    devices = _at_devices(at_devices, why, missing)
    own = own_block(facts, good, at_devices, missing)
    return Io(
        application=application,
        dirtied=dirtied_block(facts, good, missing),
        device=AtDevice(
            **msgspec.structs.asdict(devices),
            bytes_source=None if at_devices is None else at_devices.source,
            **msgspec.structs.asdict(reached),
        ),
        own=own,
        foreign=foreign_block(facts, view.jobs, at_devices, missing),
        reach=Reach(
            read_ratio=_reach(own.read_bytes, application.read_bytes, "read", "read_bytes", missing),
            write_ratio=_reach(
                own.written_bytes, application.written_bytes, "write", "written_bytes", missing
            ),
        ),
        by_role=by_role_block(facts, good, peak_latencies(view.moments), missing),
        devices_by_role=devices_by_role(facts, samples, edges, missing),
        coverage_ratio=coverage_ratio(good, missing),
        direct=direct_block(good, missing),
        unseen=io_remarks(good),
    )


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one side over the run, and their rates."""

    read_bytes: float | None
    written_bytes: float | None
    read_ratio: float | None
    run_mean: Rates


def _at_devices(found: DeviceBytes | None, why_not: str, missing: Missing) -> Sums:
    read, written, seconds = _moved(found)
    missing |= dict.fromkeys(("io.device.read_bytes", "io.device.written_bytes"), why_not)
    missing["io.device.bytes_source"] = why_not
    return _sums("io.device", read, written, seconds, missing)


def _reach(
    own: float | None, application: float | None, direction: str, moved: str, missing: Missing
) -> float | None:
    path = f"io.reach.{direction}_ratio"
    return ratio(own, application, path, missing, (f"io.own.{moved}", f"io.application.{moved}"))


def _moved(found: DeviceBytes | None) -> tuple[float | None, float | None, float | None]:
    """Bytes read and written, and the seconds in which both are known."""
    if found is None:
        return None, None, None
    read, written = found.read, found.written
    seconds = [change.seconds for change in (read, written) if change is not None]
    return (
        None if read is None else read.amount,
        None if written is None else written.amount,
        min(seconds, default=None),
    )


def cached_directions(io: Io) -> list[str]:
    """``read`` and ``write`` where programs moved bytes of which too few reached a device."""
    application, reach = io.application, io.reach
    return [
        direction
        for direction, moved in (("read", "read_bytes"), ("write", "written_bytes"))
        if getattr(application, moved)
        and (reached := getattr(reach, f"{direction}_ratio")) is not None
        and reached < REACHES_STORAGE_RATIO
    ]


def _sums(
    path: str, read: float | None, written: float | None, elapsed_seconds: float | None, missing: Missing
) -> Sums:
    both = None if read is None or written is None else read + written
    of = {"read": f"{path}.read_bytes", "write": f"{path}.written_bytes"}
    of["total"] = of["read" if read is None else "write"]
    elapsed = "time.elapsed_seconds"
    rates = {
        f"{name}_bytes_per_second": ratio(
            moved, elapsed_seconds, f"{path}.run_mean.{name}_bytes_per_second", missing, (of[name], elapsed)
        )
        for name, moved in (("read", read), ("write", written), ("total", both))
    }
    return Sums(
        read_bytes=read,
        written_bytes=written,
        read_ratio=ratio(read, both, f"{path}.read_ratio", missing, (of["total"], of["total"])),
        run_mean=Rates(**rates),
    )
