"""The limit on a pod's ephemeral storage, over mountinfo as a pod has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.measure.space import EPHEMERAL, EPHEMERAL_VARIABLE, ephemeral_storage
from mawl.records.spec.program_options import Role
from tests.fakes.tree import plant

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
