"""Demand on storage, and what a probe found."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.definitions.figure import Number, block, instant, listing, rate, share, size, text, words

DEMAND_AGAINST_CAPABILITY = "docs/design/probe.md, Demand against capability"


class RoleDemand(msgspec.Struct, kw_only=True):
    """What a role asked of its devices in one direction, and what these can do."""

    request_bytes: Annotated[
        int | None,
        size(
            "Median bytes of the role's {way} calls, for which the nearest test is sought.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    peak_bytes_per_second: Annotated[
        Number | None, rate("Highest window of bytes {moved} the role's devices.", DEMAND_AGAINST_CAPABILITY)
    ]
    sustained_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Median window of the active phase of bytes {moved} the role's devices.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    capability_bytes_per_second: Annotated[
        Number | None,
        rate(
            "Rate of the {way} test of the role's pattern at the nearest request size, at the "
            "best number of streams.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    test: Annotated[str | None, text("That test.", DEMAND_AGAINST_CAPABILITY)]
    peak_used_ratio: Annotated[
        Number | None, share("Peak rate over the capability.", DEMAND_AGAINST_CAPABILITY)
    ]
    sustained_used_ratio: Annotated[
        Number | None, share("Sustained rate over the capability.", DEMAND_AGAINST_CAPABILITY)
    ]


class RoleStorage(msgspec.Struct, kw_only=True):
    """A role and the targets of the probe that hold it."""

    devices: Annotated[
        list[str], listing("Block devices of the role's file systems.", DEMAND_AGAINST_CAPABILITY)
    ]
    shared_with: Annotated[
        list[str],
        listing(
            "Other roles on these devices, whose demand is in these figures, too.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    disks_shared_with: Annotated[
        list[str],
        listing(
            "Other roles on the same disks by other devices, whose demand is not in these figures.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    targets: Annotated[
        list[str], listing("Targets of the probe that hold the role.", DEMAND_AGAINST_CAPABILITY)
    ]
    pattern: Annotated[
        str,
        text(
            "sequential, or random where less than half of the role's bytes continued a stream.",
            DEMAND_AGAINST_CAPABILITY,
        ),
    ]
    read: Annotated[RoleDemand, words(way="read", moved="read from")]
    write: Annotated[RoleDemand, words(way="write", moved="written to")]


class Storage(msgspec.Struct, kw_only=True):
    """What each role asked of its devices, and what a probe found."""

    tool: Annotated[str, text("What probed: the version of fio.", DEMAND_AGAINST_CAPABILITY)]
    probed_at: Annotated[str, instant("When the probe began.", DEMAND_AGAINST_CAPABILITY)]
    by_role: Annotated[dict[str, RoleStorage], block(member="role")]
