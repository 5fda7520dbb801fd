"""The volumes of the roles: what moved on each, how evenly, and how much space the run took."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from mawl.figures.missing import Missing, ratio
from mawl.figures.series import RunSamples, amount
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import sum_by_volume
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.storage import Roles, RoleVolumes, VolumeFigures
from mawl.records.spec.program_options import ROLES

NOT_COUNTED = "bytes by volume were not counted (format 1.1, no counters, or above 95 directories)"
NOT_SEEN = "the run holds no samples of the space that its files took"
ONE_VOLUME = "the role has one volume"


def volumes_block(
    facts: RunFacts,
    jobs: Sequence[JobRecord],
    samples: RunSamples | None,
    edges: Sequence[float] | None,
    missing: Missing,
) -> list[VolumeFigures]:
    """Facts of each volume and what the run did there; ``jobs`` are those that count.

    Bytes at the devices are of whoever asked, from first start to last end, and only where no other volume
    is on one of them.
    """
    missing |= {f"volumes.*.{name}": NOT_COUNTED for name in ("read_bytes", "written_bytes")}
    missing |= {
        "volumes.*.share_ratio": "bytes by volume were not counted, or nothing moved in its role",
        "volumes.*.peak_used_bytes": NOT_SEEN,
        **{
            f"volumes.*.device_{name}_bytes": "no separate device is known, or no sample covers the run"
            for name in ("read", "written")
        },
        **{
            f"volumes.*.{name}_bytes": "not looked at (format 1.1 or older, or the run did not end)"
            for name in ("size", "used_before", "used_after", "free_before", "free_after")
        },
    }
    span = (edges[0], edges[-1]) if edges else None
    found = []
    for volume, number in zip(facts.volumes, volume_numbers(facts), strict=True):
        read, written = _moved(jobs, volume.node, number)
        found.append(
            VolumeFigures(
                **msgspec.structs.asdict(volume),
                number=number,
                read_bytes=read,
                written_bytes=written,
                device_read_bytes=_at_device(facts, volume, samples, "read_bytes", span),
                device_written_bytes=_at_device(facts, volume, samples, "written_bytes", span),
                peak_used_bytes=_peak(samples, [(volume.node, number)]),
                share_ratio=None,
            )
        )
    return [
        msgspec.structs.replace(
            one, share_ratio=_share(one, [other for other in found if other.role == one.role])
        )
        for one in found
    ]


def roles_block(
    facts: RunFacts, volumes: Sequence[VolumeFigures], samples: RunSamples | None, missing: Missing
) -> Roles:
    """Of each role: how many volumes, how evenly its bytes lay on them, and the most space it took.

    Data's space is its input tables and the most that results took.
    """
    numbers = volume_numbers(facts)
    found: dict[str, RoleVolumes] = {}
    for role in ROLES:
        own = [volume for volume in volumes if volume.role == role]
        places = [(v.node, n) for v, n in zip(facts.volumes, numbers, strict=True) if v.role == role]
        peak = _peak(samples, places)
        if peak is None:
            missing[f"roles.{role}.peak_used_bytes"] = NOT_SEEN
        elif role == "data" and facts.cache is None:
            peak, missing["roles.data.peak_used_bytes"] = None, "the size of the input tables was not noted"
        elif role == "data" and facts.cache is not None:
            peak += facts.cache.input_bytes
        found[role] = RoleVolumes(
            volumes=len(own),
            spread_ratio=_spread(own, f"roles.{role}.spread_ratio", missing),
            peak_used_bytes=peak,
        )
    return Roles(**found)


def volume_numbers(facts: RunFacts) -> list[int]:
    """The number of each volume on its node, from 1: that of ``volume_bytes`` and of the series."""
    counts: dict[str, int] = {}
    numbers = []
    for volume in facts.volumes:
        counts[volume.node] = counts.get(volume.node, 0) + 1
        numbers.append(counts[volume.node])
    return numbers


def _moved(jobs: Sequence[JobRecord], node: str, number: int) -> tuple[int | None, int | None]:
    known = [job.volume_bytes for job in jobs if job.node == node and job.volume_bytes is not None]
    return sum_by_volume(known).get(number, (0, 0)) if known else (None, None)


def _total(volume: VolumeFigures) -> float | None:
    read, written = volume.read_bytes, volume.written_bytes
    return None if read is None or written is None else read + written


def _share(volume: VolumeFigures, same: Sequence[VolumeFigures]) -> float | None:
    totals = [_total(other) for other in same]
    whole = sum(total for total in totals if total is not None)
    own = _total(volume)
    return None if own is None or None in totals or not whole else own / whole


def _spread(own: Sequence[VolumeFigures], path: str, missing: Missing) -> float | None:
    """Largest less smallest of the volumes' bytes, over their mean."""
    if len(own) < 2:
        missing[path] = ONE_VOLUME if own else "no volume of the role is known"
        return None
    totals = [_total(volume) for volume in own]
    known = [total for total in totals if total is not None]
    if len(known) < len(totals):
        missing[path] = NOT_COUNTED
        return None
    return ratio(max(known) - min(known), sum(known) / len(known), path, missing)


def _peak(samples: RunSamples | None, places: Sequence[tuple[str, int]]) -> int | None:
    """The most that the run's files took on these volumes at one moment; of each node by itself, added up."""
    if samples is None or not places:
        return None
    by_node: dict[str, list[int]] = {}
    for node, number in places:
        by_node.setdefault(node, []).append(number)
    peak = 0.0
    for node, numbers in by_node.items():
        series = [samples.series(node, f"volume.{number}.used_bytes") for number in numbers]
        known = [one for one in series if one is not None and len(one.values)]
        if len(known) < len(series):
            return None
        times = known[0].times
        # One look writes all volumes of a node; only a torn journal has them at different times.
        peak += float(np.max(sum(np.interp(times, one.times, one.values) for one in known)))
    return round(peak)


def _at_device(
    facts: RunFacts,
    volume: VolumeFacts,
    samples: RunSamples | None,
    figure: str,
    span: tuple[float, float] | None,
) -> float | None:
    others = {
        disk
        for other in facts.volumes
        if other is not volume and other.node == volume.node
        for disk in (*other.disks, *other.devices)
    }
    if samples is None or span is None or not volume.devices or others & {*volume.disks, *volume.devices}:
        return None
    total = 0.0
    for device in volume.devices:
        moved = amount(facts, samples, volume.node, f"device.{device}.{figure}", span)
        if moved is None:
            return None
        total += moved
    return total
