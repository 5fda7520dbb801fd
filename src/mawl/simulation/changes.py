"""System descriptions with single figures changed by ``--set``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.records.spec.program_options import ROLES
from mawl.simulation.system import FABRICS, Device, System

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
