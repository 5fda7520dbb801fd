"""The advice on placement (``mawl placement --json``): every figure with its definition."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mawl.records.definitions import (
    FACTS,
    Metric,
    block,
    flag,
    listing,
    rate,
    seconds,
    share,
    size,
    text,
    words,
)
from mawl.records.model.fields import metrics_of
from mawl.records.spec.program_options import Role

PAGE = "docs/design/volumes.md"
ASKED = f"{PAGE}, What a role asks"
CAN = f"{PAGE}, What a target can"
MODEL = f"{PAGE}, The model"


class RoleAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a role asked of its storage; bytes are of the jobs that count."""

    read_bytes: Annotated[int, size("Application bytes that the role read.", ASKED)]
    written_bytes: Annotated[int, size("Application bytes that it wrote.", ASKED)]
    share_ratio: Annotated[float | None, share("Its bytes over those of all roles and other.", ASKED)]
    read_ratio: Annotated[float | None, share("Bytes read over bytes both ways.", ASKED)]
    device_read_bytes: Annotated[
        float | None,
        size(
            "Bytes read at its devices; where roles share them, application bytes times the run's reach.",
            ASKED,
            kind="float",
        ),
    ]
    device_written_bytes: Annotated[
        float | None,
        size(
            "Bytes written at its devices; where roles share them, application bytes times the run's reach.",
            ASKED,
            kind="float",
        ),
    ]
    device_measured: Annotated[bool, flag("Whether the role has its own devices.", ASKED)]
    sequential_read_ratio: Annotated[
        float | None, share("Bytes of reads that continue a stream of their file, over all.", ASKED)
    ]
    sequential_write_ratio: Annotated[
        float | None, share("Bytes of writes that continue a stream of their file, over all.", ASKED)
    ]
    read_request_bytes: Annotated[int | None, size("Median bytes of a read call.", ASKED)]
    write_request_bytes: Annotated[int | None, size("Median bytes of a write call.", ASKED)]
    read_latency_seconds: Annotated[float | None, seconds("Mean time inside its read calls.", ASKED)]
    write_latency_seconds: Annotated[float | None, seconds("Mean time inside its write calls.", ASKED)]
    blocked_seconds: Annotated[float, seconds("Time that jobs were blocked in it.", ASKED)]
    blocked_ratio: Annotated[float | None, share("That over the summed real time.", ASKED)]
    streams: Annotated[float, share("Calls in flight at a time, on average; at least 1.", ASKED)]
    peak_used_bytes: Annotated[int | None, size("The most space it took: its working set.", ASKED)]


class RolePlaced(RoleAsked, frozen=True, kw_only=True):
    """The same, with the targets that hold the role."""

    targets: Annotated[list[str | None], listing("Target of each volume; null: not probed.", ASKED)]


class PlacementTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A probed directory, by the papers' request size."""

    name: Annotated[str, text("Name of the target in its probe.", CAN)]
    node: Annotated[str, text("Its node.", CAN)]
    directory: Annotated[str, text("The probed directory.", CAN)]
    file_system: Annotated[str | None, text("Type of its file system.", CAN)]
    devices: Annotated[list[str], listing("Its block devices.", CAN)]
    size_bytes: Annotated[int | None, size("Size of its file system.", CAN)]
    free_bytes: Annotated[int | None, size("Free bytes when it was probed.", CAN)]
    holds: Annotated[list[Role], listing("Roles of the run that lie there.", CAN)]
    read_bytes_per_second: Annotated[
        float | None,
        rate("Its sequential read rate at the request size nearest to 256 KiB and one stream.", CAN),
    ]
    write_bytes_per_second: Annotated[
        float | None,
        rate("Its sequential write rate at the request size nearest to 256 KiB and one stream.", CAN),
    ]
    read_write_ratio: Annotated[float | None, share("The former over the latter.", CAN)]
    flash_like: Annotated[
        bool | None, flag("Whether random reads run at a quarter of the sequential rate or more.", CAN)
    ]


class RealTimeChange(msgspec.Struct, frozen=True, kw_only=True):
    """What moving files changes of the summed real time; below zero where jobs get faster."""

    low_seconds: Annotated[float, seconds("Change of the summed real time by {what}: the least.", MODEL)]
    expected_seconds: Annotated[float, seconds("Change of the summed real time by {what}: expected.", MODEL)]
    high_seconds: Annotated[float, seconds("Change of the summed real time by {what}: the most.", MODEL)]
    expected_ratio: Annotated[float | None, share("The expected change over the summed real time.", MODEL)]


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """One role moved by itself to one target."""

    role: Annotated[Role, text("A role that would move by itself.", MODEL)]
    target: Annotated[str, text("Where to.", MODEL)]
    bytes_per_second: Annotated[float | None, rate("The rate to expect there for what the role moves.", CAN)]
    device_seconds: Annotated[float | None, seconds("The target's time for the role's bytes.", CAN)]
    read_latency_seconds: Annotated[float | None, seconds("Mean response time of the probe's reads.", CAN)]
    write_latency_seconds: Annotated[float | None, seconds("Mean response time of the probe's writes.", CAN)]
    blocked_seconds: Annotated[
        float | None, seconds("Time blocked in the role there, by the target's device time.", MODEL)
    ]
    fits: Annotated[bool | None, flag("Whether its working set fits into the free space.", MODEL)]
    change: Annotated[RealTimeChange | None, words(what="this move alone")]


class RolePlaces(msgspec.Struct, frozen=True, kw_only=True):
    """The targets of each role."""

    data: Annotated[list[str], listing("Targets of data.", MODEL)]
    work: Annotated[list[str], listing("Targets of work.", MODEL)]
    util: Annotated[list[str], listing("Targets of util.", MODEL)]

    def of(self, role: Role) -> list[str]:
        found: list[str] = getattr(self, role)
        return found


class BestPlacement(msgspec.Struct, frozen=True, kw_only=True):
    """The placement that saves most."""

    moves: Annotated[list[Role], listing("Roles to move, the one that gains most first.", MODEL)]
    placement: RolePlaces
    fits: Annotated[bool | None, flag("Whether all that move fit.", MODEL)]
    change: Annotated[RealTimeChange, words(what="all moves together")]


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """How to prove a placement."""

    run: Annotated[str, text("The command that runs the same in the best placement.", MODEL)]
    compare: Annotated[str, text("The command that compares both.", MODEL)]


class PlacementAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """Where data, work and util belong, by a run and probes."""

    run_id: Annotated[str, text("The measured run.", FACTS)]
    verdict: Annotated[str | None, text("What limited it.", "docs/design/verdict.md")]
    real_time_seconds: Annotated[float | None, seconds("Its summed real time.", ASKED)]
    blocked_seconds: Annotated[float, seconds("Time its jobs were blocked in I/O of the three roles.", ASKED)]
    blocked_ratio: Annotated[float | None, share("That over the summed real time.", ASKED)]
    other_blocked_seconds: Annotated[
        float,
        seconds(
            "Time blocked outside of calls on files of a role: removing files, mapped files, or no storage.",
            ASKED,
        ),
    ]
    roles: dict[Role, RolePlaced]
    targets: list[PlacementTarget]
    moves: list[Move]
    best: Annotated[
        BestPlacement | None,
        block("The best placement; null where the run's places were not probed.", MODEL),
    ]
    proof: Annotated[Proof | None, block("How to prove it; null where nothing is to move.", MODEL)]
    unknown: Annotated[list[str], listing("What the advice does not know, in sentences.", MODEL)]


PLACEMENT_METRICS: tuple[Metric, ...] = metrics_of(PlacementAdvice, ("placement",))
