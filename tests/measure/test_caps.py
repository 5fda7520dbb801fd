"""Caps of control groups of either version, from folders that stand in for the kernel's.

Control-group limits from folders of either version.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.control_groups import (
    LARGEST_FILE_BYTES,
    container_name,
    read_limits,
    with_caps,
    with_caps_after,
)
from mawl.records.model.node import IoCap
from mawl.records.model.run import VolumeFacts
from tests.fakes.tree import plant

V1 = "sys/fs/cgroup/blkio"
FILES = [f"blkio.throttle.{way}_{unit}_device" for way in ("read", "write") for unit in ("bps", "iops")]
NO_V1 = {f"{V1}/{name}": "" for name in FILES}
V2 = "sys/fs/cgroup"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """sda with the partition sda2, sdb, and md0 over both disks."""
    home = tmp_path / "sys/devices"
    plant(
        home, {"sda/dev": "8:0\n", "sda/sda2/dev": "8:2\n", "sda/sda2/partition": "2\n", "sdb/dev": "8:16\n"}
    )
    plant(home, {"md0/dev": "9:0\n", "md0/slaves/sda": "", "md0/slaves/sdb": ""})
    for name in ("sda", "sda/sda2", "sdb", "md0"):
        link = tmp_path / "sys/class/block" / Path(name).name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(home / name)
    return tmp_path


def look(root: Path, *layers: str) -> VolumeFacts:
    volume = VolumeFacts(
        role="data", node="n", directory="/d", devices=[layers[0]], layers=list(layers), disks=[layers[-1]]
    )
    return with_caps([volume], root / "proc", root / "sys")[0]


def short(caps: list[IoCap] | None) -> list[tuple[str, str, int | None, int | None]]:
    assert caps is not None
    return [(cap.device, cap.direction, cap.bytes_per_second, cap.requests_per_second) for cap in caps]


def test_version_1_gives_the_disk_of_a_partition_its_caps_with_their_files(machine: Path) -> None:
    plant(
        machine,
        {
            "proc/self/cgroup": "7:blkio:/\n0::/\n",
            **NO_V1,
            f"{V1}/{FILES[0]}": "8:16 5\n8:0 1000\n",
            f"{V1}/{FILES[3]}": "8:0 20\n",
        },
    )
    found = look(machine, "sda2", "sda")
    assert short(found.caps) == [("sda", "read", 1000, None), ("sda", "write", None, 20)]
    assert found.caps_reason is None
    assert found.caps is not None
    assert [cap.file for cap in found.caps] == [str(machine / V1 / FILES[0]), str(machine / V1 / FILES[3])]
    assert [cap.carries for cap in found.caps] == [["sda2"], ["sda2"]]


def test_version_1_holds_a_process_to_its_own_group_alone(machine: Path) -> None:
    plant(
        machine,
        {
            "proc/self/cgroup": "7:blkio:/a/b\n",
            **NO_V1,
            **{f"{V1}/a/b/{name}": "" for name in FILES},
            f"{V1}/{FILES[0]}": "8:0 10\n",
            f"{V1}/a/{FILES[0]}": "8:0 10\n",
            f"{V1}/a/b/{FILES[0]}": "8:0 70\n",
        },
    )
    assert short(look(machine, "sda").caps) == [("sda", "read", 70, None)]


def test_version_2_holds_it_to_the_strictest_group_on_the_way_up(machine: Path) -> None:
    plant(
        machine,
        {
            "proc/self/cgroup": "0::/a/b\n",
            f"{V2}/cgroup.controllers": "cpu io memory\n",
            f"{V2}/a/io.max": "8:0 rbps=500 wbps=max riops=max wiops=120\n9:9 rbps=1\n",
            f"{V2}/a/b/io.max": "8:0 rbps=900 wbps=800 riops=max wiops=200\n",
            "sys/fs/cgroup/other/io.max": "8:0 rbps=1 wbps=1 riops=max wiops=max\n",
        },
    )
    found = look(machine, "sda2", "sda")
    assert sorted(short(found.caps), key=str) == [
        ("sda", "read", 500, None),
        ("sda", "write", 800, None),
        ("sda", "write", None, 120),
    ]
    assert found.caps is not None
    files = {cap.bytes_per_second or cap.requests_per_second: cap.file for cap in found.caps}
    assert files == {
        500: str(machine / V2 / "a/io.max"),
        800: str(machine / V2 / "a/b/io.max"),
        120: str(machine / V2 / "a/io.max"),
    }


def test_version_2_beside_version_1_tells_where_version_1_lacks_the_controller(machine: Path) -> None:
    plant(
        machine,
        {
            "proc/self/cgroup": "4:memory:/\n0::/a\n",
            f"{V2}/unified/cgroup.controllers": "io\n",
            f"{V2}/unified/a/io.max": "8:0 rbps=5 wbps=max riops=max wiops=max\n",
        },
    )
    assert short(look(machine, "sda").caps) == [("sda", "read", 5, None)]


def test_a_cap_below_stripes_carries_no_whole_device(machine: Path) -> None:
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[0]}": "8:0 9\n9:0 90\n"})
    found = look(machine, "md0", "sda", "sdb").caps
    assert found is not None
    assert [(cap.device, cap.carries) for cap in found] == [("md0", ["md0"]), ("sda", [])]


def test_a_container_in_version_1_and_2_is_held_by_the_root_that_it_sees(machine: Path) -> None:
    container = {f"{V1}/{FILES[1]}": "", f"{V1}/{FILES[2]}": "8:0 33\n"}
    plant(machine, {"proc/self/cgroup": "7:blkio:/docker/123\n", **NO_V1, **container})
    assert short(look(machine, "sda").caps) == [("sda", "write", 33, None)]
    plant(
        machine,
        {
            "proc/self/cgroup": "0::/\n",
            f"{V2}/cgroup.controllers": "io\n",
            f"{V2}/cgroup.type": "domain\n",
            f"{V2}/io.max": "8:0 wbps=44\n",
        },
    )
    assert short(look(machine, "sda").caps) == [("sda", "write", 44, None)]


def test_a_pod_without_a_cap_says_that_groups_above_it_are_not_shown(machine: Path) -> None:
    """As Kubernetes and Docker show it: the root of the container's namespace has the files of a group."""
    plant(
        machine,
        {
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": "31 30 0:27 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
            f"{V2}/cgroup.controllers": "cpuset cpu io memory pids\n",
            f"{V2}/cgroup.type": "domain\n",
            f"{V2}/io.max": "",
        },
    )
    found = look(machine, "sda")
    assert found.caps == []
    assert (found.caps_reason or "").endswith(
        "none of its devices; groups above that of the container are not shown"
    )


@pytest.mark.parametrize("version", [1, 2])
def test_a_container_that_shows_the_groups_of_its_host_does_not_know_its_own(
    machine: Path, version: int
) -> None:
    """A pod with the host's /sys: /proc/self/cgroup begins at the pod, the mount at the machine's root."""
    point = "/sys/fs/cgroup" if version == 2 else "/sys/fs/cgroup/blkio"
    kind = "cgroup2 cgroup rw" if version == 2 else "cgroup cgroup rw,blkio"
    plant(
        machine,
        {
            "proc/self/cgroup": "0::/\n" if version == 2 else "7:blkio:/\n",
            "proc/self/mountinfo": "30 1 0:26 / /sys rw - sysfs sysfs rw\n"
            f"31 30 0:27 /../../.. {point} rw,nosuid - {kind}\n",
            f"{V2}/cgroup.controllers": "cpuset cpu io memory pids\n",
            f"{V2}/kubepods.slice/io.max": "8:0 rbps=1000\n",
            **NO_V1,
        },
    )
    found = look(machine, "sda")
    assert found.caps is None
    assert "not known: " in (found.caps_reason or "") and "outside of this process's" in (
        found.caps_reason or ""
    )


def test_slices_of_systemd_hold_with_the_scope_and_so_does_a_cap_on_the_machine(machine: Path) -> None:
    scope = f"{V2}/user.slice/user-0.slice/session-1.scope"
    plant(
        machine,
        {
            "proc/self/cgroup": "0::/user.slice/user-0.slice/session-1.scope\n",
            "proc/self/mountinfo": "31 30 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
            f"{V2}/cgroup.controllers": "cpuset cpu io memory hugetlb pids rdma misc\n",
            f"{V2}/user.slice/cgroup.controllers": "cpu io memory pids\n",
            f"{V2}/user.slice/io.max": "8:0 rbps=max wbps=20000000 riops=max wiops=max\n",
            f"{V2}/user.slice/user-0.slice/cgroup.controllers": "memory pids\n",
            f"{scope}/cgroup.controllers": "",
        },
    )
    assert short(look(machine, "sda2", "sda").caps) == [("sda", "write", 20_000_000, None)]


@pytest.mark.parametrize(
    ("then", "known"),
    [("8:0 rbps=1000\n", True), ("8:0 rbps=2000\n", False), ("", False), ("garbage\n", True)],
)
def test_caps_that_change_during_the_run_are_not_known(machine: Path, then: str, known: bool) -> None:
    group = {"proc/self/cgroup": "0::/a\n", f"{V2}/cgroup.controllers": "io\n"}
    plant(machine, {**group, f"{V2}/a/io.max": "8:0 rbps=1000\n"})
    before = look(machine, "sda")
    plant(machine, {f"{V2}/a/io.max": then})
    (after,) = with_caps_after([before], machine / "proc", machine / "sys")
    assert (after == before) is known
    if not known:
        assert (after.caps, after.caps_reason) == (None, "not known: they changed during the run")


@pytest.mark.parametrize(
    "tree",
    [
        {"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[0]}": "8:99 5\n"},
        {"proc/self/cgroup": "0::/\n", f"{V2}/cgroup.controllers": "io\n"},
        {"proc/self/cgroup": "0::/a\n", f"{V2}/cgroup.controllers": "io\n", f"{V2}/a/io.max": ""},
        {
            "proc/self/cgroup": "0::/a/b\n",
            f"{V2}/cgroup.controllers": "io\n",
            f"{V2}/a/io.max": "8:0 rbps=max wbps=max riops=max wiops=max\n",
            f"{V2}/a/b/cgroup.controllers": "cpu memory\n",
        },
    ],
    ids=["version 1", "root of version 2", "empty", "controller not given to the group"],
)
def test_no_cap_is_known(machine: Path, tree: dict[str, str]) -> None:
    plant(machine, tree)
    found = look(machine, "sda2", "sda")
    assert found.caps == []
    assert (found.caps_reason or "").startswith("no cap: ")


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        ({}, "no control group of this process"),
        ({"proc/self/cgroup": "7:blkio:/\n"}, "blkio is not there"),
        ({"proc/self/cgroup": "garbage\n::\n\n7:blkio\n"}, "no control group of this process"),
        ({"proc/self/cgroup": "7:blkio:/\n", f"{V1}/tasks": ""}, "no such file"),
        ({"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[1]}": "8:0 max\n"}, "is no limit"),
        ({"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[1]}": "8:0 -1\n"}, "is no limit"),
        ({"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[1]}": "8:0 0\n"}, "is no limit"),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cgroup.controllers": "cpu\n"}, "I/O controller"),
        (
            {
                "proc/self/cgroup": "0::/\n",
                f"{V2}/cgroup.controllers": "cpu\n",
                f"{V2}/cgroup.type": "domain\n",
            },
            "no such file",
        ),
        (
            {
                "proc/self/cgroup": "0::/a\n",
                f"{V2}/cgroup.controllers": "io\n",
                f"{V2}/a/cgroup.controllers": "io\n",
            },
            "no such file",
        ),
        *(
            (
                {
                    "proc/self/cgroup": "0::/a\n",
                    f"{V2}/cgroup.controllers": "io\n",
                    f"{V2}/a/io.max": line + "\n",
                },
                "is no limit",
            )
            for line in ("8:0", "8:0 rbps=-5", "8:0 rbps=1e9", "sda rbps=5", "8:0 rbps=" + "9" * 5000, "\x00")
        ),
    ],
)
def test_what_is_missing_or_garbage_is_not_known(machine: Path, tree: dict[str, str], why: str) -> None:
    plant(machine, tree)
    found = look(machine, "sda2", "sda")
    assert found.caps is None
    assert (found.caps_reason or "").startswith("not known: ")
    assert why in (found.caps_reason or "").lower() or why in (found.caps_reason or "")


def test_a_directory_in_place_of_a_file_is_not_known(machine: Path) -> None:
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1})
    (machine / V1 / FILES[0]).unlink()
    (machine / V1 / FILES[0]).mkdir()
    assert "directory" in (look(machine, "sda").caps_reason or "")


@pytest.mark.parametrize("value", ["9" * 5000, "18446744073709551616"])
def test_a_number_that_no_kernel_holds_is_no_limit(machine: Path, value: str) -> None:
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[0]}": f"8:0 {value}\n"})
    found = look(machine, "sda")
    assert not found.caps and "which is no limit" in (found.caps_reason or "")


def test_a_file_that_is_too_long_is_not_known_rather_than_cut_within_a_number(machine: Path) -> None:
    line = "8:0 1000\n"
    text = "\n" * (LARGEST_FILE_BYTES - len(line) + 3) + line
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1, f"{V1}/{FILES[0]}": text})
    found = look(machine, "sda")
    assert not found.caps and "is longer than 1048576 bytes" in (found.caps_reason or "")


def test_a_group_that_may_not_be_looked_into_is_not_known(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(machine, {"proc/self/cgroup": "0::/a\n", f"{V2}/cgroup.controllers": "io\n"})
    plant(machine, {f"{V2}/a/cgroup.controllers": "io\n", f"{V2}/a/io.max": "8:0 rbps=1\n"})
    looked = os.stat

    def refused(path: Any, **others: Any) -> os.stat_result:
        if str(path).startswith(f"{machine / V2}/a/"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return looked(path, **others)

    monkeypatch.setattr(os, "stat", refused)
    found = look(machine, "sda")
    assert not found.caps
    assert found.caps_reason == f"not known: {machine / V2 / 'a/io.max'}: permission denied"


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_name_that_no_directory_has_is_no_group(machine: Path, name: str) -> None:
    plant(machine, {"proc/self/cgroup": f"0::/{name}\n", f"{V2}/cgroup.controllers": "io\n"})
    plant(machine, {f"{V2}/cgroup.type": "domain\n", f"{V2}/io.max": "8:0 rbps=1\n"})
    assert short(look(machine, "sda").caps) == [("sda", "read", 1, None)]


def test_a_volume_without_a_device_keeps_its_reason(machine: Path) -> None:
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1})
    nfs = VolumeFacts(role="data", node="n", directory="/d", reason="nfs is a network file system")
    found = with_caps([nfs], machine / "proc", machine / "sys")[0]
    assert (found.caps, found.caps_reason) == (None, "not known: nfs is a network file system")


def test_a_device_that_is_gone_is_not_known(machine: Path) -> None:
    plant(machine, {"proc/self/cgroup": "7:blkio:/\n", **NO_V1})
    assert look(machine, "sdz").caps_reason == "not known: the kernel does not give the number of sdz"


NO_LIMIT = str(2**63 - 4096)


def test_the_smallest_limit_on_the_way_up_holds_in_version_2(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/cgroup.controllers": "cpu memory",
            "sys/fs/cgroup/a/memory.max": "1000",
            "sys/fs/cgroup/a/memory.current": "700",
            "sys/fs/cgroup/a/memory.stat": "inactive_file 200",
            "sys/fs/cgroup/a/cpu.max": "150000 100000",
            "sys/fs/cgroup/a/b/memory.max": "max",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000",
        },
    )
    limits = read_limits(tmp_path / "proc", tmp_path / "sys")
    assert limits.memory_bytes == 1000
    assert limits.memory_available_bytes == 500
    assert limits.cpu_cores == 1.5


def test_version_1_and_its_way_of_saying_no_limit(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/job\n3:cpu,cpuacct:/job\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": NO_LIMIT,
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "5000",
            "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
        },
    )
    limits = read_limits(tmp_path / "proc", tmp_path / "sys")
    assert (limits.memory_bytes, limits.memory_available_bytes, limits.cpu_cores) == (5000, 4000, 0.5)


def test_a_host_path_that_a_container_cannot_see_means_the_root_of_its_mount(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/docker-1234.scope\n",
            "sys/fs/cgroup/cgroup.controllers": "memory",
            "sys/fs/cgroup/memory.max": "77",
            "sys/fs/cgroup/memory.current": "7",
        },
    )
    assert read_limits(tmp_path / "proc", tmp_path / "sys").memory_bytes == 77


@pytest.mark.parametrize("path", ["/", "/../..", "/gone"])
def test_no_limits_are_none_and_the_walk_stays_within_the_mount(tmp_path: Path, path: str) -> None:
    plant(
        tmp_path,
        {
            "proc/self/cgroup": f"0::{path}\n",
            "sys/fs/memory.max": "1",
            "sys/fs/cgroup/cgroup.controllers": "",
            "sys/fs/cgroup/memory.max": "max",
        },
    )
    limits = read_limits(tmp_path / "proc", tmp_path / "sys")
    assert (limits.memory_bytes, limits.memory_available_bytes, limits.cpu_cores) == (None, None, None)


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, None),
        ({".dockerenv": ""}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"run/systemd/container": "lxc\n"}, "lxc"),
        ({"proc/1/cgroup": "0::/kubepods.slice/x\n"}, "kubernetes"),
        ({"proc/1/cgroup": "0::/init.scope\n"}, None),
        ({"proc/self/environ": "PATH=/bin\0KUBERNETES_SERVICE_HOST=10.0.0.1\0"}, "kubernetes"),
        ({"proc/self/environ": "KUBERNETES_SERVICE_HOST=10.0.0.1\0", ".dockerenv": ""}, "kubernetes"),
        ({"proc/self/environ": "MY_KUBERNETES_SERVICE_HOST=10.0.0.1\0"}, None),
    ],
)
def test_containers_are_known_by_their_marks(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    plant(tmp_path, files)
    assert container_name(tmp_path / "proc", tmp_path) == name
