"""System descriptions from what ``mawl probe`` measured, and with single figures changed by ``--set``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.figures.demand import comparable, figures_of
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeFigures, ProbeTarget, ProbeTest
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.simulation.measured_system import cores_of
from mawl.simulation.system import FABRICS, RESERVED, Device, NodeKind, System, spinning_streams_of

OF_NODES = {
    "cores": "cores",
    "core_speed": "core_speed",
    "memory": "memory_bytes",
    "link": "link_bytes_per_second",
}
OF_DEVICES = {
    "read": "read_bytes_per_second",
    "write": "write_bytes_per_second",
    "shared": "shared_bytes_per_second",
    "latency": "latency_seconds",
    "requests": "requests_per_second",
    "spinning_streams": "spinning_streams",
}
IN_BYTES = frozenset({"memory", "link", "fabric", "read", "write", "shared"})

FLASH = Device(
    name="flash",
    read_bytes_per_second=2e9,
    write_bytes_per_second=1e9,
    latency_seconds=1e-4,
    local=True,
)
"""What ``ROLE=flash`` is on a system that describes no device of that name: assumed, one NVMe drive of the
middle class (figures of no particular drive)."""

KEYS = (
    f"{', '.join(OF_NODES)}, fabric, a role ({', '.join(ROLES)}) with the devices that hold it, "
    f"or DEVICE.FIGURE with one of {', '.join(OF_DEVICES)}"
)


@dataclass(frozen=True)
class SystemChange:
    """A key and its value, as given."""

    key: str
    value: str


def parse_change(text: str) -> SystemChange:
    """``KEY=VALUE``; ``UsageError`` for anything else."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise UsageError(f"--set {text!r}: expected KEY=VALUE", cure=f"a KEY is {KEYS}")
    return SystemChange(key, value)


def apply_changes(system: System, changes: Sequence[SystemChange]) -> System:
    """The system with the changes, in order; what they set counts as assumed.

    Raises ``UsageError`` for a key that names nothing, and what
    ``System`` raises for figures that no system can have.
    """
    for change in changes:
        system = _apply_change(system, change)
    return system


def _apply_change(system: System, change: SystemChange) -> System:
    key, where = change.key, f"--set {change.key}={change.value}"
    if key in ROLES:
        return _moved(system, key, change.value)
    if key == "fabric":
        rate = _figure(key, change.value, where)
        # The bound of both directions belongs to the fabric that is replaced.
        sources = {path: source for path, source in system.sources.items() if path not in FABRICS}
        system = replace(system, sources=sources, fabric_shared_bytes_per_second=None)
        return replace(_assumed(system, "fabric_bytes_per_second"), fabric_bytes_per_second=rate)
    if key in OF_NODES:
        figure: dict[str, Any] = {OF_NODES[key]: _figure(key, change.value, where)}
        return replace(
            _assumed(system, *_of_nodes(system, OF_NODES[key])),
            nodes=tuple(replace(kind, **figure) for kind in system.nodes),
        )
    name, dot, word = key.rpartition(".")
    names = [device.name for device in system.devices]
    if not dot or word not in OF_DEVICES or name not in names:
        raise UsageError(
            "nothing to set is called so", where=where, cure=f"set {KEYS}; the devices are {', '.join(names)}"
        )
    set_to: dict[str, Any] = {OF_DEVICES[word]: _figure(word, change.value, where)}
    shared = system.device(name).shared_bytes_per_second
    if word in ("read", "write") and shared is not None and shared < set_to[OF_DEVICES[word]]:
        # Both directions together move no less than one of them.
        set_to["shared_bytes_per_second"] = set_to[OF_DEVICES[word]]
    return replace(
        _assumed(system, *(f"devices.{name}.{field}" for field in set_to)),
        devices=tuple(
            replace(device, **set_to) if device.name == name else device for device in system.devices
        ),
    )


def _assumed(system: System, *paths: str) -> System:
    return replace(system, sources={**system.sources, **dict.fromkeys(paths, "assumed")})


def _of_nodes(system: System, field: str) -> list[str]:
    return [f"nodes.{number}.{field}" for number in range(len(system.nodes))]


def _moved(system: System, role: str, value: str) -> System:
    names = tuple(name for name in re.split(r"[,+]", value) if name)
    paths, devices = _of_nodes(system, "roles"), system.devices
    if FLASH.name in names and FLASH.name not in {device.name for device in devices}:
        devices = (*devices, FLASH)
        paths += [f"devices.{FLASH.name}.{field}" for field in OF_DEVICES.values() if getattr(FLASH, field)]
    return replace(
        _assumed(system, *paths),
        devices=devices,
        nodes=tuple(replace(kind, roles={**kind.roles, role: names}) for kind in system.nodes),
    )


def _figure(key: str, value: str, where: str) -> float:
    try:
        return float(parse_size(value)) if key in IN_BYTES else float(value)
    except ValueError:
        raise UsageError(
            "is no number", where=where, cure="give one, bytes with a unit such as 500MB"
        ) from None


ASSUMED_MEMORY_BYTES = 2**34
"""Of a node that does not say its memory."""

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
        rates = [_rate(targets, direction) for direction in ("read", "write")]
        if None in rates:
            remarks.append(f"{named} is left out: it has no sequential {_lacking(rates)} test with figures")
            continue
        device = _device(named, targets, rates[0] or 0.0, rates[1] or 0.0)
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


def system_for(facts: RunFacts, probe: Probe | None) -> System | None:
    """The probed devices below a run's own cores and memory; None without a target that has figures."""
    if probe is None:
        return None
    node = facts.nodes[0]
    memory = float(node.memory_limit_bytes or node.memory_bytes or ASSUMED_MEMORY_BYTES)
    try:
        system, _ = probed_system(probe, name="probed", memory_bytes=memory)
    except UsageError:
        return None
    return replace(system, nodes=(replace(system.nodes[0], cores=cores_of(node)),))


def _by_device(targets: Iterable[ProbeTarget]) -> dict[str, list[ProbeTarget]]:
    found: dict[str, list[ProbeTarget]] = {}
    for target in targets:
        plain = re.sub(r"[^a-z0-9-]+", "-", "-".join(target.devices or [target.name]).lower()).strip("-")
        if not plain or plain in RESERVED or plain in ROLES:
            plain = f"device-{plain}".rstrip("-")
        found.setdefault(plain, []).append(target)
    return found


def _device(name: str, targets: list[ProbeTarget], read: float, write: float) -> Device:
    return Device(
        name=name,
        read_bytes_per_second=read,
        write_bytes_per_second=write,
        shared_bytes_per_second=_shared(targets, read, write),
        latency_seconds=_latency(targets),
        requests_per_second=max((one.requests_per_second for one in _figures(targets)), default=0.0) or None,
        spinning_streams=_half_streams(targets),
    )


def _rate(targets: list[ProbeTarget], direction: str) -> float | None:
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
    targets: list[ProbeTarget], wanted: Callable[[ProbeTest], bool] = lambda test: test.direct
) -> list[ProbeFigures]:
    return [
        figures
        for target in targets
        for test in target.tests
        for figures in (test.read, test.write)
        if figures is not None and wanted(test)
    ]


def _latency(targets: list[ProbeTarget]) -> float:
    """The least mean time of a direct request by the fewest streams; 0 where no direct test has one."""
    tests = [test for target in targets for test in target.tests if test.direct and (test.read or test.write)]
    fewest = min((test.streams for test in tests), default=0)
    found = _figures(targets, lambda test: test.direct and test.streams == fewest)
    return min((one.latency_seconds["mean"] for one in found if "mean" in one.latency_seconds), default=0.0)


def _shared(targets: list[ProbeTarget], read: float, write: float) -> float | None:
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


def _half_streams(targets: list[ProbeTarget]) -> float | None:
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
