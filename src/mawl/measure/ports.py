"""Ports that carry storage: network interfaces and fibre channel ports with their speed and members.

Sources: Linux Documentation/ABI/testing/sysfs-class-net (speed, lower_*) and sysfs-class-fc_host,
drivers/scsi/scsi_transport_fc.c (speed), drivers/nvme/host/sysfs.c (transport).
"""

from __future__ import annotations

import re
from pathlib import Path

from mawl.model.ports import Port, Transport

MEGABIT = 10**6 / 8
GIGABIT = 10**9 / 8
NVME: dict[str, Transport] = {"tcp": "nvme-tcp", "rdma": "nvme-rdma", "fc": "nvme-fc"}


def ports(sys: Path = Path("/sys")) -> list[Port]:
    """All interfaces but the loopback one, and all fibre channel ports; a speed that is not told is None."""
    found = []
    for interface in sorted((sys / "class/net").glob("*")):
        if interface.name == "lo" or not interface.is_dir():
            continue
        speed = _number(_text(interface / "speed"))
        # A bond, a VLAN and a bridge have a link to each interface below them.
        members = sorted(below.name.removeprefix("lower_") for below in interface.glob("lower_*"))
        found.append(
            Port(
                name=interface.name,
                kind="ethernet",
                bytes_per_second=speed * MEGABIT if speed is not None and speed > 0 else None,
                members=members,
            )
        )
    for host in sorted((sys / "class/fc_host").glob("*")):
        told = re.match(r"([0-9.]+) Gbit", _text(host / "speed") or "")
        speed = float(told[1]) * GIGABIT if told else None
        found.append(Port(name=host.name, kind="fc", bytes_per_second=speed))
    return found


def transport_of(disk: str, sys: Path = Path("/sys")) -> Transport | None:
    """How a disk is attached where that is over a network or fabric; None for others."""
    place = (sys / "class/block" / disk).resolve()
    for part in place.parts:
        if re.fullmatch(r"session[0-9]+", part):
            return "iscsi"
        if part.startswith("rport-"):
            return "fc"
    for file in (place.parent / "transport", *sorted(place.parent.glob("nvme*/transport"))):
        found = NVME.get(_text(file) or "")
        if found is not None:
            return found
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
