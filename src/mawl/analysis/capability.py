"""What a probe says a target can do: the test that is nearest to what somebody asks of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from mawl.model.probe import PAPERS_REQUEST_BYTES, Pattern, ProbeFigures, ProbeTarget, ProbeTest
from mawl.model.run import VolumeFacts
from mawl.units import format_request


def figures_of(test: ProbeTest, direction: str) -> ProbeFigures | None:
    """The figures of one direction."""
    return test.read if direction == "read" else test.write


def targets_of(volume: VolumeFacts, targets: Sequence[ProbeTarget]) -> list[ProbeTarget]:
    """The targets on the storage of a volume.

    They are on the volume's node and devices, in a file system of the same size: the kernel gives the name
    of a device to another one after a reboot.  Where one of the two names no devices, they are in its
    directory or on the same export of a network.
    """

    def fits(target: ProbeTarget) -> bool:
        if target.node != volume.node:
            return False
        if target.devices and volume.devices:
            sizes = {target.size_bytes, volume.size_bytes} - {None}
            return len(sizes) < 2 and sorted(target.devices) == sorted(volume.devices)
        return target.directory == volume.directory or (
            target.source == volume.source and volume.network and volume.source is not None
        )

    return [target for target in targets if fits(target)]


def words_of(test: ProbeTest) -> str:
    """``sequential read, 256 KiB, 2 streams, direct``."""
    streams = "1 stream" if test.streams == 1 else f"{test.streams} streams"
    how = "direct" if test.direct else "buffered"
    return f"{test.pattern} {test.direction}, {format_request(test.request_bytes)}, {streams}, {how}"


def comparable(target: ProbeTarget, direction: str, pattern: Pattern) -> list[ProbeTest]:
    """Its tests of one direction alone and one pattern that gave figures, all made in the same way.

    Direct ones where there are any, since the page cache is no storage; incompressible ones; of
    several fill levels those at the lowest.
    """
    tests = [
        test
        for test in target.tests
        if (test.direction, test.pattern) == (direction, pattern) and figures_of(test, direction) is not None
    ]
    tests = _preferred(tests, [test.direct for test in tests])
    tests = _preferred(tests, [test.content == "incompressible" for test in tests])
    lowest = min((test.fill_ratio or 0.0 for test in tests), default=0.0)
    return [test for test in tests if (test.fill_ratio or 0.0) == lowest]


def nearest(
    target: ProbeTarget, direction: str, pattern: Pattern, request_bytes: float | None
) -> ProbeTest | None:
    """The test at the nearest request size (by ratio), and of these the one with the highest rate.

    None where the target has no such test; a size that is not known is taken as 256 KiB.
    """
    wanted = request_bytes or PAPERS_REQUEST_BYTES
    tests = comparable(target, direction, pattern)
    if not tests:
        return None
    size = min((test.request_bytes for test in tests), key=lambda own: abs(math.log(own / wanted)))
    return max(
        (test for test in tests if test.request_bytes == size), key=lambda test: _rate(test, direction)
    )


def by_streams(
    target: ProbeTarget, direction: str, pattern: Pattern, request_bytes: float, streams: float
) -> ProbeTest | None:
    """The test at the nearest request size, and of these by the nearest number of streams (by ratio)."""
    return min(
        comparable(target, direction, pattern),
        key=lambda test: (
            abs(math.log2(test.request_bytes / request_bytes)),
            abs(math.log2(test.streams / streams)),
        ),
        default=None,
    )


def _preferred(tests: list[ProbeTest], marks: Iterable[bool]) -> list[ProbeTest]:
    """Those that are marked, or all where none is."""
    return [test for test, mark in zip(tests, marks, strict=True) if mark] or tests


def _rate(test: ProbeTest, direction: str) -> float:
    figures = figures_of(test, direction)
    return figures.bytes_per_second if figures else 0.0
