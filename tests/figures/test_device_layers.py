"""Which devices of a recording hold each byte once, by their names, numbers and totals."""

from __future__ import annotations

import pytest

from mawl.figures.layers import bottom_layer, numbered_partitions

LVM = ["fedora-root", "fedora-swap", "luks-5ec9b8a5-58f1-4e84-b5e8-2f6f2c1c5a6b"]


@pytest.mark.parametrize(
    ("names", "devices"),
    [
        (["sda", "sda1", "sda2", "dm-0", "dm-1"], ["sda"]),
        (["sda1", "sda2"], ["sda1", "sda2"]),
        (["xvda1", "xvdb"], ["xvda1", "xvdb"]),
        (["nvme0n1", "nvme0n1p1", "nvme1n1", "md0", "md127p1"], ["nvme0n1", "nvme1n1"]),
        (["nvme0n1", "nvme0c0n1", "nvme0c1n1"], ["nvme0n1"]),
        (["vda", "vda1", "sr0", "loop0", "zram0"], ["vda"]),
        (["sda", *LVM], ["sda"]),
        (["dev8-0", "dev253-0", "dev253-1", "dev253-2"], ["dev8-0"]),
        (["dev8-0", "dev8-1", "dev8-2", "dev8-16", "dev11-0"], ["dev8-0", "dev8-16"]),
        (["dev65-0", "dev65-17", "dev65-16"], ["dev65-0", "dev65-16"]),
        (["dev252-0", "dev252-16", "dev253-0"], ["dev252-0", "dev252-16"]),
        (["dev252-0", "dev252-16", "dev252-17", "dev253-0"], ["dev252-0", "dev252-16"]),
        (["dev259-0", "dev259-1", "dev253-0"], ["dev259-0", "dev259-1"]),
        (["dev253-0"], ["dev253-0"]),
        (["hdisk0", "hdisk1", "cd0", "hdiskpower0"], ["hdisk0", "hdisk1"]),
        (["c0t0d0", "c0t1d0"], ["c0t0d0", "c0t1d0"]),
        (["sda", "sdb", "sdc", "sdd", "mpatha", "mpathap1"], ["sda", "sdb", "sdc", "sdd"]),
        (["sda", "emcpowera", "fioa"], ["fioa", "sda"]),
        (["md0"], ["md0"]),
        (["loop0", "loop1"], ["loop0", "loop1"]),
        (["Disk_C", "Disk_D"], ["Disk_C", "Disk_D"]),
        ([], []),
    ],
)
def test_each_byte_is_counted_at_one_device(names: list[str], devices: list[str]) -> None:
    assert bottom_layer(names) == bottom_layer(list(reversed(names)))
    assert bottom_layer(names).devices == tuple(devices)
    assert bottom_layer(names).reason is None


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (["sda", "data01"], "data01 may lie on other devices"),
        (["dev252-0", "dev253-0"], "dev252-0, dev253-0 may lie on each other"),
        (["dev252-0", "dev252-1", "dev253-0"], "may lie on each other"),
        ([f"dev253-{minor}" for minor in range(20)], "may lie on each other"),
        (["dev253-0", "dev253-1", "dev253-2", "dev253-3"], "dev253-2 and 1 more may lie on each other"),
        (LVM, "may lie on each other"),
        (["md0", "dm-0"], "may lie on each other"),
    ],
)
def test_what_no_name_tells_has_a_reason_and_what_to_do(names: list[str], named: str) -> None:
    found = bottom_layer(names)
    assert found.devices == ()
    assert found.reason is not None and named in found.reason and "--role" in found.reason


def test_numbered_partitions_of_nvme_are_told_by_their_bytes() -> None:
    totals = {
        "dev259-0": 1e9, "dev259-1": 2e8, "dev259-2": 7.999e8, "dev259-3": 0.0,
        "dev259-4": 6e8, "dev259-5": 5.8e8, "dev259-7": 4e8, "dev8-0": 1e6,
    }  # fmt: skip
    assert numbered_partitions(totals) == ({"dev259-1", "dev259-2"}, None)
    assert numbered_partitions({"dev259-0": 3e8, "dev259-1": 9e8, "dev259-2": 0.0}) == (set(), None)


def test_a_device_that_moved_what_the_one_before_moved_is_a_partition_or_a_pair() -> None:
    found, reason = numbered_partitions({"dev259-0": 5e8, "dev259-1": 5e8})
    assert found == set()
    assert reason is not None and "dev259-1 may be a partition of dev259-0" in reason


def test_partitions_that_a_recorder_rounded_are_not_counted_twice() -> None:
    """``iostat -h``: 1,025 and 1,024 sectors are 0.5M both."""
    exact = {"dev259-0": 10e8, "dev259-1": 5e8, "dev259-2": 4.2e8, "dev259-3": 0.8e8}
    assert numbered_partitions(exact) == ({"dev259-1", "dev259-2", "dev259-3"}, None)
    found, reason = numbered_partitions({**exact, "dev259-3": 0.9e8})
    assert found == set()
    assert reason is not None and "dev259-1 to dev259-3 may be partitions of dev259-0" in reason
