"""The system that a run was made on, as far as the run tells: its nodes, and its devices by role."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from mawl.base.errors import UsageError
from mawl.figures.caps import bytes_cap
from mawl.figures.cluster import device_rates
from mawl.figures.demand import comparable, figures_of, targets_of
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Rates, Windows, rates
from mawl.records.model.probe import PAPERS_REQUEST_BYTES, Probe, ProbeFigures, ProbeTarget, ProbeTest
from mawl.records.model.run import NodeFacts, RunFacts, VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.demand import Direction
from mawl.simulation.device_rates import (
    DIRECTIONS,
    UNKNOWN_BYTES_PER_SECOND,
    Waited,
    limited,
    peaks_of,
    rated,
    served_roles,
)
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
    roles: dict[Role, tuple[str, ...]] = {}
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
        requests_per_second=max((figure.requests_per_second for figure in _figures(targets)), default=0.0)
        or None,
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


WORDS: dict[Direction, str] = {"read": "read", "write": "written"}
"""A direction in the names of series of devices."""


def memory_path(number: int) -> str:
    """Key path of the memory of a system's kind of node of that number."""
    return f"nodes.{number}.memory_bytes"


MEMORY_PATH = memory_path(0)
"""That of the first kind of node."""

DESCRIBE = (
    "describe the system it was made on with --measured-on FILE, which mawl probe --system writes there"
)
RECORDED = "import the logs together with a recording of their host (nmon, sar)"

UNKNOWN_MEMORY_BYTES = 2.0**34
UNKNOWN_MEMORY_SOURCE = "assumed: the run does not say"
"""The memory of nodes of which it is not known, and its source: nothing may be concluded from it."""


def own_system(
    facts: RunFacts,
    samples: RunSamples | None,
    windows: Windows | None,
    waited: Waited,
    probe: Probe | None = None,
) -> System:
    """Nodes as recorded, and each role's devices with what they can do, as far as it is known (``rated``).

    ``waited`` says how long jobs waited for a role (``waited_for``).
    Nodes that differ in cores, memory or devices are a kind each, in the order of their names.
    Raises ``UsageError`` for nodes whose cores are not known, and where only some of them
    share a machine.
    """
    machines = facts.machines()
    if not machines or any(node.cores is None for node in machines):
        raise UsageError(
            "the run does not say how many cores its nodes have",
            where=facts.run_id,
            cure=f"{DESCRIBE}, or {RECORDED}" if facts.kind == "imported" else DESCRIBE,
        )
    one_machine = len(machines) == 1 < len(facts.nodes)
    if not one_machine and len(machines) < len(facts.nodes):
        raise UsageError(
            f"the run's {len(facts.nodes)} nodes are on {len(machines)} machines",
            where=facts.run_id,
            why="some of them share a machine and its cores",
            cure="simulate a run whose nodes are machines, or all on one",
        )
    run = _OfRun(facts, samples, windows, one_machine, waited, probe)
    ordered = sorted(machines, key=lambda node: node.name)
    if len({run.signature(node) for node in ordered}) == 1:
        kinds = [run.kind(machines[0], len(facts.nodes), 0)]
    else:
        kinds = [run.kind(node, 1, number) for number, node in enumerate(ordered)]
    return System(
        name=facts.run_id,
        nodes=tuple(kinds),
        devices=tuple(run.devices.values()),
        sources=run.sources,
        one_machine=one_machine,
    )


class _OfRun:
    """What a run shows of its nodes and devices, as they are asked for."""

    def __init__(
        self,
        facts: RunFacts,
        samples: RunSamples | None,
        windows: Windows | None,
        one_machine: bool,
        waited: Waited,
        probe: Probe | None,
    ) -> None:
        self.facts, self.samples, self.windows = facts, samples, windows
        self.waited, self.probe = waited, probe
        self.served = served_roles(facts)
        self.one_machine = one_machine
        self.sources: dict[str, str] = {}
        self.devices: dict[str, Device] = {}

    def signature(self, node: NodeFacts) -> tuple[object, ...]:
        return self._cores(node), _memory_of(node), *(tuple(self.storage(node, role)) for role in ROLES)

    def _cores(self, node: NodeFacts) -> float:
        """Those that jobs could use; of nodes on one machine, all of them together."""
        if not self.one_machine:
            return cores_of(node)
        (machine,) = self.facts.machines()
        granted = self.facts.granted_cpus(machine)
        return cores_of(msgspec.structs.replace(machine, cpus_used=None, cpu_quota=granted))

    def storage(self, node: NodeFacts, role: Role) -> list[tuple[str, _Storage]]:
        return _storage_of(
            role,
            [volume for volume in self.facts.volumes if volume.role == role and volume.node == node.name],
        )

    def kind(self, node: NodeFacts, count: int, number: int) -> NodeKind:
        """``count`` nodes like this one, as the kind of that number; alone it has devices of its own."""
        roles: dict[Role, tuple[str, ...]] = {}
        for role in ROLES:
            if role in self.served:
                roles[role] = (self._pool().name,)
                continue
            names = [self._device(name, storage, node, count) for name, storage in self.storage(node, role)]
            roles[role] = tuple(dict.fromkeys(names))
        memory = _memory_of(node)
        self.sources[f"nodes.{number}.cores"] = "measured"
        self.sources[memory_path(number)] = "measured" if memory else UNKNOWN_MEMORY_SOURCE
        link = self.facts.link_bytes_per_second if self.served else None
        if link is not None:
            self.sources[f"nodes.{number}.link_bytes_per_second"] = "declared (--link)"
        return NodeKind(
            count=count,
            cores=self._cores(node),
            memory_bytes=float(memory or UNKNOWN_MEMORY_BYTES),
            roles=roles,
            link_bytes_per_second=link,
        )

    def _pool(self) -> Device:
        name = _device_name([run.node for run in self.facts.storage_runs])
        if name not in self.devices:
            moved: dict[Direction, list[Rates]] = {way: [] for way in DIRECTIONS}
            if self.samples is not None and self.windows is not None:
                for run in self.facts.storage_runs:
                    found = device_rates(run, self.samples, self.windows.edges)
                    for way in DIRECTIONS:
                        moved[way].append(found[way])
            self._rated(_of_unknown_rates(name, local=False), self.served, peaks_of(moved), {})
        return self.devices[name]

    def _device(self, name: str, storage: _Storage, node: NodeFacts, count: int) -> str:
        """The name of the device, which is described if it was not yet.

        Of nodes that differ each has its own; those of one machine share its devices.  Where a storage
        server was watched, what nodes share is behind their links, and a local device is each node's own.
        """
        local = storage.local and not (self.one_machine and not self.served)
        alone = local and count < len(self.facts.nodes)
        volumes = [volume for volume in self.facts.volumes if _name_of(volume) == name]
        own = [volume for volume in volumes if volume.node == node.name]
        if alone:
            name = f"{node.name}-{name}"
        if name in self.devices:
            return name
        moved: dict[Direction, list[Rates]] = {way: [] for way in DIRECTIONS}
        if self.samples is not None and self.windows is not None and storage.devices:
            for way, word in WORDS.items():
                names = [f"device.{device}.{word}_bytes" for device in storage.devices]
                nodes = [node.name] if alone else None
                moved[way] = [rates(self.samples, names, self.windows.edges, nodes)]
        places = {(node.name, device) for device in storage.devices}
        caps = {} if self.one_machine else {way: bytes_cap(own, places, way) for way in DIRECTIONS}
        targets = [
            target
            for volume in own
            for target in targets_of(volume, self.probe.targets if self.probe else ())
        ]
        probed = probed_device(name, targets)
        tool = None if isinstance(probed, str) or self.probe is None else self.probe.tool
        device = _of_unknown_rates(name, local=local)
        if not isinstance(probed, str):
            device = replace(probed, local=local)
        roles = {volume.role for volume in (own if alone else volumes)}
        self._rated(device, roles, peaks_of(moved, count if local else 1), caps, tool)
        return name

    def _rated(
        self,
        device: Device,
        roles: Collection[Role],
        peaks: Mapping[str, float],
        caps: Mapping[Direction, tuple[int | None, Sequence[str]]],
        tool: str | None = None,
    ) -> None:
        waited = limited(self.waited, roles)
        self.devices[device.name], sources = rated(device, tool, peaks, waited, caps)
        self.sources |= sources


def _memory_of(node: NodeFacts) -> int | None:
    return node.memory_limit_bytes or node.memory_bytes


def cores_of(node: NodeFacts) -> float:
    """Cores that jobs could use: of the logical CPUs that confinement and quota leave, else all."""
    cores = float(node.cores or 1)
    if node.granted_cpus and node.logical_cpus:
        return cores * node.granted_cpus / node.logical_cpus
    return cores


@dataclass(frozen=True)
class _Storage:
    devices: tuple[str, ...]
    local: bool


def _storage_of(role: Role, volumes: Sequence[VolumeFacts]) -> list[tuple[str, _Storage]]:
    if not volumes:
        return [(f"{role}-storage", _Storage((), True))]
    found = []
    for volume in volumes:
        found.append((_name_of(volume), _Storage(tuple(volume.devices), not volume.network)))
    return found


def _name_of(volume: VolumeFacts) -> str:
    return _device_name(volume.devices or [volume.source or volume.mount_point or volume.role])


def _device_name(words: Sequence[str]) -> str:
    name = "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word).strip("-") or "root" for word in words)
    return f"device-{name}" if name in RESERVED or name in ROLES else name


def _of_unknown_rates(name: str, *, local: bool) -> Device:
    rate = UNKNOWN_BYTES_PER_SECOND
    return Device(name=name, read_bytes_per_second=rate, write_bytes_per_second=rate, local=local)
