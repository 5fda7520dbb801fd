"""What a probed target would do for the demand of a role."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mawl.model.probe import Direction, Pattern, ProbeFigures, ProbeTarget, ProbeTest
from mawl.model.thresholds import value_of
from mawl.placement.demand import PlacementDemand

MOST_OVERLAP = value_of("placement.most_overlap")
"""Reads and writes beside each other take half of the time of one after the other, at best."""

LITTLE_RATIO = value_of("placement.little_ratio")
"""A part of the bytes so small that its pattern does not matter."""

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
    size = (demand.read_request_bytes if reads else demand.write_request_bytes) or 2**18
    sequential = 1.0 if share is None else share
    found = {
        pattern: nearest(target.tests, pattern, direction, size, demand.streams)
        for pattern in ("sequential", "random")
    }
    rates = {pattern: _figures(test, direction) for pattern, test in found.items() if test is not None}
    if not moved:
        return 0.0, next(iter(rates.values()), None)
    if not rates:
        return None
    parts = {"sequential": sequential, "random": 1.0 - sequential}
    for pattern, part in parts.items():
        if pattern not in rates and part > LITTLE_RATIO:
            other = next(iter(rates))
            assumed.append(
                f"{target.name}: no {pattern} {direction} was probed, its {other} rate stands in "
                f"for {part:.0%} of the bytes of {demand.role}"
            )
    default = next(iter(rates.values()))
    seconds = sum(moved * part / rates.get(name, default).bytes_per_second for name, part in parts.items())
    return seconds, rates.get(max(parts, key=lambda name: parts[name]), default)


def nearest(
    tests: Sequence[ProbeTest], pattern: Pattern | str, direction: Direction, size: int, streams: float
) -> ProbeTest | None:
    """The test of a pattern and direction nearest in request size, then in streams; direct ones first.

    Nearness is that of logarithms: 64 KiB is as near to 256 KiB as 1 MiB is.
    """

    def distance(test: ProbeTest) -> tuple[bool, float, float]:
        return (
            not test.direct,
            abs(math.log2(test.request_bytes / size)),
            abs(math.log2(test.streams / streams)),
        )

    usable = [
        test
        for test in tests
        if test.pattern == pattern and test.direction == direction and _usable(test, direction)
    ]
    return min(usable, key=distance, default=None)


def overlap(target: ProbeTarget, demand: PlacementDemand) -> float:
    """How far reads and writes run beside each other: 1 (they share one budget) to 2 (each has its own).

    The mixed test's rate over what its shares would give one after the other; 1 without a mixed test.
    """
    size = demand.read_request_bytes or demand.write_request_bytes or 2**18
    mixed = nearest(target.tests, "sequential", "mixed", size, demand.streams) or nearest(
        target.tests, "random", "mixed", size, demand.streams
    )
    if mixed is None or mixed.read is None or mixed.write is None:
        return 1.0
    alone = [
        nearest(target.tests, mixed.pattern, direction, mixed.request_bytes, mixed.streams)
        for direction in ("read", "write")
    ]
    if alone[0] is None or alone[1] is None:
        return 1.0
    pairs = ((mixed.read, _figures(alone[0], "read")), (mixed.write, _figures(alone[1], "write")))
    # In one second of the mixed test: the seconds that its reads, and its writes, would take by themselves.
    return min(max(sum(one.bytes_per_second / by.bytes_per_second for one, by in pairs), 1.0), MOST_OVERLAP)


def flash_like(target: ProbeTarget) -> bool | None:
    """Whether random reads run at :data:`FLASH_RATIO` of the sequential rate or more; None if not probed."""
    randoms = [test for test in target.tests if test.pattern == "random" and _usable(test, "read")]
    randoms = [test for test in randoms if test.direction == "read"]
    if not randoms:
        return None
    test = max(randoms, key=lambda one: (one.direct, one.request_bytes))
    other = nearest(target.tests, "sequential", "read", test.request_bytes, test.streams)
    if other is None:
        return None
    ratio = _figures(test, "read").bytes_per_second / _figures(other, "read").bytes_per_second
    return ratio >= FLASH_RATIO


def _mean(figures: ProbeFigures | None) -> float | None:
    return None if figures is None else figures.latency_seconds.get("mean")


def _usable(test: ProbeTest, direction: Direction) -> bool:
    sides = (test.read, test.write) if direction == "mixed" else (_side(test, direction),)
    return (
        test.request_bytes > 0
        and test.streams > 0
        and all(side is not None and side.bytes_per_second > 0 for side in sides)
    )


def _side(test: ProbeTest, direction: Direction | str) -> ProbeFigures | None:
    return test.read if direction == "read" else test.write


def _figures(test: ProbeTest, direction: Direction | str) -> ProbeFigures:
    side = _side(test, direction)
    assert side is not None, "a usable test has figures"
    return side
