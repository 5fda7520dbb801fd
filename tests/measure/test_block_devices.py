"""From the directories of the roles down to the disks, over a folder that stands in for sysfs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mawl.measure.devices import volume_facts
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Role
from tests.fakes.tree import plant


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
