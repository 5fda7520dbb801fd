"""Ports and transports out of a made-up /sys.

Which mount holds a path.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.measure.devices import (
    Mount,
    mount_of,
    mounts_below,
    parse_mountinfo,
    ports,
    read_mounts,
    transport_of,
)
from mawl.records.model.node import Port

MOUNTINFO = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
30 27 8:17 / /data\040one rw shared:5 master:2 - xfs /dev/sdb1 rw
31 27 0:33 /@home /home rw - btrfs /dev/sdc rw,subvol=/@home
32 27 0:50 / /over rw - overlay overlay rw,lowerdir=/lower,upperdir=/data\040one/upper,workdir=/w
33 27 0:60 / /data\040one rw - tmpfs tmpfs rw
not a line of mountinfo
"""


def test_fields_and_escapes() -> None:
    mounts = parse_mountinfo(MOUNTINFO)
    assert [mount.mount_point for mount in mounts] == [
        "/proc",
        "/",
        "/data one",
        "/home",
        "/over",
        "/data one",
    ]
    assert (mounts[2].device, mounts[2].file_system, mounts[2].source) == ("8:17", "xfs", "/dev/sdb1")
    assert mounts[4].option("upperdir") == "/data one/upper"
    assert mounts[4].option("dir") is None


def test_the_longest_mount_point_holds_a_path_and_the_last_of_several_there() -> None:
    mounts = parse_mountinfo(MOUNTINFO)
    for path, kind in (
        ("/home/a", "btrfs"),
        ("/homes", "ext4"),
        ("/", "ext4"),
        ("/data one/x", "tmpfs"),
        ("/over", "overlay"),
    ):
        found = mount_of(path, mounts)
        assert found is not None and found.file_system == kind, path
    assert mount_of("/x", []) is None


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc")
    found = mount_of(tmp_path / "link", parse_mountinfo(MOUNTINFO))
    assert found is not None and found.mount_point == "/proc"


def test_a_machine_without_mountinfo_has_no_mounts(tmp_path: Path) -> None:
    assert read_mounts(tmp_path) == []


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


def test_mounts_below_a_role_are_named(tmp_path: Path) -> None:
    mounts = [
        Mount(device="8:1", mount_point=str(place), file_system="ext4", source="/dev/sdb", options="")
        for place in (tmp_path, tmp_path / "w" / "x", tmp_path / "wx")
    ]
    (said,) = mounts_below({"work": [tmp_path / "w"], "util": [tmp_path / "u"]}, mounts)
    assert said.startswith(
        f"below the work directory {tmp_path / 'w'} are further mounts: {tmp_path / 'w/x'} ("
    )
