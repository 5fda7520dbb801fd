"""Which mount holds a path."""

from __future__ import annotations

from pathlib import Path

from mawl.measure.mounts import mount_of, parse_mountinfo, read_mounts

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
