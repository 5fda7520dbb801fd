"""What each role asked of its devices in a run, beside what a probe found that they can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mawl.analysis.blocks import Missing
from mawl.analysis.capability import figures_of, nearest, targets_of, words_of
from mawl.analysis.series import RunSamples
from mawl.analysis.throughput import Counters, SideInTime, side_in_time
from mawl.analysis.windows import Windows
from mawl.model.probe import Pattern, Probe, ProbeTarget, ProbeTest
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts, VolumeFacts
from mawl.model.summary.io import RoleFigures
from mawl.model.summary.storage import RoleDemand, RoleStorage, Storage
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_instant

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
    if devices and all(volume.devices for volume in volumes):
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
    """The probed target of each volume, those on the same devices once; or why that cannot be said."""
    if not volumes:
        return "the run does not say what holds the role"
    found: dict[tuple[str, ...], ProbeTarget] = {}
    for volume in volumes:
        fitting = targets_of(volume, probe.targets)
        if not fitting:
            return f"the probe has no target on the storage of {volume.directory}"
        # Of several on the same devices the one that was meant for this role, at this place, and has figures.
        best = max(
            fitting,
            key=lambda one: (bool(one.tests), role in one.roles, one.directory == volume.directory),
        )
        found[tuple(best.devices) or (best.name,)] = best
    return list(found.values())


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
    """Demand over capability."""
    lacking = "capability_bytes_per_second" if able is None else f"{figure}_bytes_per_second"
    missing[f"{path}.{figure}_used_ratio"] = missing.get(f"{path}.{lacking}", "the capability is zero")
    return None if asked is None or not able else asked / able
