"""What a run asked of the storage of each role, and the time that a probed target would need for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from mawl.base.errors import MawlError
from mawl.base.units import format_percent
from mawl.figures.demand import by_streams, comparable, figures_of
from mawl.figures.missing import counted
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
from mawl.records.model.probe import (
    PAPERS_REQUEST_BYTES,
    Direction,
    Pattern,
    ProbeFigures,
    ProbeTarget,
    ProbeTest,
)
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import RoleIo, sum_by_role
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.io import RoleFigures
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES, Role

PAGE = "docs/design/volumes.md"
ASKED = f"{PAGE}, What a role asks"
CAN = f"{PAGE}, What a target can"
MODEL = f"{PAGE}, The model"


class RoleDemand(msgspec.Struct, frozen=True, kw_only=True):
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
            type="float",
        ),
    ]
    device_written_bytes: Annotated[
        float | None,
        size(
            "Bytes written at its devices; where roles share them, application bytes times the run's reach.",
            ASKED,
            type="float",
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


class RolePlacement(RoleDemand, frozen=True, kw_only=True):
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
    roles: dict[Role, RolePlacement]
    targets: list[PlacementTarget]
    moves: list[Move]
    best: Annotated[
        BestPlacement | None,
        block("The best placement; null where the run's places were not probed.", MODEL),
    ]
    proof: Annotated[Proof | None, block("How to prove it; null where nothing is to move.", MODEL)]
    unknown: Annotated[list[str], listing("What the advice does not know, in sentences.", MODEL)]


PLACEMENT_METRICS: tuple[Metric, ...] = metrics_of(PlacementAdvice, ("placement",))


class PlacementDemand(RoleDemand, frozen=True, kw_only=True):
    """One role in a run; bytes are the application's, of the jobs that count.

    ``device_*_bytes`` are those at the role's devices, where each role has its own, else the
    application's times the run's reach, which does not tell roles apart; None where reach is not known.
    ``blocked_seconds`` are the jobs' in this role, of ``real_time_seconds`` in all.  ``streams`` are the
    calls in flight at a time, on average while the run lasted.
    """

    role: Role
    volumes: list[VolumeFacts]

    @property
    def moved(self) -> tuple[float, float]:
        """Bytes read and written that the storage has to carry: at the device, where that is known."""
        if self.device_read_bytes is None or self.device_written_bytes is None:
            return float(self.read_bytes), float(self.written_bytes)
        return self.device_read_bytes, self.device_written_bytes


def demands(facts: RunFacts, jobs: Sequence[JobRecord], summary: Summary) -> dict[Role, PlacementDemand]:
    """The demand of every role.

    Raises ``MawlError`` for a run that did not measure I/O and waits by role.
    """
    good = counted(jobs)
    by_role, wait = summary.io.by_role, summary.wait
    blocked = wait.blocked_seconds if wait else None
    if by_role is None or any(blocked is None or getattr(blocked, role) is None for role in ROLES):
        missing = summary.missing
        raise MawlError(
            "the run did not record what its roles asked of the storage",
            where=facts.run_id,
            why=missing.get("io.by_role") or missing.get("wait") or "some of its jobs have no waits by role",
            cure="run it again where I/O by role can be measured (mawl doctor)",
        )
    sums = sum_by_role(job.io for job in good if job.io is not None)
    return {role: _demand(role, facts, sums[role], by_role[role], summary) for role in ROLES}


def _demand(role: Role, facts: RunFacts, io: RoleIo, calls: RoleFigures, summary: Summary) -> PlacementDemand:
    time, wait = summary.time, summary.wait
    blocked = (getattr(wait.blocked_seconds, role) if wait else None) or 0.0
    inside = io.read_seconds + io.write_seconds + io.sync_seconds + io.open_seconds
    elapsed, real = time.elapsed_seconds, time.real_time_seconds
    measured = _at_devices(role, summary)
    read, written = measured or _by_reach(io, summary)
    return PlacementDemand(
        role=role,
        read_bytes=io.read_bytes,
        written_bytes=io.written_bytes,
        share_ratio=calls.share_ratio,
        read_ratio=_ratio(io.read_bytes, io.read_bytes + io.written_bytes),
        device_read_bytes=read,
        device_written_bytes=written,
        device_measured=measured is not None,
        sequential_read_ratio=_ratio(io.sequential_read_bytes, io.read_bytes),
        sequential_write_ratio=_ratio(io.sequential_written_bytes, io.written_bytes),
        read_request_bytes=calls.read_request_bytes.p50,
        write_request_bytes=calls.write_request_bytes.p50,
        read_latency_seconds=calls.read_latency_seconds.mean,
        write_latency_seconds=calls.write_latency_seconds.mean,
        blocked_seconds=blocked,
        blocked_ratio=_ratio(blocked, real or 0.0),
        streams=max(inside / elapsed if elapsed else 1.0, 1.0),
        peak_used_bytes=summary.roles.of(role).peak_used_bytes,
        volumes=[volume for volume in facts.volumes if volume.role == role],
    )


def _at_devices(role: Role, summary: Summary) -> tuple[float, float] | None:
    devices = summary.io.devices_by_role
    own = devices.of(role) if devices else None
    if own is None or own.read_bytes is None or own.written_bytes is None:
        return None
    return own.read_bytes, own.written_bytes


def _by_reach(io: RoleIo, summary: Summary) -> tuple[float | None, float | None]:
    reach = summary.io.reach
    if reach.read_ratio is None or reach.write_ratio is None:
        return None, None
    return io.read_bytes * reach.read_ratio, io.written_bytes * reach.write_ratio


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


MOST_OVERLAP = value_of("placement.most_overlap")
"""Reads and writes beside each other take half of the time of one after the other, at best."""

LITTLE_RATIO = value_of("placement.little_ratio")
"""A part of the bytes so small that its pattern does not matter."""

PATTERNS: tuple[Pattern, ...] = ("sequential", "random")
WAYS: tuple[Direction, ...] = ("read", "write")

FLASH_RATIO = value_of("placement.flash_ratio")
"""A target that reads at random at a quarter of its sequential rate or more seeks for nothing."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A role's bytes on a target: seconds of the target's time, the rate, and response times.

    ``assumed`` are what the probe did not test, in sentences.
    """

    seconds: float
    bytes_per_second: float | None
    read_latency_seconds: float | None
    write_latency_seconds: float | None
    assumed: list[str]


def service(target: ProbeTarget, demand: PlacementDemand, *, ordered: bool = True) -> Service | None:
    """How long the target needs for the bytes of a role (docs/design/volumes.md, The model).

    Each direction at the rate of the tests nearest to the role's request size and streams, the random
    part at the random rate; both directions overlap as far as the mixed test did.  ``ordered``: all
    writes are sequential at the device, as write-back makes them.  None where the probe has no figures
    for a direction that the role uses.
    """
    assumed: list[str] = []
    read, written = demand.moved
    reading = _direction(target, demand, "read", read, assumed, demand.sequential_read_ratio)
    sequential_writes = 1.0 if ordered else demand.sequential_write_ratio
    writing = _direction(target, demand, "write", written, assumed, sequential_writes)
    if reading is None or writing is None:
        return None
    (read_seconds, read_figures), (write_seconds, write_figures) = reading, writing
    both = (read_seconds + write_seconds) / overlap(target, demand)
    seconds = max(both, read_seconds, write_seconds)
    return Service(
        seconds=seconds,
        bytes_per_second=(read + written) / seconds if seconds else None,
        read_latency_seconds=_mean(read_figures),
        write_latency_seconds=_mean(write_figures),
        assumed=assumed,
    )


def _direction(
    target: ProbeTarget,
    demand: PlacementDemand,
    direction: Direction,
    moved: float,
    assumed: list[str],
    share: float | None,
) -> tuple[float, ProbeFigures | None] | None:
    """Seconds for the bytes of one direction, and the figures of the pattern that most of them have."""
    reads = direction == "read"
    size = (demand.read_request_bytes if reads else demand.write_request_bytes) or PAPERS_REQUEST_BYTES
    sequential = 1.0 if share is None else share
    rates: dict[Pattern, ProbeFigures] = {}
    for pattern in PATTERNS:
        test = by_streams(target, direction, pattern, size, demand.streams)
        figures = None if test is None else figures_of(test, direction)
        if figures is not None and figures.bytes_per_second:
            rates[pattern] = figures
    if not moved:
        return 0.0, next(iter(rates.values()), None)
    if not rates:
        return None
    parts: dict[Pattern, float] = {"sequential": sequential, "random": 1.0 - sequential}
    for pattern, part in parts.items():
        if pattern not in rates and part > LITTLE_RATIO:
            other = next(iter(rates))
            assumed.append(
                f"{target.name}: no {pattern} {direction} was probed, its {other} rate stands in "
                f"for {format_percent(part)} of the bytes of {demand.role}"
            )
    default = next(iter(rates.values()))
    seconds = sum(moved * part / rates.get(name, default).bytes_per_second for name, part in parts.items())
    return seconds, rates.get(max(parts, key=lambda name: parts[name]), default)


def overlap(target: ProbeTarget, demand: PlacementDemand) -> float:
    """How far reads and writes run beside each other: 1 (they share one budget) to 2 (each has its own).

    The mixed test's rate over what its shares would give one after the other; 1 without a mixed test.
    """
    size = demand.read_request_bytes or demand.write_request_bytes or PAPERS_REQUEST_BYTES
    tests = (by_streams(target, "mixed", pattern, size, demand.streams) for pattern in PATTERNS)
    mixed = next((test for test in tests if test is not None), None)
    if mixed is None:
        return 1.0
    # In one second of the mixed test: the seconds that its reads, and its writes, would take by themselves.
    seconds = 0.0
    for way in WAYS:
        alone = by_streams(target, way, mixed.pattern, mixed.request_bytes, mixed.streams)
        if alone is None or not _rate(alone, way) or not _rate(mixed, way):
            return 1.0
        seconds += _rate(mixed, way) / _rate(alone, way)
    return min(max(seconds, 1.0), MOST_OVERLAP)


def flash_like(target: ProbeTarget) -> bool | None:
    """Whether random reads run at ``FLASH_RATIO`` of the sequential rate or more; None if not probed."""
    randoms = comparable(target, "read", "random")
    if not randoms:
        return None
    test = max(randoms, key=lambda one: one.request_bytes)
    other = by_streams(target, "read", "sequential", test.request_bytes, test.streams)
    if other is None or not _rate(other, "read"):
        return None
    return _rate(test, "read") / _rate(other, "read") >= FLASH_RATIO


def _mean(figures: ProbeFigures | None) -> float | None:
    return None if figures is None else figures.latency_seconds.get("mean")


def _rate(test: ProbeTest, direction: Direction) -> float:
    """Bytes a second one way; 0 where the test has no figures of it."""
    figures = figures_of(test, direction)
    return figures.bytes_per_second if figures else 0.0
