"""Ports of a node that carry storage, and how its disks are attached."""

from __future__ import annotations

from typing import Literal

import msgspec

Transport = Literal["fc", "iscsi", "nvme-tcp", "nvme-rdma", "nvme-fc"]
"""How a disk is attached over a fabric or network; a disk inside the machine has none."""

PortKind = Literal["ethernet", "fc"]

KIND_OF: dict[Transport, PortKind] = {
    "fc": "fc",
    "nvme-fc": "fc",
    "iscsi": "ethernet",
    "nvme-tcp": "ethernet",
    "nvme-rdma": "ethernet",
}


class Port(msgspec.Struct, frozen=True, kw_only=True):
    """A network interface or a fibre channel port.  ``members`` are the interfaces below a bond, VLAN or
    bridge: what these carry is what it carries, so one with members counts nowhere."""

    name: str
    kind: PortKind
    bytes_per_second: float | None = None
    members: list[str] = []

    @property
    def series(self) -> str:
        """The beginning of its series in the samples."""
        return f"{'fabric' if self.kind == 'fc' else 'network'}.{self.name}"
