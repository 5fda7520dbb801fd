"""Free and needed space, one file system at a time.

The space that the files of a run take, and how often it is looked at.

The limit on a pod's ephemeral storage, over mountinfo as a pod has it.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.measure.devices import parse_mountinfo
from mawl.measure.space import (
    EPHEMERAL,
    EPHEMERAL_VARIABLE,
    MOST_COST_RATIO,
    Occupancy,
    allocated_bytes,
    ephemeral_storage,
    file_systems,
    nearest,
    system_of,
)
from mawl.records.spec.program_options import Role
from tests.fakes.tree import plant


def test_it_is_what_the_file_system_holds(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/one", "a/b/two"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "a" / "hole").touch()
    (tmp_path / "a" / "link").symlink_to("/")
    assert 2 * 2**20 <= allocated_bytes(tmp_path) < 2.1 * 2**20
    assert allocated_bytes(tmp_path / "none") == 0


def test_each_volume_has_its_series(tmp_path: Path) -> None:
    for name, size in (("v1", 8192), ("v2", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * size)
    looking = Occupancy([tmp_path / "v1", tmp_path / "v2"])
    assert looking.series(100.0) == {"volume.1.used_bytes": 8192.0, "volume.2.used_bytes": 0.0}
    assert Occupancy([]).series(100.0) == {}


def test_dear_looks_are_rare(tmp_path: Path) -> None:
    ticks = iter([0.0, 0.1, 5.0, 5.0001, 6.0, 6.0001])
    looking = Occupancy([tmp_path], clock=lambda: next(ticks))
    assert looking.series(10.0)
    pause = 0.1 / MOST_COST_RATIO
    assert looking.series(10.0 + pause - 1.0) == {}
    assert looking.series(10.0 + pause + 1.0)
    assert looking.series(10.0 + pause + 2.0) == {}
    assert looking.series(10.0 + pause + 3.0), "a cheap look is followed by one two seconds later"


def test_a_walk_that_takes_long_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def hanging(_: Path) -> int:
        assert go_on.wait(30)
        return 4096

    monkeypatch.setattr("mawl.measure.space.allocated_bytes", hanging)
    looking = Occupancy([tmp_path])
    assert looking.series(1.0) == {}
    assert looking.series(2.0) == {}
    go_on.set()
    monkeypatch.setattr("mawl.measure.space.PATIENCE_SECONDS", 30)
    assert looking.series(3.0) == {"volume.1.used_bytes": 4096.0}


def test_roles_on_one_file_system_share_its_space(tmp_path: Path) -> None:
    roles: dict[Role, list[Path]] = {
        "data": [tmp_path / "data"],
        "work": [tmp_path / "w1", tmp_path / "w2"],
        "util": [tmp_path / "util"],
    }
    (system,) = file_systems(roles, {"data": 100, "work": 20, "util": 3})
    assert system.needed_bytes == 123
    assert system.roles == ["data", "work", "util"]
    assert system.directories == [str(tmp_path / name) for name in ("data", "w1", "w2", "util")]
    assert system.unwritable == []
    space = os.statvfs(tmp_path)
    assert 0 < system.free_bytes <= space.f_blocks * space.f_frsize
    assert not (tmp_path / "data").exists()


def test_without_a_plan_nothing_is_needed_and_that_is_not_zero(tmp_path: Path) -> None:
    (system,) = file_systems({"data": [tmp_path]}, None)
    assert system.needed_bytes is None


def test_a_volume_below_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (system,) = file_systems({"work": [tmp_path / "file" / "w", tmp_path / "w"]}, None)
    assert system.unwritable == [str(tmp_path / "file" / "w")]


def test_the_kind_comes_from_mountinfo(tmp_path: Path) -> None:
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"24 1 0:0 / /proc rw shared:1 - proc proc rw\n"
        f"29 1 {os.major(device)}:{os.minor(device)} / / rw,relatime shared:1 - xfs /dev/vda rw\n"
    )
    (system,) = file_systems({"data": [tmp_path]}, None, mounts)
    assert system.kind == "xfs"
    (unknown,) = file_systems({"data": [tmp_path]}, None, tmp_path / "absent")
    assert unknown.kind is None


def test_subvolumes_of_btrfs_are_one_file_system() -> None:
    lines = [
        f"{number} 1 0:50 /{name} /mnt/{name} rw shared:1 - btrfs /dev/sdb rw,subvol=/{name}"
        for number, name in enumerate(("a", "b"), 40)
    ]
    mounts = parse_mountinfo("\n".join([*lines, "60 1 8:32 / /mnt/c rw shared:2 - ext4 /dev/sdc rw"]))
    assert system_of(Path("/mnt/a/x"), mounts) == system_of(Path("/mnt/b"), mounts) == "0:50"
    assert system_of(Path("/mnt/c"), mounts) == "8:32"
    assert system_of(Path("/"), []) == "{}:{}".format(
        *(f(Path("/").stat().st_dev) for f in (os.major, os.minor))
    )


def test_nearest_directory_that_exists(tmp_path: Path) -> None:
    assert nearest(tmp_path / "a" / "b" / "c") == tmp_path
    assert nearest(tmp_path) == tmp_path


def test_a_place_that_cannot_be_looked_at_counts_with_the_nearest_above_it(tmp_path: Path) -> None:
    """Path.exists raises for a name that is too long, as for a directory that this user may not enter."""
    assert nearest(tmp_path / ("a" * 300) / "b") == tmp_path


KUBELET = "/var/lib/kubelet/pods/4f0e/volumes/"
NEEDED: dict[Role, int] = {"data": 1000, "work": 400, "util": 30}


class Pod:
    """A pod whose mount points are directories of a folder: data is a claim, the others as a test says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lines = ["20 1 0:50 / / rw - overlay overlay rw,upperdir=/x"]
        self.roles: dict[Role, list[Path]] = {}
        self.mount("data", "/", "ext4")

    def mount(self, role: Role, root: str, kind: str) -> None:
        place = self.root / role
        place.mkdir()
        self._lines.append(f"30 20 8:1 {root} {place} rw - {kind} /dev/sda1 rw")
        self.roles.setdefault(role, []).append(place)
        plant(self.root, {"proc/self/mountinfo": "\n".join(self._lines)})

    def storage(self, limit: str | None = "10000") -> tuple[int, int | None, list[str]] | None:
        """Free and needed bytes and the roles."""
        environment = {} if limit is None else {EPHEMERAL_VARIABLE: limit}
        needed = {role: NEEDED[role] for role in self.roles}
        found = ephemeral_storage(self.roles, needed, environment=environment, proc=self.root / "proc")
        if not found:
            return None
        (system,) = found
        assert system.kind == EPHEMERAL and system.size_bytes == int(limit or 0)
        return system.free_bytes, system.needed_bytes, list(system.roles)


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def test_an_empty_dir_counts_and_a_claim_does_not(pod: Pod) -> None:
    pod.mount("work", f"{KUBELET}kubernetes.io~csi/pvc-1/mount", "xfs")
    pod.mount("util", f"{KUBELET}kubernetes.io~empty-dir/util", "ext4")
    assert pod.storage() == (10000, 30, ["util"])


def test_an_empty_dir_in_memory_counts_as_memory_instead(pod: Pod) -> None:
    pod.mount("util", "/", "tmpfs")
    assert pod.storage() is None


def test_the_layer_of_the_container_counts(pod: Pod) -> None:
    pod.roles["util"] = [Path("/nowhere/util")]
    pod.roles["work"] = [Path("/nowhere/work"), pod.root / "data" / "work"]
    assert pod.storage() == (10000, 30 + 200, ["util", "work"]), "half of work lies on the claim"


def test_what_is_there_already_is_not_free(pod: Pod) -> None:
    pod.mount("util", f"{KUBELET}kubernetes.io~empty-dir/util", "ext4")
    (pod.root / "util" / "deep").mkdir()
    (pod.root / "util" / "deep" / "file").write_bytes(b"x" * 4096)
    assert pod.storage("8192") == (4096, 30, ["util"])
    assert pod.storage("1000") == (0, 30, ["util"])


def test_a_directory_inside_another_is_held_once(pod: Pod) -> None:
    pod.mount("work", f"{KUBELET}kubernetes.io~empty-dir/work", "ext4")
    inside = pod.root / "work" / "util"
    inside.mkdir()
    (inside / "file").write_bytes(b"x" * 4096)
    pod.roles["util"] = [inside]
    assert pod.storage("8192") == (4096, 430, ["work", "util"])


def test_a_claim_mounted_inside_a_directory_that_counts_is_not_held(pod: Pod) -> None:
    pod.mount("work", f"{KUBELET}kubernetes.io~empty-dir/work", "ext4")
    pod.mount("work/claim", f"{KUBELET}kubernetes.io~csi/pvc-1/mount", "xfs")  # type: ignore[arg-type]
    del pod.roles["work/claim"]  # type: ignore[arg-type]
    (pod.root / "work" / "claim" / "file").write_bytes(b"x" * 4096)
    assert pod.storage("8192") == (8192, 400, ["work"])


def test_without_a_limit_nothing_is_said(pod: Pod) -> None:
    pod.mount("util", f"{KUBELET}kubernetes.io~empty-dir/util", "ext4")
    assert pod.storage(None) is None
    assert (
        ephemeral_storage(pod.roles, None, environment={EPHEMERAL_VARIABLE: ""}, proc=pod.root / "proc") == []
    )


@pytest.mark.parametrize("wrong", ["much", "-1", "1 GiB of disk"])
def test_a_limit_that_is_no_size_is_refused_with_its_name(pod: Pod, wrong: str) -> None:
    with pytest.raises(UsageError, match=f"{EPHEMERAL_VARIABLE}: expected a size.*resourceFieldRef"):
        ephemeral_storage(pod.roles, None, environment={EPHEMERAL_VARIABLE: wrong}, proc=pod.root / "proc")
