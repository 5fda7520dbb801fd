"""The storage of a run: demand, probe, volumes, caps of control groups, and storage arrays."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    CACHE,
    CAPS,
    FACTS,
    VOLUME_PAGE,
    VOLUME_SPACE,
    Number,
    block,
    count,
    instant,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    words,
)
from mawl.records.model.run import CacheFacts, VolumeFacts
from mawl.records.spec.program_options import Role

DEMAND_PAGE = "docs/design/probe.md, Demand against capability"


class RoleDemand(msgspec.Struct, kw_only=True):
    """What a role asked of its devices in one direction, and what these can do."""

    request_bytes: Annotated[
        int | None,
        size(
            "Median bytes of the role's {way} calls, for which the nearest test is sought.",
            DEMAND_PAGE,
        ),
    ]
    peak_bytes_per_second: Annotated[
        Number | None, rate("Highest window of bytes {moved} the role's devices.", DEMAND_PAGE)
    ]
    sustained_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Median window of the active phase of bytes {moved} the role's devices.",
            DEMAND_PAGE,
        ),
    ]
    capability_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Rate of the {way} test of the role's pattern at the nearest request size, at the "
            "best number of streams.",
            DEMAND_PAGE,
        ),
    ]
    test: Annotated[str | None, text("That test.", DEMAND_PAGE)]
    peak_used_ratio: Annotated[Number | None, share("Peak rate over the capability.", DEMAND_PAGE)]
    sustained_used_ratio: Annotated[Number | None, share("Sustained rate over the capability.", DEMAND_PAGE)]


class RoleStorage(msgspec.Struct, kw_only=True):
    """A role and the targets of the probe that hold it."""

    devices: Annotated[list[str], listing("Block devices of the role's file systems.", DEMAND_PAGE)]
    shared_with: Annotated[
        list[str],
        listing(
            "Other roles on these devices, whose demand is in these figures, too.",
            DEMAND_PAGE,
        ),
    ]
    disks_shared_with: Annotated[
        list[str],
        listing(
            "Other roles on the same disks by other devices, whose demand is not in these figures.",
            DEMAND_PAGE,
        ),
    ]
    targets: Annotated[list[str], listing("Targets of the probe that hold the role.", DEMAND_PAGE)]
    pattern: Annotated[
        str,
        text(
            "sequential, or random where less than half of the role's bytes continued a stream.",
            DEMAND_PAGE,
        ),
    ]
    read: Annotated[RoleDemand, words(way="read", moved="read from")]
    write: Annotated[RoleDemand, words(way="write", moved="written to")]


class Storage(msgspec.Struct, kw_only=True):
    """What each role asked of its devices, and what a probe found."""

    tool: Annotated[str, text("What probed: the version of fio.", DEMAND_PAGE)]
    probed_at: Annotated[str, instant("When the probe began.", DEMAND_PAGE)]
    by_role: Annotated[dict[str, RoleStorage], block(member="role")]


SPREAD = "docs/design/volumes.md, Spread"


class VolumeFigures(VolumeFacts, frozen=True, kw_only=True):
    """A volume: what holds it, and how the jobs used it."""

    number: Annotated[int, count("Its number on its node, as in jobs and samples, from 1.", VOLUME_PAGE)]
    read_bytes: Annotated[
        Number | None, size("Bytes that calls of the jobs that count read there.", VOLUME_PAGE)
    ]
    written_bytes: Annotated[Number | None, size("Bytes that they wrote there.", VOLUME_PAGE)]
    device_read_bytes: Annotated[
        Number | None,
        size(
            "Bytes read at its devices, for all programs, where no other volume is on one of them.",
            VOLUME_PAGE,
            type="float",
        ),
    ]
    device_written_bytes: Annotated[
        Number | None,
        size(
            "Bytes written at its devices, for all programs, where no other volume is on one of them.",
            VOLUME_PAGE,
            type="float",
        ),
    ]
    peak_used_bytes: Annotated[
        Number | None, size("The most that files of the run's jobs took there at one look.", VOLUME_SPACE)
    ]
    share_ratio: Annotated[
        Number | None, share("Its bytes, both ways, over those of its role's volumes.", VOLUME_PAGE)
    ]


class CachedInputs(CacheFacts, frozen=True, kw_only=True):
    """The input tables in the page cache when the run began."""

    resident_ratio: Annotated[
        Number | None, share("Share of them that was.", CACHE, absent="there were no inputs")
    ]


class RoleVolumes(msgspec.Struct, kw_only=True):
    """How the volumes of a role were used."""

    volumes: Annotated[int, count("Volumes of {role}, of all nodes.", FACTS)]
    spread_ratio: Annotated[
        Number | None,
        share(
            "Largest less smallest of the bytes, both ways, of the volumes of {role}, over their mean.",
            SPREAD,
        ),
    ]
    peak_used_bytes: Annotated[
        int | None, size("The most space that {role} took at one look: {what}.", VOLUME_SPACE)
    ]


class Roles(msgspec.Struct, kw_only=True):
    """How the volumes of each role were used."""

    data: Annotated[RoleVolumes, words(role="data", what="its working set, input tables included")]
    work: Annotated[RoleVolumes, words(role="work", what="its working set")]
    util: Annotated[RoleVolumes, words(role="util", what="its working set")]

    def of(self, role: Role) -> RoleVolumes:
        found: RoleVolumes = getattr(self, role)
        return found


CAP_SUMS = f"{CAPS}, Several devices"


class DirectionCap(msgspec.Struct, kw_only=True):
    """What control groups let the run move at most in one direction at the devices of a place."""

    bytes_per_second: Annotated[
        int | None, rate("The most bytes per second that a control group lets the run {way} there.", CAP_SUMS)
    ]
    requests_per_second: Annotated[
        int | None,
        count("The most {way} requests per second that a control group lets the run make there.", CAP_SUMS),
    ]
    devices: Annotated[list[str], listing("The block devices that these caps apply to.", CAPS)]
    files: Annotated[list[str], listing("The files that these caps were read from.", CAPS)]


class PlaceCaps(msgspec.Struct, kw_only=True):
    """The caps of one place by direction."""

    read: Annotated[DirectionCap, words(way="read")]
    write: Annotated[DirectionCap, words(way="write")]


class Caps(msgspec.Struct, kw_only=True):
    """The caps on the devices of each role, and on those of all roles, each device once."""

    data: PlaceCaps
    work: PlaceCaps
    util: PlaceCaps
    together: PlaceCaps


ARRAY_PAGE = "docs/design/arrays.md, Array and host"
ASSUMED = (
    " Unless the map has other units, mawl assumes 1,024 bytes for a KB of XIV, and 1,048,576 for an MB of "
    "lssystemstats."
)
"""No source was found that says whether these units count by 1,000 or by 1,024."""


class StorageSide(msgspec.Struct, kw_only=True):
    """Throughput and latency of a role over the windows of the active phase, at one place."""

    mean_bytes_per_second: Annotated[
        Number | None,
        rate("Bytes read and written for each second {place}, mean of the windows.{unit}", ARRAY_PAGE),
    ]
    peak_bytes_per_second: Annotated[
        Number | None, rate("The same in the highest window {place}.{unit}", ARRAY_PAGE)
    ]
    peak_read_bytes_per_second: Annotated[
        Number | None, rate("Bytes read for each second {place}, in the highest window.{unit}", ARRAY_PAGE)
    ]
    peak_written_bytes_per_second: Annotated[
        Number | None, rate("Bytes written for each second {place}, in the highest window.{unit}", ARRAY_PAGE)
    ]
    mean_latency_seconds: Annotated[
        Number | None, seconds("Time of requests {place} over their number, over all windows.", ARRAY_PAGE)
    ]
    peak_latency_seconds: Annotated[
        Number | None, seconds("The same in the highest window {place}.", ARRAY_PAGE)
    ]


class ArrayRoleFigures(msgspec.Struct, kw_only=True):
    """A role at the arrays that hold it, and at the host."""

    arrays: Annotated[list[str], listing("Arrays that hold the role's volumes.", ARRAY_PAGE)]
    volumes: Annotated[int, count("Volumes of the role with statistics.", ARRAY_PAGE)]
    covered_ratio: Annotated[
        Number,
        share("Share of the active phase in windows that statistics of all volumes cover.", ARRAY_PAGE),
    ]
    array: Annotated[StorageSide, words(place="at the array", unit=ASSUMED)]
    host: Annotated[StorageSide, words(place="at the role's block devices of the host", unit="")]
    beyond_array_seconds: Annotated[
        Number | None,
        seconds(
            "Mean latency at the host less that at the array: queues of the host, adapters, fabric and "
            "multipath, which these figures do not tell apart.",
            ARRAY_PAGE,
        ),
    ]
    hit_ratio: Annotated[
        Number | None,
        share("Requests that the array's cache served: mean over time, then over volumes.", ARRAY_PAGE),
    ]
    saved_ratio: Annotated[
        Number | None,
        share("Saving by compression as the array states it: mean over time, then over volumes.", ARRAY_PAGE),
    ]


class ArrayVolumeFigures(msgspec.Struct, kw_only=True):
    """A volume at an array, whose role is known."""

    array: Annotated[str, text("The array that the volume is on.", ARRAY_PAGE)]
    volume: Annotated[str, text("Its name at the array; empty for all of an array.", ARRAY_PAGE)]
    role: Annotated[str, text("The role that the map gives it.", ARRAY_PAGE)]
    read_bytes_per_second: Annotated[
        Number | None, rate("Read at the array, mean over the active phase.", ARRAY_PAGE)
    ]
    written_bytes_per_second: Annotated[
        Number | None, rate("Written at the array, mean over the active phase.", ARRAY_PAGE)
    ]
    saved_ratio: Annotated[
        Number | None,
        share("Saving of the volume by compression as the array states it: mean over time.", ARRAY_PAGE),
    ]


class Arrays(msgspec.Struct, kw_only=True):
    """Storage arrays whose statistics joined the run."""

    by_role: Annotated[dict[str, ArrayRoleFigures], block(member="role")]
    volumes: Annotated[list[ArrayVolumeFigures], block()]
