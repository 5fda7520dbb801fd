"""What each role asked of its devices in a run, next to what a probe measured on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from mawl.base.units import format_instant, format_request
from mawl.figures.missing import Missing
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Windows
from mawl.figures.throughput import Counters, SideInTime, is_placed, side_in_time
from mawl.records.model.probe import (
    PAPERS_REQUEST_BYTES,
    Pattern,
    Probe,
    ProbeFigures,
    ProbeTarget,
    ProbeTest,
)
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts, VolumeFacts
from mawl.records.model.summary.io import RoleFigures
from mawl.records.model.summary.storage import RoleDemand, RoleStorage, Storage
from mawl.records.spec.program_options import ROLES, Role


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
    return [test for test, mark in zip(tests, marks, strict=True) if mark] or tests


def _rate(test: ProbeTest, direction: str) -> float:
    figures = figures_of(test, direction)
    return figures.bytes_per_second if figures else 0.0


MOSTLY_SEQUENTIAL_RATIO = 0.5
FIGURES = ("peak", "sustained")


def storage_block(
    facts: RunFacts,
    by_role: Mapping[str, RoleFigures] | None,
    jobs: Sequence[JobRecord],
    windows: Windows | None,
    samples: RunSamples | None,
    probe: Probe | str | None,
    missing: Missing,
) -> Storage | None:
    """``storage`` of a summary; None without a probe.  ``probe`` may be why it cannot be read.

    Demand is what moved at the devices of a role, whoever asked: what the page cache served is no
    demand on storage.  Roles on the same devices share their demand, and the block says with whom.
    """
    if probe is None or isinstance(probe, str):
        missing["storage"] = probe or "the run folder holds no probe (mawl probe --run RUN)"
        return None
    return Storage(
        tool=probe.tool,
        probed_at=format_instant(probe.created_at),
        by_role={
            role: _role(role, facts, (by_role or {}).get(role), jobs, windows, samples, probe, missing)
            for role in ROLES
        },
    )


def _role(
    role: Role,
    facts: RunFacts,
    calls: RoleFigures | None,
    jobs: Sequence[JobRecord],
    windows: Windows | None,
    samples: RunSamples | None,
    probe: Probe,
    missing: Missing,
) -> RoleStorage:
    path = f"storage.by_role.{role}"
    volumes = [volume for volume in facts.volumes if volume.role == role]
    devices = sorted({device for volume in volumes for device in volume.devices})
    targets = _targets(role, volumes, probe)
    demand: SideInTime | None = None
    if devices and all(map(is_placed, volumes)):
        names = [[f"device.{name}.{way}_bytes" for name in devices] for way in ("read", "written")]
        counters = Counters(f"block devices {', '.join(devices)}", *names)
        demand = side_in_time(path, counters, facts, jobs, windows, samples, {})
    pattern: Pattern = "sequential"
    sequential = calls.sequential_ratio if calls else None
    if sequential is not None and sequential < MOSTLY_SEQUENTIAL_RATIO:
        pattern = "random"
    read = (demand.peak.read_bytes_per_second, demand.sustained.read_bytes_per_second) if demand else None
    write = (demand.peak.write_bytes_per_second, demand.sustained.write_bytes_per_second) if demand else None
    read_size, write_size = (
        (calls.read_request_bytes.p50, calls.write_request_bytes.p50) if calls else (None, None)
    )
    shared = {other for volume in volumes for other in volume.shared_with}
    shared_with = _in_these_figures(role, volumes, facts.volumes) if devices else sorted(shared)
    reading = _tests(targets, "read", pattern, read_size)
    writing = _tests(targets, "write", pattern, write_size)
    return RoleStorage(
        devices=devices,
        shared_with=[*shared_with],
        disks_shared_with=sorted(shared - {*shared_with}),
        targets=[] if isinstance(targets, str) else [target.name for target in targets],
        pattern=pattern,
        read=_demand(read_size, read, reading, "read", f"{path}.read", missing),
        write=_demand(write_size, write, writing, "write", f"{path}.write", missing),
    )


def _in_these_figures(role: Role, volumes: Sequence[VolumeFacts], every: Sequence[VolumeFacts]) -> list[Role]:
    """The other roles whose bytes pass through a device that these file systems name."""
    own = {(volume.node, device) for volume in volumes for device in volume.devices}
    found: set[Role] = {
        volume.role
        for volume in every
        if own & {(volume.node, device) for device in (*volume.devices, *volume.layers)}
    }
    return sorted(found - {role})


def _demand(
    request_bytes: int | None,
    rates: tuple[float | None, float | None] | None,
    tests: list[ProbeTest] | str,
    direction: str,
    path: str,
    missing: Missing,
) -> RoleDemand:
    """One direction; ``rates`` are peak and sustained at the devices, None where no device is known."""
    missing[f"{path}.request_bytes"] = (
        "no such calls of the role were counted; compared with the nearest to 256 KiB"
    )
    for figure in FIGURES:
        missing[f"{path}.{figure}_bytes_per_second"] = (
            "no samples of the devices cover a window of the run"
            if rates
            else "no block device of the role is known"
        )
    peak, sustained = rates or (None, None)
    able, test = _capability(tests, direction, path, missing)
    return RoleDemand(
        request_bytes=request_bytes,
        peak_bytes_per_second=peak,
        sustained_bytes_per_second=sustained,
        capability_bytes_per_second=able,
        test=test,
        peak_used_ratio=_used("peak", peak, able, path, missing),
        sustained_used_ratio=_used("sustained", sustained, able, path, missing),
    )


def _targets(role: Role, volumes: Sequence[VolumeFacts], probe: Probe) -> list[ProbeTarget] | str:
    if not volumes:
        return "the run does not say what holds the role"
    targets: dict[tuple[str, ...], ProbeTarget] = {}
    for volume in volumes:
        fitting = targets_of(volume, probe.targets)
        if not fitting:
            return f"the probe has no target on the storage of {volume.directory}"
        # Of several on the same devices the one that was meant for this role, at this place, and has figures.
        best = max(
            fitting,
            key=lambda one: (bool(one.tests), role in one.roles, one.directory == volume.directory),
        )
        targets[tuple(best.devices) or (best.name,)] = best
    return list(targets.values())


def _tests(
    targets: list[ProbeTarget] | str, direction: str, pattern: Pattern, request_bytes: float | None
) -> list[ProbeTest] | str:
    if isinstance(targets, str):
        return targets
    tests = []
    for target in targets:
        test = nearest(target, direction, pattern, request_bytes)
        if test is None:
            return f"the probe of {target.name} has no {pattern} {direction} test with figures"
        tests.append(test)
    return tests


def _capability(
    tests: list[ProbeTest] | str, direction: str, path: str, missing: Missing
) -> tuple[float | None, str | None]:
    """The rate of the nearest test; of several volumes the sum, though they were probed one at a time."""
    if isinstance(tests, str):
        missing |= {f"{path}.capability_bytes_per_second": tests, f"{path}.test": tests}
        return None, None
    rates = [figures.bytes_per_second for test in tests if (figures := figures_of(test, direction))]
    each = "" if len(tests) == 1 else f", the sum of {len(tests)} volumes probed one at a time"
    return sum(rates), words_of(tests[0]) + each


def _used(figure: str, asked: float | None, able: float | None, path: str, missing: Missing) -> float | None:
    lacking = "capability_bytes_per_second" if able is None else f"{figure}_bytes_per_second"
    missing[f"{path}.{figure}_used_ratio"] = missing.get(f"{path}.{lacking}", "the capability is zero")
    return None if asked is None or not able else asked / able
