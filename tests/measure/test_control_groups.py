"""Control-group limits from folders of either version."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.measure.control_groups import container_name, read_limits
from tests.fakes.tree import plant

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
