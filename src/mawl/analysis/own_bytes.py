"""The run's part of what devices moved (own), what it only made dirty, and what was others' (foreign).

Formulas and what they were measured against: docs/design/figures.md, Bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Missing, total
from mawl.analysis.device_bytes import DeviceBytes
from mawl.analysis.throughput import fuse_roles
from mawl.model.dirty import DirtyPages
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts
from mawl.model.summary.io import Dirtied, Foreign, OwnBytes

GROUP = "the control group's io.stat"
SMALLER = "the smaller of device, and dirtied less still dirty at the end"
NOT_LOOKED = "what was still in memory when the last job ended was not measured"
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
        removed_bytes=_summed(facts, "removed_bytes"),
        at_gate_bytes=_summed(facts, "machine_at_gate_bytes"),
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
    found: Missing = {}
    read = total(jobs, "own_read_bytes", "io.own.read_bytes", found)
    written, source = _written(facts, jobs, at_devices, found)
    if (why := _not_charged(facts)) is not None:
        read, written = None, None
        found = dict.fromkeys(("io.own.read_bytes", "io.own.written_bytes"), why)
    elif fuse := fuse_roles(facts):
        read = None
        roles = " and ".join(fuse)
        found["io.own.read_bytes"] = f"{roles} on FUSE, whose reads the kernel charges to no process"
    both = None if read is None or written is None else read + written
    missing |= found
    if not both:
        missing["io.own.read_ratio"] = "nothing was moved, or one direction is not known"
    missing["io.own.write_source"] = found.get("io.own.written_bytes", NOT_LOOKED)
    return OwnBytes(
        read_bytes=read,
        written_bytes=written,
        read_ratio=None if read is None or not both else read / both,
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
        missing[path] = "what the devices of the roles moved is not known"
        return None
    own: Missing = {}
    if facts.kind != "measured" or (why := _not_charged(facts)) is not None or fuse_roles(facts):
        missing[path] = (
            "what of it was the run's own is not known" if facts.kind != "measured" else why or NOT_LOOKED
        )
        return None
    usages = [(job.usage, job.verify) for job in jobs]
    reads = [usage.own_read_bytes for pair in usages for usage in pair]
    if any(own.own_read_bytes is None for own, _ in usages):
        missing[path] = "a job has no account of its reads"
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


def _summed(facts: RunFacts, name: str) -> int | None:
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
        return sum(one or 0 for one in groups), GROUP
    own: Missing = {}
    charged = total(jobs, "charged_written_bytes", path, own)
    cancelled = total(jobs, "cancelled_written_bytes", path, own)
    missing |= own
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
        missing[path] = "what the devices of the roles were given is not known"
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
