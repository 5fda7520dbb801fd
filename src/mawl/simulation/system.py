"""The description of a system to simulate a run on, in memory and as TOML (docs/design/systems.md).

A description is checked when it is made: what no system can be (no bandwidth, a role that lies nowhere) is
refused by name.  Sizes and rates are numbers in base units or, in TOML, text such as ``64GiB`` and ``400MB``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from mawl.base.errors import InvalidFileError, UsageError
from mawl.base.units import parse_size
from mawl.records.spec import toml
from mawl.records.spec.program_options import ROLES, Role

RESERVED = frozenset(
    {"cores", "core_speed", "memory", "link", "fabric", "nodes", "sessions", "threads_per_core"}
)
"""Words that name a resource of another kind, so that no device may have them."""

FABRICS = ("fabric_bytes_per_second", "fabric_shared_bytes_per_second")
"""What all links move together: in each direction, and in both."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """A device or pool that serves roles.

    ``shared_bytes_per_second`` bounds both directions together; None: no common bound.
    ``requests_per_second`` bounds the requests of both directions together; None: no bound.
    ``spinning_streams`` are the streams at which sequential throughput has fallen to half of what one
    stream gets; None: it does not fall.  ``local``: every node has its own, and its bytes cross neither
    the node's link nor the fabric; otherwise all nodes share one.
    """

    name: str
    read_bytes_per_second: float
    write_bytes_per_second: float
    shared_bytes_per_second: float | None = None
    latency_seconds: float = 0.0
    requests_per_second: float | None = None
    spinning_streams: float | None = None
    local: bool = False

    def __post_init__(self) -> None:
        where = f"device {self.name}"
        if not self.name or self.name in RESERVED or self.name in ROLES:
            raise UsageError(
                f"a device cannot be named {self.name!r}",
                why="the word names another resource, or a role",
                cure="name the device otherwise",
            )
        positive(where, "read_bytes_per_second", self.read_bytes_per_second)
        positive(where, "write_bytes_per_second", self.write_bytes_per_second)
        positive(where, "shared_bytes_per_second", self.shared_bytes_per_second)
        positive(where, "requests_per_second", self.requests_per_second)
        if self.spinning_streams is not None and not 1.0 < self.spinning_streams < math.inf:
            raise UsageError(
                f"spinning_streams is {self.spinning_streams:g}",
                where=where,
                why="one stream has the whole rate, so it falls to half at more than one",
                cure="give a number above 1, or leave it out for a device that does not seek",
            )
        if not (math.isfinite(self.latency_seconds) and self.latency_seconds >= 0):
            raise UsageError(
                "latency_seconds must be 0 or more", where=where, cure="give seconds of one request"
            )


@dataclass(frozen=True, kw_only=True)
class NodeKind:
    """``count`` alike nodes.

    ``core_speed`` is relative to the core that the demand was measured on (1.0: the same).
    ``link_bytes_per_second`` is what one node moves over its link to shared devices, in each direction;
    None: no bound.  ``roles`` maps each role to the names of the devices that hold it, over which its files
    take turns.
    """

    count: int
    cores: float
    memory_bytes: float
    roles: Mapping[str, tuple[str, ...]]
    core_speed: float = 1.0
    threads_per_core: int = 1
    link_bytes_per_second: float | None = None

    def __post_init__(self) -> None:
        where = "nodes"
        for name in (
            "count",
            "cores",
            "memory_bytes",
            "core_speed",
            "threads_per_core",
            "link_bytes_per_second",
        ):
            positive(where, name, getattr(self, name))
        for role in ROLES:
            names = self.roles.get(role, ())
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise UsageError(
                    f"role {role} names device {twice} twice", where=where, cure="name each device once"
                )
            if not names:
                raise UsageError(
                    f"role {role} lies on no device",
                    where=where,
                    cure=f"name the devices of {role} under roles",
                )


@dataclass(frozen=True, kw_only=True)
class System:
    """Nodes, what joins them, and devices.

    ``fabric_bytes_per_second`` is what all links move together, in each direction,
    ``fabric_shared_bytes_per_second`` in both directions together; None: no bound.
    ``sources`` says where a figure is from, by key path (``devices.NAME.read_bytes_per_second``,
    ``nodes.0.cores``, ``fabric_bytes_per_second``).  ``one_machine``: the nodes are parts of one machine
    (containers, namespaces), and share its cores and its memory, which every kind must then give alike.
    """

    name: str
    nodes: tuple[NodeKind, ...]
    devices: tuple[Device, ...]
    fabric_bytes_per_second: float | None = None
    fabric_shared_bytes_per_second: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    one_machine: bool = False

    def __post_init__(self) -> None:
        where = f"system {self.name}"
        for name in FABRICS:
            positive(where, name, getattr(self, name))
        if not self.nodes:
            raise UsageError("the system has no nodes", where=where, cure="describe at least one")
        if self.one_machine and len({(kind.cores, kind.core_speed) for kind in self.nodes}) > 1:
            raise UsageError(
                "the nodes of one machine differ in cores",
                where=where,
                why="they share the machine's",
                cure="give each kind the machine's cores, or leave one_machine out",
            )
        names = [device.name for device in self.devices]
        for name in names:
            if names.count(name) > 1:
                raise UsageError(
                    f"device {name} is described twice", where=where, cure="name each device once"
                )
        for kind in self.nodes:
            for role, devices in kind.roles.items():
                for name in devices:
                    if name not in names:
                        raise UsageError(
                            f"role {role} lies on device {name}, which is not described",
                            where=where,
                            cure=f"describe {name} under devices",
                        )

    @property
    def node_count(self) -> int:
        return sum(kind.count for kind in self.nodes)

    def kind_number(self, place: int) -> int:
        """The number of the kind of the node at ``place``, counted over all kinds in order; then again."""
        numbers = [number for number, kind in enumerate(self.nodes) for _ in range(kind.count)]
        return numbers[place % len(numbers)]

    def device(self, name: str) -> Device:
        """The device of that name; ``KeyError`` without one."""
        for device in self.devices:
            if device.name == name:
                return device
        raise KeyError(name)

    def holders(self, kind: NodeKind, role: Role) -> list[Device]:
        return [self.device(name) for name in kind.roles[role]]


def faster(device: Device, factor: float) -> Device:
    """The device with ``factor`` times its rates of bytes and of requests; the same latency."""

    def times(rate: float | None) -> float | None:
        return None if rate is None else rate * factor

    return replace(
        device,
        read_bytes_per_second=device.read_bytes_per_second * factor,
        write_bytes_per_second=device.write_bytes_per_second * factor,
        shared_bytes_per_second=times(device.shared_bytes_per_second),
        requests_per_second=times(device.requests_per_second),
    )


def seeks_of(spinning_streams: float) -> float:
    """``k`` of ``1 / (1 + k (1 - 1/n))``, the part of one stream's rate that n streams get together.

    It makes that half at ``spinning_streams``, above 1.
    """
    return spinning_streams / (spinning_streams - 1.0)


def spinning_streams_of(seeks: float) -> float | None:
    """The inverse of ``seeks_of``; None where ``seeks`` is 1 or less, since it never falls to half."""
    return seeks / (seeks - 1.0) if seeks > 1.0 else None


def positive(where: str, name: str, value: float | None) -> None:
    """Refuse a figure that is 0, negative or not finite; None (no bound) passes."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise UsageError(
            f"{name} is {value:g}", where=where, why="it must be above 0", cure="give what the system has"
        )


Amount = float | str
"""Bytes or bytes per second: a number, or text with a unit."""

_AMOUNTS = (
    "read_bytes_per_second",
    "write_bytes_per_second",
    "shared_bytes_per_second",
    "memory_bytes",
    "link_bytes_per_second",
    *FABRICS,
)


class DeviceSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[devices.NAME]``: what one device or pool does.

    ``shared_bytes_per_second`` bounds both directions together, ``requests_per_second`` the requests of
    both; ``spinning_streams`` are the streams at which a disk gives half of what it gives one;
    ``local = true``: each node has its own, reached without its link.
    """

    read_bytes_per_second: Amount
    write_bytes_per_second: Amount
    shared_bytes_per_second: Amount | None = None
    latency_seconds: float = 0.0
    requests_per_second: float | None = None
    spinning_streams: float | None = None
    local: bool = False


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[nodes]]``: so many alike nodes, and the devices of each role.

    ``core_speed`` is relative to the core of the measured run; ``link_bytes_per_second`` is what one
    node moves to shared devices in each direction.
    """

    cores: float
    memory_bytes: Amount
    roles: dict[Role, list[str]]
    count: int = 1
    core_speed: float = 1.0
    threads_per_core: int = 1
    link_bytes_per_second: Amount | None = None


class SystemSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file: nodes, devices, what all links move together, and where figures are from.

    ``one_machine = true``: the nodes share the cores of one machine.
    """

    name: str
    nodes: list[NodeSpec]
    devices: dict[str, DeviceSpec]
    fabric_bytes_per_second: Amount | None = None
    fabric_shared_bytes_per_second: Amount | None = None
    sources: dict[str, str] = {}
    one_machine: bool = False


def load_system(path: Path) -> System:
    """The system that a file describes.

    Raises ``InvalidFileError`` with file, key, expected and found, and for a system
    that cannot be (no bandwidth, a role that lies nowhere, a device that is not described).
    """
    return system_of_spec(toml.load(path, SystemSpec), str(path))


def loads_system(text: str, *, where: str) -> System:
    return system_of_spec(toml.loads(text, SystemSpec, where=where), where)


def system_toml(system: System, *, head: str = "") -> str:
    """The description as text that reads back to the same system; ``head`` are lines of comment."""
    tree: dict[str, object] = {"name": system.name}
    for name in FABRICS:
        if getattr(system, name) is not None:
            tree[name] = getattr(system, name)
    if system.one_machine:
        tree["one_machine"] = True
    tree["nodes"] = [
        {**_plain(node, ("roles",)), "roles": {role: list(held) for role, held in node.roles.items()}}
        for node in system.nodes
    ]
    tree["devices"] = {device.name: _plain(device, ("name",)) for device in system.devices}
    if system.sources:
        tree["sources"] = dict(system.sources)
    comment = "".join(f"# {line}\n" for line in head.splitlines())
    return comment + tomli_w.dumps(tree)


def _plain(record: Device | NodeKind, without: tuple[str, ...]) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if value is not None and name not in without}


def system_of_spec(spec: SystemSpec, where: str) -> System:
    """The system of a description, checked as by ``load_system``; ``where`` begins its errors."""
    tree: dict[str, msgspec.Struct] = {"": spec}
    tree |= {f"nodes[{number}]": one for number, one in enumerate(spec.nodes)}
    tree |= {f"devices.{name}": one for name, one in spec.devices.items()}
    amounts = {key: _amounts(one, key, where) for key, one in tree.items()}
    try:
        found = System(
            name=spec.name,
            **{name: amounts[""].get(name) for name in FABRICS},
            nodes=tuple(
                NodeKind(
                    **_fields(one, amounts[f"nodes[{number}]"]),
                    roles={role: tuple(held) for role, held in one.roles.items()},
                )
                for number, one in enumerate(spec.nodes)
            ),
            devices=tuple(
                Device(name=name, **_fields(one, amounts[f"devices.{name}"]))
                for name, one in spec.devices.items()
            ),
            sources=spec.sources,
            one_machine=spec.one_machine,
        )
    except InvalidFileError:
        raise
    except UsageError as error:
        key = f"{error.where}: " if error.where else ""
        raise InvalidFileError(f"{key}{error.what}", where=where, why=error.why, cure=error.cure) from None
    _check_sources(found, where)
    return found


def _fields(spec: msgspec.Struct, amounts: Mapping[str, float | None]) -> dict[str, Any]:
    names = [name for name in spec.__struct_fields__ if name != "roles"]
    return {name: amounts[name] if name in amounts else getattr(spec, name) for name in names}


def _amounts(spec: msgspec.Struct, key: str, where: str) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in _AMOUNTS:
        if name not in spec.__struct_fields__:
            continue
        value = getattr(spec, name)
        place = f"{key}.{name}".lstrip(".")
        try:
            found[name] = float(parse_size(value)) if isinstance(value, str) else value
        except UsageError as error:
            raise InvalidFileError(f"key {place}: {error}", where=where) from None
        if found[name] is not None and not math.isfinite(float(found[name] or 0.0)):
            raise InvalidFileError(f"key {place}: expected a number, found {value}", where=where)
    return found


def _check_sources(system: System, where: str) -> None:
    known = set(FABRICS)
    known |= {f"nodes.{number}.{name}" for number, node in enumerate(system.nodes) for name in vars(node)}
    known |= {f"devices.{device.name}.{name}" for device in system.devices for name in vars(device)}
    for key in system.sources:
        if key not in known:
            example = re.sub(r"\d", "0", next(iter(sorted(known))))
            raise InvalidFileError(
                f"key sources.{key}: expected the path of a figure such as {example}, found one of none",
                where=where,
            )
