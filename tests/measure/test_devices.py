"""Ports and transports out of a made-up /sys.

Which mount holds a path.

A real loop device under a real file system: it leads to its disk, and its bytes are those written.

From the directories of the roles down to the disks, over a folder that stands in for sysfs.
"""

from __future__ import annotations

import mmap
import os
import subprocess
from collections.abc import Iterator, Mapping
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
    volume_facts,
)
from mawl.measure.host.collector import HostCollector
from mawl.records.model.node import Port
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Role
from tests import needs
from tests.fakes.tree import plant

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


PROGRAMS = ("losetup", "mkfs.ext4", "mount", "umount")
WRITTEN_BYTES = 8 * 2**20
METADATA_BYTES = 2**20


def sh(*command: str) -> str:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A directory on a loop device of its own, and the name of that device."""
    needs.ROOT.require()
    needs.program(*PROGRAMS).require()
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    try:
        device = sh("losetup", "--find", "--show", str(image))
    except subprocess.CalledProcessError as error:
        needs.skip(f"no loop device may be made here: {error.stderr.strip()}")
    try:
        sh("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        sh("mount", device, str(place))
        try:
            yield place, Path(device).name
        finally:
            sh("umount", str(place))
    finally:
        sh("losetup", "--detach", device)


@pytest.mark.lab
def test_a_loop_device_counts_what_is_written_and_leads_to_its_disk(
    mounted: tuple[Path, str], tmp_path: Path
) -> None:
    place, loop = mounted
    volume, home = volume_facts({"util": [place], "data": [tmp_path]}, "n")
    assert volume.file_system == "ext4"
    assert volume.devices == [loop] and volume.layers[0] == loop
    assert volume.disks == (home.disks or [loop]), "below it lies what holds its file"
    collector = HostCollector(volume.layers)
    before = collector.read()
    block = mmap.mmap(-1, 2**20)
    descriptor = os.open(place / "file", os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    for _ in range(WRITTEN_BYTES // len(block)):
        os.write(descriptor, block)
    os.fsync(descriptor)
    os.close(descriptor)
    after = collector.read()
    collector.close()
    gained = {name: after[name] - before[name] for name in after if name.startswith(f"device.{loop}.")}
    assert 0 <= gained[f"device.{loop}.written_bytes"] - WRITTEN_BYTES < METADATA_BYTES
    assert gained[f"device.{loop}.writes"] >= 8
    assert gained[f"device.{loop}.write_seconds"] >= 0


class Machine:
    """A machine whose mount points are directories of a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.mounts = ""
        self.add("disk", "sda", "8:0")

    def add(self, kind: str, name: str, number: str, below: tuple[str, ...] = (), disk: str = "") -> None:
        """A block device: a disk, a partition of ``disk``, or one with slaves ``below``."""
        home = self.root / "sys/devices" / (f"{disk}/{name}" if disk else name)
        plant(home, {"dev": f"{number}\n", **({"partition": "1\n"} if kind == "partition" else {})})
        for slave in below:
            plant(home, {f"slaves/{slave}": ""})
        for link in (self.root / "sys/class/block" / name, self.root / "sys/dev/block" / number):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(home)

    def mount(self, point: str, kind: str, number: str, source: str, options: str = "rw") -> Path:
        place = self.root / "m" / point
        place.mkdir(parents=True, exist_ok=True)
        self.mounts += f"30 1 {number} / {place} rw - {kind} {source} {options}\n"
        return place

    def facts(self, **roles: Path | list[Path]) -> dict[str, VolumeFacts]:
        plant(self.root, {"proc/self/mountinfo": self.mounts})
        places: Mapping[Role, list[Path]] = {
            role: places if isinstance(places, list) else [places]  # type: ignore[misc]
            for role, places in roles.items()
        }
        found = volume_facts(places, "n", self.root / "proc", self.root / "sys")
        return {volume.role: volume for volume in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_partition_leads_to_its_disk(machine: Machine) -> None:
    machine.add("partition", "sda2", "8:2", disk="sda")
    data = machine.facts(data=machine.mount("data", "xfs", "8:2", "/dev/sda2"))["data"]
    assert (data.file_system, data.source, data.network, data.reason) == ("xfs", "/dev/sda2", False, None)
    assert (data.devices, data.layers, data.disks) == (["sda2"], ["sda2", "sda"], ["sda"])


def test_devices_are_found_by_name_where_a_container_hides_the_list_by_number(machine: Machine) -> None:
    machine.add("partition", "sda2", "8:2", disk="sda")
    data, work = machine.mount("data", "xfs", "8:2", "/dev/sda2"), machine.mount("work", "xfs", "8:3", "none")
    numbers = machine.root / "sys/dev/block"
    numbers.rename(numbers.with_name("elsewhere"))
    (machine.root / "sys/class/block/gone").symlink_to(machine.root / "gone")
    facts = machine.facts(data=data, work=work)
    assert (facts["data"].layers, facts["data"].disks) == (["sda2", "sda"], ["sda"])
    assert facts["work"].devices == [] and facts["work"].reason


def test_dm_over_md_over_partitions_and_multipath(machine: Machine) -> None:
    for number, name in enumerate(("sdb", "sdc", "sdd"), start=1):
        machine.add("disk", name, f"8:{number * 16}")
    machine.add("partition", "sdb1", "8:17", disk="sdb")
    machine.add("md", "md0", "9:0", below=("sdb1", "sdc"))
    machine.add("dm", "dm-0", "253:0", below=("md0",))
    machine.add("dm", "dm-1", "253:1", below=("sdc", "sdd"))
    facts = machine.facts(
        data=machine.mount("data", "ext4", "253:0", "/dev/mapper/vg-data"),
        work=machine.mount("work", "ext4", "253:1", "/dev/mapper/mpatha"),
        util=machine.mount("util", "ext4", "8:0", "/dev/sda"),
    )
    assert facts["data"].layers == ["dm-0", "md0", "sdb1", "sdb", "sdc"]
    assert facts["data"].disks == ["sdb", "sdc"]
    assert facts["work"].disks == ["sdc", "sdd"]
    assert facts["data"].shared_with == ["work"], "a disk in common"
    assert facts["work"].shared_with == ["data"]
    assert facts["util"].shared_with == []


def test_a_loop_device_leads_to_the_disk_of_its_file(machine: Machine) -> None:
    store = machine.mount("store", "ext4", "8:0", "/dev/sda")
    machine.add("loop", "loop3", "7:3")
    plant(machine.root / "sys/devices/loop3", {"loop/backing_file": f"{store / 'image'} (deleted)\n"})
    util = machine.facts(util=machine.mount("util", "ext4", "7:3", "/dev/loop3"))["util"]
    assert (util.devices, util.layers, util.disks) == (["loop3"], ["loop3", "sda"], ["sda"])


def test_three_roles_in_one_file_system_are_marked(machine: Machine) -> None:
    place = machine.mount("all", "xfs", "8:0", "/dev/sda")
    for role in ("data", "work", "util"):
        (place / role).mkdir()
    facts = machine.facts(**{role: place / role for role in ("data", "work", "util")})
    assert facts["work"].shared_with == ["data", "util"]
    assert {volume.mount_point for volume in facts.values()} == {str(place)}


def test_two_volumes_of_one_role_on_a_disk_are_no_sharing(machine: Machine) -> None:
    place = machine.mount("all", "xfs", "8:0", "/dev/sda")
    assert machine.facts(work=[place, place])["work"].shared_with == []


def test_network_file_systems_are_named_as_such(machine: Machine) -> None:
    facts = machine.facts(
        data=machine.mount("data", "nfs4", "0:40", "filer:/export"),
        work=machine.mount("work", "lustre", "0:41", "192.0.2.1@tcp:/lfs01"),
        util=machine.mount("util", "nfs4", "0:42", "filer:/export"),
    )
    assert facts["data"].network and facts["work"].network
    assert facts["data"].disks == []
    assert "network file system" in (facts["data"].reason or "")
    assert facts["data"].shared_with == ["util"], "the same export"


def test_memory_is_no_device(machine: Machine) -> None:
    work = machine.facts(work=machine.mount("work", "tmpfs", "0:50", "tmpfs"))["work"]
    assert (work.network, work.disks, work.reason) == (False, [], "tmpfs is memory")


def test_btrfs_has_a_device_number_of_its_own_and_may_have_several_devices(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add("disk", "sdb", "8:16")
    for name in ("sda", "sdb"):
        plant(machine.root, {f"sys/fs/btrfs/0a-1b/devices/{name}": ""})
    monkeypatch.setattr("mawl.measure.devices._name_of_node", lambda node, sys: node.name)
    data = machine.facts(data=machine.mount("data", "btrfs", "0:33", "/dev/sda", "rw,subvol=/@data"))["data"]
    assert (data.devices, data.disks) == (["sda", "sdb"], ["sda", "sdb"])


def test_an_overlay_lies_where_its_upper_directory_does(machine: Machine) -> None:
    store = machine.mount("store", "ext4", "8:0", "/dev/sda")
    (store / "upper").mkdir()
    options = f"rw,lowerdir=/x,upperdir={store}/upper,workdir=/y"
    assert machine.facts(data=machine.mount("over", "overlay", "0:44", "overlay", options))["data"].disks == [
        "sda"
    ]


def test_an_overlay_of_a_container_hides_its_devices(machine: Machine) -> None:
    options = "rw,lowerdir=/x,upperdir=/host/only/upper,workdir=/y"
    data = machine.facts(data=machine.mount("over", "overlay", "0:44", "overlay", options))["data"]
    assert data.disks == [] and "outside what this process sees" in (data.reason or "")


def test_a_file_system_without_a_block_device_says_so(machine: Machine) -> None:
    data = machine.facts(data=machine.mount("tank", "zfs", "0:45", "tank/data"))["data"]
    assert data.reason == "zfs on tank/data: no block device is known for it"


def test_a_place_that_no_mount_holds(machine: Machine, tmp_path: Path) -> None:
    data = machine.facts(data=tmp_path)["data"]
    assert data.mount_point is None and data.reason
