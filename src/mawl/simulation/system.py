"""The description of a system to simulate a run on, in memory and as TOML (docs/design/systems.md).

A description is checked when it is made: what no system can be (no bandwidth, a role that lies nowhere) is
refused by name.  Sizes and rates are numbers in base units or, in TOML, text such as ``64GiB`` and ``400MB``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

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
    """A device or pool that serves roles; in a file the table ``[devices.NAME]``.

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
    """``count`` alike nodes; in a file a table of ``[[nodes]]``.

    ``core_speed`` is relative to the core that the demand was measured on (1.0: the same).
    ``link_bytes_per_second`` is what one node moves over its link to shared devices, in each direction;
    None: no bound.  ``roles`` maps each role to the names of the devices that hold it, over which its files
    take turns.
    """

    count: int = 1
    cores: float
    memory_bytes: float
    roles: Mapping[Role, tuple[str, ...]]
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


_AMOUNTS = (
    "read_bytes_per_second",
    "write_bytes_per_second",
    "shared_bytes_per_second",
    "memory_bytes",
    "link_bytes_per_second",
    *FABRICS,
)
"""In a file they may be text with a unit."""


def load_system(path: Path) -> System:
    """The system that a file describes.

    Raises ``InvalidFileError`` with file, key, expected and found, and for a system
    that cannot be (no bandwidth, a role that lies nowhere, a device that is not described).
    """
    return system_of_tree(toml.load(path, dict[str, Any]), str(path))


def loads_system(text: str, *, where: str) -> System:
    return system_of_tree(toml.loads(text, dict[str, Any], where=where), where)


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


def system_of_tree(tree: Mapping[str, Any], where: str) -> System:
    """The system of a description, checked as by ``load_system``; ``where`` begins its errors.

    The tables of the description have the fields of ``System``, ``NodeKind`` and ``Device``; that of a device
    is called by its name.
    """
    whole = _table(dict(tree), System, "", where)
    nodes, devices = whole.get("nodes"), whole.get("devices")
    if isinstance(nodes, list):
        whole["nodes"] = [
            _table(node, NodeKind, f"nodes[{number}]", where) for number, node in enumerate(nodes)
        ]
    if isinstance(devices, dict):
        named = {name: _table(device, Device, f"devices.{name}", where) for name, device in devices.items()}
        whole["devices"] = [
            {"name": name, **device} if isinstance(device, dict) else device for name, device in named.items()
        ]
    try:
        read = toml.converted(whole, System, where=where)
        # What is left out is otherwise only an attribute of the class, which vars() and JSON do not have.
        kinds = tuple(replace(kind) for kind in read.nodes)
        system = replace(read, nodes=kinds, devices=tuple(replace(device) for device in read.devices))
    except InvalidFileError as error:
        names = list(devices) if isinstance(devices, dict) else []
        what = re.sub(r"^key devices\[(\d+)\]", lambda key: f"key devices.{names[int(key[1])]}", error.what)
        raise InvalidFileError(what, where=where) from None
    except UsageError as error:
        key = f"{error.where}: " if error.where else ""
        raise InvalidFileError(f"{key}{error.what}", where=where, why=error.why, cure=error.cure) from None
    _check_sources(system, where)
    return system


def _table(table: Any, kind: type, key: str, where: str) -> Any:
    """A table with its amounts as numbers; a key that ``kind`` does not have is refused."""
    if not isinstance(table, dict):
        return table
    known = [one.name for one in fields(kind) if kind is not Device or one.name != "name"]
    for name in table:
        if name not in known:
            place = f"{key}.{name}".lstrip(".")
            raise InvalidFileError(f"key {place}: unknown, expected one of {', '.join(known)}", where=where)
    return {
        name: _amount(value, f"{key}.{name}".lstrip("."), where) if name in _AMOUNTS else value
        for name, value in table.items()
    }


def _amount(value: object, key: str, where: str) -> object:
    try:
        number = float(parse_size(value)) if isinstance(value, str) else value
    except UsageError as error:
        raise InvalidFileError(f"key {key}: {error}", where=where) from None
    if isinstance(number, float) and not math.isfinite(number):
        raise InvalidFileError(f"key {key}: expected a number, found {value}", where=where)
    return number


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
    role = next((role for role in ROLES if role == key), None)
    if role is not None:
        return _moved(system, role, change.value)
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
        raise UsageError("unknown key", where=where, cure=f"set {KEYS}; the devices are {', '.join(names)}")
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


def _moved(system: System, role: Role, value: str) -> System:
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
