"""What each role asked of its devices in a run, beside what a probe found that they can do."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Block, Missing
from mawl.analysis.capability import figures_of, nearest, words_of
from mawl.analysis.series import Samples
from mawl.analysis.throughput import Counters, side_in_time
from mawl.analysis.windows import Windows
from mawl.model.probe import Pattern, Probe, ProbeTarget, ProbeTest
from mawl.model.records import JobRecord
from mawl.model.run import RunFacts, VolumeFacts
from mawl.spec.options import ROLES, Role
from mawl.units import format_instant

PATH = "storage.by_role.*"
MOSTLY_SEQUENTIAL_RATIO = 0.5
FIGURES = ("peak", "sustained")


def storage_block(
    facts: RunFacts,
    by_role: Block | None,
    jobs: Sequence[JobRecord],
    windows: Windows | None,
    samples: Samples | None,
    probe: Probe | str | None,
    missing: Missing,
) -> Block | None:
    """``storage`` of a summary; None without a probe.  ``probe`` may be why it cannot be read.

    Demand is what moved at the devices of a role, whoever asked: what the page cache served is no
    demand on storage.  Roles on the same devices share their demand, and the block says with whom.
    """
    if probe is None or isinstance(probe, str):
        missing["storage"] = probe or "the run folder holds no probe (mawl probe --run RUN)"
        return None
    return {
        "tool": probe.tool,
        "probed_at": format_instant(probe.created_at),
        "by_role": {
            role: _role(role, facts, (by_role or {}).get(role), jobs, windows, samples, probe, missing)
            for role in ROLES
        },
    }


def _role(
    role: Role,
    facts: RunFacts,
    calls: Block | None,
    jobs: Sequence[JobRecord],
    windows: Windows | None,
    samples: Samples | None,
    probe: Probe,
    missing: Missing,
) -> Block:
    path = f"storage.by_role.{role}"
    volumes = [volume for volume in facts.volumes if volume.role == role]
    devices = sorted({device for volume in volumes for device in volume.devices})
    targets = _targets(role, volumes, probe)
    demand: Block | None = None
    if devices and all(volume.devices for volume in volumes):
        names = [[f"device.{name}.{way}_bytes" for name in devices] for way in ("read", "written")]
        counters = Counters(f"block devices {', '.join(devices)}", *names)
        demand = side_in_time(path, counters, facts, jobs, windows, samples, {})
    pattern: Pattern = "sequential"
    if (
        calls
        and calls["sequential_ratio"] is not None
        and calls["sequential_ratio"] < MOSTLY_SEQUENTIAL_RATIO
    ):
        pattern = "random"
    block: Block = {
        "devices": devices,
        "shared_with": sorted({other for volume in volumes for other in volume.shared_with}),
        "targets": [] if isinstance(targets, str) else [target.name for target in targets],
        "pattern": pattern,
    }
    for direction in ("read", "write"):
        asked = calls[f"{direction}_request_bytes"]["p50"] if calls else None
        own = f"{path}.{direction}"
        missing[f"{own}.request_bytes"] = (
            "no such calls of the role were counted; compared with the nearest to 256 KiB"
        )
        tests = _tests(targets, direction, pattern, asked)
        block[direction] = {
            "request_bytes": asked,
            **_rates(demand, direction, own, missing),
            **_capability(tests, direction, own, missing),
        }
        _used(block[direction], own, missing)
    return block


def _rates(demand: Block | None, direction: str, path: str, missing: Missing) -> Block:
    """Peak and sustained rate at the devices."""
    rates: Block = {}
    for figure in FIGURES:
        name = f"{figure}_bytes_per_second"
        rates[name] = demand[figure][f"{direction}_bytes_per_second"] if demand else None
        missing[f"{path}.{name}"] = (
            "no samples of the devices cover a window of the run"
            if demand
            else "no block device of the role is known"
        )
    return rates


def _targets(role: Role, volumes: Sequence[VolumeFacts], probe: Probe) -> list[ProbeTarget] | str:
    """The probed target of each volume, those on the same devices once; or why that cannot be said."""
    if not volumes:
        return "the run does not say what holds the role"
    found: dict[tuple[str, ...], ProbeTarget] = {}
    for volume in volumes:
        fitting = [target for target in probe.targets if _fits(target, volume)]
        if not fitting:
            return f"the probe has no target on the storage of {volume.directory}"
        # Of several on the same devices the one that was meant for this role, at this place, and has figures.
        best = max(
            fitting,
            key=lambda one: (bool(one.tests), role in one.roles, one.directory == volume.directory),
        )
        found[tuple(best.devices) or (best.name,)] = best
    return list(found.values())


def _fits(target: ProbeTarget, volume: VolumeFacts) -> bool:
    if target.node != volume.node:
        return False
    if target.devices or volume.devices:
        return sorted(target.devices) == sorted(volume.devices)
    return target.directory == volume.directory or (
        target.source == volume.source and volume.network and volume.source is not None
    )


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


def _capability(tests: list[ProbeTest] | str, direction: str, path: str, missing: Missing) -> Block:
    """The rate of the nearest test; of several volumes the sum, though they were probed one at a time."""
    if isinstance(tests, str):
        missing |= {f"{path}.capability_bytes_per_second": tests, f"{path}.test": tests}
        return {"capability_bytes_per_second": None, "test": None}
    rates = [figures.bytes_per_second for test in tests if (figures := figures_of(test, direction))]
    each = "" if len(tests) == 1 else f", the sum of {len(tests)} volumes probed one at a time"
    return {"capability_bytes_per_second": sum(rates), "test": words_of(tests[0]) + each}


def _used(block: Block, path: str, missing: Missing) -> None:
    """Demand over capability."""
    for figure in FIGURES:
        asked, able = block[f"{figure}_bytes_per_second"], block["capability_bytes_per_second"]
        lacking = "capability_bytes_per_second" if able is None else f"{figure}_bytes_per_second"
        missing[f"{path}.{figure}_used_ratio"] = missing.get(f"{path}.{lacking}", "the capability is zero")
        block[f"{figure}_used_ratio"] = None if asked is None or not able else asked / able
