"""System descriptions as TOML: read, checked, and written (docs/design/systems.md).

Sizes and rates are numbers in base units, or text such as ``64GiB`` and ``400MB``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from mawl.errors import InvalidFileError, UsageError
from mawl.simulation.system import FABRICS, Device, NodeKind, System
from mawl.spec import toml
from mawl.spec.program_options import Role
from mawl.units import parse_size

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

    Raises :class:`~mawl.errors.InvalidFileError` with file, key, expected and found, and for a system
    that cannot be (no bandwidth, a role that lies nowhere, a device that is not described).
    """
    return described(toml.load(path, SystemSpec), str(path))


def loads_system(text: str, *, where: str) -> System:
    """As :func:`load_system`, from text; ``where`` names its source in errors."""
    return described(toml.loads(text, SystemSpec, where=where), where)


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


def described(spec: SystemSpec, where: str) -> System:
    """The system of a description, checked as by :func:`load_system`; ``where`` begins its errors."""
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
    """The spec's fields with amounts as numbers, but for ``roles``."""
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
    """Every key under ``sources`` names a figure of the system."""
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
