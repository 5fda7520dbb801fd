"""Ports and transports out of a made-up /sys."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.measure.ports import ports, transport_of
from mawl.model.ports import Port


def put(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n")


def test_interfaces_bonds_and_fibre_channel_ports(tmp_path: Path) -> None:
    net, fc = tmp_path / "class/net", tmp_path / "class/fc_host"
    put(net / "lo/speed", "10000")
    put(net / "eth0/speed", "25000")
    put(net / "eth1/speed", "-1")
    put(net / "bond0/speed", "50000")
    for name in ("eth0", "eth1"):
        (net / f"bond0/lower_{name}").symlink_to(net / name)
    put(net / "bonding_masters", "bond0")
    put(fc / "host1/speed", "16 Gbit")
    put(fc / "host2/speed", "unknown")
    assert ports(tmp_path) == [
        Port(name="bond0", kind="ethernet", bytes_per_second=6.25e9, members=["eth0", "eth1"]),
        Port(name="eth0", kind="ethernet", bytes_per_second=3.125e9),
        Port(name="eth1", kind="ethernet"),
        Port(name="host1", kind="fc", bytes_per_second=2e9),
        Port(name="host2", kind="fc"),
    ]


@pytest.mark.parametrize(
    ("place", "transport"),
    [
        ("pci0/host3/session1/target3:0:0/3:0:0:1/block/sdb", "iscsi"),
        ("pci0/host1/rport-1:0-2/target1:0:0/1:0:0:0/block/sdb", "fc"),
        ("pci0/ata1/host0/target0:0:0/0:0:0:0/block/sdb", None),
        ("virtual/nvme-fabrics/ctl/nvme0/sdb", "nvme-tcp"),
        ("pci0/nvme/nvme1/sdb", None),
    ],
)
def test_how_a_disk_is_attached(place: str, transport: str | None, tmp_path: Path) -> None:
    device = tmp_path / "devices" / place
    device.mkdir(parents=True)
    if "nvme0" in place:
        put(device.parent / "transport", "tcp")
    elif "nvme1" in place:
        put(device.parent / "transport", "pcie")
    block = tmp_path / "class/block"
    block.mkdir(parents=True)
    (block / "sdb").symlink_to(device)
    assert transport_of("sdb", tmp_path) == transport


def test_the_paths_of_native_nvme_multipath_are_asked_for_their_transport(tmp_path: Path) -> None:
    system = tmp_path / "devices/virtual/nvme-subsystem/nvme-subsys0"
    (system / "nvme0n1").mkdir(parents=True)
    put(system / "nvme3/transport", "rdma")
    (tmp_path / "class/block").mkdir(parents=True)
    (tmp_path / "class/block/nvme0n1").symlink_to(system / "nvme0n1")
    assert transport_of("nvme0n1", tmp_path) == "nvme-rdma"
