"""System descriptions from what ``mawl probe`` measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from mawl.base.errors import UsageError
from mawl.figures.demand import comparable, figures_of
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeFigures, ProbeTarget, ProbeTest
from mawl.records.spec.program_options import ROLES
from mawl.simulation.system import RESERVED, Device, NodeKind, System, spinning_streams_of

SHARED_RATIO = 0.9
"""Directions share a bound where mixed requests get less than this part of what two separate ones allow."""


def probed_system(
    probe: Probe, *, name: str, memory_bytes: float, threads_per_core: int = 1
) -> tuple[System, list[str]]:
    """One node with the probed devices, and what the probe could not tell, in sentences.

    Targets on the same device are one device.  Rates are the highest sequential ones of direct tests
    at 256 KiB (or nearest), latency the least of one request, the bound on requests the most of any test; a
    role without a target of its own lies where ``work`` does, or the first role that has one.
    Raises ``UsageError`` where no target has both sequential rates, or the cores are not
    known.
    """
    if not probe.physical_cores:
        raise UsageError("the probe does not know the cores of its node", cure="probe again on that node")
    devices: dict[str, Device] = {}
    roles: dict[str, tuple[str, ...]] = {}
    remarks: list[str] = []
    sources: dict[str, str] = {}
    for named, targets in _by_device(probe.targets).items():
        device = probed_device(named, targets)
        if isinstance(device, str):
            remarks.append(f"{named} is left out: {device}")
            continue
        devices[named] = device
        sources |= {
            f"devices.{named}.{field}": f"measured: {probe.tool}"
            for field, value in vars(device).items()
            if field not in ("name", "local") and value
        }
        for role in {role for target in targets for role in target.roles}:
            roles[role] = (*roles.get(role, ()), named)
    if not devices:
        raise UsageError(
            "no probed target has both sequential rates",
            why="; ".join(remarks) or "nothing was probed",
            cure="probe with the default tests, or with --patterns sequential-read,sequential-write",
        )
    held = roles.get("work") or next(iter(roles.values()), (next(iter(devices)),))
    for role in ROLES:
        if role not in roles:
            roles[role] = held
            remarks.append(f"{role} was not probed; it is taken to lie on {', '.join(held)}")
    node = NodeKind(
        count=1,
        cores=probe.physical_cores,
        memory_bytes=memory_bytes,
        roles={role: roles[role] for role in ROLES},
        threads_per_core=threads_per_core,
    )
    sources |= {f"nodes.0.{field}": "measured: /proc" for field in ("cores", "memory_bytes")}
    return System(name=name, nodes=(node,), devices=tuple(devices.values()), sources=sources), remarks


def _by_device(targets: Iterable[ProbeTarget]) -> dict[str, list[ProbeTarget]]:
    found: dict[str, list[ProbeTarget]] = {}
    for target in targets:
        plain = re.sub(r"[^a-z0-9-]+", "-", "-".join(target.devices or [target.name]).lower()).strip("-")
        if not plain or plain in RESERVED or plain in ROLES:
            plain = f"device-{plain}".rstrip("-")
        found.setdefault(plain, []).append(target)
    return found


def probed_device(name: str, targets: Sequence[ProbeTarget]) -> Device | str:
    """The device of these targets; which sequential test it lacks."""
    rates = [_rate(targets, direction) for direction in ("read", "write")]
    read, write = rates
    if read is None or write is None:
        return f"it has no sequential {_lacking(rates)} test with figures"
    return Device(
        name=name,
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        shared_bytes_per_second=_shared(targets, read, write),
        latency_seconds=_latency(targets),
        requests_per_second=max((one.requests_per_second for one in _figures(targets)), default=0.0) or None,
        spinning_streams=_half_streams(targets),
    )


def _rate(targets: Sequence[ProbeTarget], direction: str) -> float | None:
    """The highest sequential rate at the papers' request size, or at the nearest that was tested."""
    tests = [test for target in targets for test in comparable(target, direction, "sequential")]
    if not tests:
        return None
    size = min((test.request_bytes for test in tests), key=lambda own: abs(own - PAPERS_REQUEST_BYTES))
    found = [figures_of(test, direction) for test in tests if test.request_bytes == size]
    return max((one.bytes_per_second for one in found if one is not None), default=0.0) or None


def _lacking(rates: list[float | None]) -> str:
    return " and ".join(way for way, rate in zip(("read", "write"), rates, strict=True) if rate is None)


def _figures(
    targets: Sequence[ProbeTarget], wanted: Callable[[ProbeTest], bool] = lambda test: test.direct
) -> list[ProbeFigures]:
    return [
        figures
        for target in targets
        for test in target.tests
        for figures in (test.read, test.write)
        if figures is not None and wanted(test)
    ]


def _latency(targets: Sequence[ProbeTarget]) -> float:
    """The least mean time of a direct request by the fewest streams; 0 where no direct test has one."""
    tests = [test for target in targets for test in target.tests if test.direct and (test.read or test.write)]
    fewest = min((test.streams for test in tests), default=0)
    found = _figures(targets, lambda test: test.direct and test.streams == fewest)
    return min((one.latency_seconds["mean"] for one in found if "mean" in one.latency_seconds), default=0.0)


def _shared(targets: Sequence[ProbeTarget], read: float, write: float) -> float | None:
    """What sequential mixed requests get in both directions, where that is less than two bounds allow."""
    bounds: list[float] = []
    for target in targets:
        for test in comparable(target, "mixed", "sequential"):
            if test.read is None or test.write is None:
                continue
            total = test.read.bytes_per_second + test.write.bytes_per_second
            share = test.read.bytes_per_second / total if total else 0.0
            if 0 < share < 1 and total < SHARED_RATIO * min(read / share, write / (1 - share)):
                bounds.append(total)
    return max(bounds, default=None)


def _half_streams(targets: Sequence[ProbeTarget]) -> float | None:
    """Streams at which sequential reads have fallen to half of one stream's rate.

    With n streams a part 1 - 1/n of the requests begins with a seek: r(n) = r(1) / (1 + k (1 - 1/n)), as the
    engine shares a spinning device; k comes from the test by most streams.  None where it does not fall, or
    never to half (k of 1 or less).
    """
    rates: dict[int, float] = {}
    for target in targets:
        for test in comparable(target, "read", "sequential"):
            if test.read is not None and test.request_bytes == PAPERS_REQUEST_BYTES:
                rates[test.streams] = max(rates.get(test.streams, 0.0), test.read.bytes_per_second)
    most = max(rates, default=1)
    if 1 not in rates or most == 1 or not rates[most]:
        return None
    return spinning_streams_of((rates[1] / rates[most] - 1.0) / (1.0 - 1.0 / most))
