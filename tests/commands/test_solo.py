"""What a time alone depends on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mawl.commands import solo
from mawl.commands.solo import surroundings
from mawl.measure.machine import read_machine
from mawl.measure.mounts import Mount
from mawl.spec.program_options import ROLES
from mawl.spec.record import RunSpec
from mawl.volumes import Volumes


def of(tmp_path: Path, **limits: object) -> dict[str, Any]:
    plan = SimpleNamespace(seed=1, saving=0.9)
    asked: Any = SimpleNamespace(plan=plan, cpus=None, spec=RunSpec())
    machine = msgspec.structs.replace(read_machine(), **limits)
    return dict(surroundings(asked, Volumes({role: [tmp_path] for role in ROLES}), machine))


def test_another_disk_under_the_same_path_is_another_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = Mount(device="8:1", mount_point="/", file_system="xfs", source="/dev/sda1", options="rw")
    found = []
    for source in ("/dev/sda1", "/dev/nvme0n1"):
        monkeypatch.setattr(solo, "read_mounts", lambda: [Mount(**{**as_dict(mount), "source": source})])  # noqa: B023
        found.append(of(tmp_path))
    assert found[0]["work_storage"] == ["xfs /dev/sda1 rw"]
    assert {name for name in found[0] if found[0][name] != found[1][name]} == {
        f"{role}_storage" for role in ROLES
    }


@pytest.mark.parametrize("limits", [{"cpu_quota_cores": 0.25}, {"memory_limit_bytes": 2**20}])
def test_another_limit_of_the_container_is_another_condition(tmp_path: Path, limits: dict[str, Any]) -> None:
    assert of(tmp_path, **limits) != of(tmp_path)


def as_dict(mount: Mount) -> dict[str, str]:
    return {name: getattr(mount, name) for name in mount.__struct_fields__}


def test_another_library_is_another_condition(tmp_path: Path) -> None:
    assert any(package.startswith("numpy ") for package in of(tmp_path)["libraries"])
