"""What ``mawl plan`` says of the scale, and in a pod of the ephemeral storage that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.units import parse_size
from mawl.measure import space
from mawl.measure.devices import Mount
from mawl.plan.catalogue import CATALOGUE
from mawl.records.volumes import INPUTS
from tests.fakes.command_line import Verbs


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A pod whose data is a claim, and whose work and util lie in the container's own layer."""
    layer = Mount(device="0:50", mount_point="/", file_system="overlay", source="overlay", options="rw")
    claim = Mount(
        device="8:1", mount_point=str(tmp_path / "data"), file_system="ext4", source="/dev/sda1", options="rw"
    )
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(space, "read_mounts", lambda proc: [layer, claim])
    for role in ("data", "work", "util"):
        monkeypatch.setenv(f"MAWL_{role.upper()}", str(tmp_path / role))
    return monkeypatch


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("1000000000", ": 1.00 GB free, 118 GB needed for work, util\n  is too little: raise limits"),
        ("200000000000", ": 200 GB free, 118 GB needed for work, util\n  is enough\n"),
    ],
)
def test_the_storage_of_the_pod_is_compared_with_the_need(
    pod: pytest.MonkeyPatch, limit: str, said: str, verbs: Verbs
) -> None:
    pod.setenv("MAWL_EPHEMERAL_STORAGE", limit)
    assert f"ephemeral storage of the pod{said}" in verbs.out("plan", "mixed20", "--scale", "standard")


def test_inputs_that_lie_there_already_are_not_needed_again(
    pod: pytest.MonkeyPatch, tmp_path: Path, verbs: Verbs
) -> None:
    data = tmp_path / "layer"
    pod.setenv("MAWL_DATA", str(data))
    pod.setenv("MAWL_EPHEMERAL_STORAGE", "1000000000000")
    before = verbs.out("plan", "mixed20", "--scale", "0.00001")
    needed = parse_size(before.rpartition(" free, ")[2].partition(" needed")[0])
    held = data / INPUTS / "table"
    held.parent.mkdir(parents=True)
    held.write_bytes(b"x" * (needed // 100))
    pod.setenv("MAWL_EPHEMERAL_STORAGE", str(needed + needed // 200))
    assert "of inputs that lie there are those of this plan" in verbs.out(
        "plan", "mixed20", "--scale", "0.00001"
    )
    held.unlink()
    pod.setenv("MAWL_EPHEMERAL_STORAGE", str(needed // 2))
    assert "is too little" in verbs.out("plan", "mixed20", "--scale", "0.00001")


def test_outside_a_pod_nothing_is_said(pod: pytest.MonkeyPatch, verbs: Verbs) -> None:
    pod.delenv("MAWL_EPHEMERAL_STORAGE", raising=False)
    assert "ephemeral" not in verbs.out("plan", "mixed20")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nano",), "scale 0.00005, seed 1"),
        (("starter", "--scale", "quick"), "scale quick (0.005 of full), seed 1"),
    ],
)
def test_a_scale_is_said_once_in_plain_decimals(words: tuple[str, ...], said: str, verbs: Verbs) -> None:
    assert verbs.out("plan", *words).splitlines()[1].startswith(said)


def test_random_requests_are_counted_beside_all_requests(verbs: Verbs) -> None:
    lines = verbs.out("plan", "mixed20", "--scale", "0.01").splitlines()
    assert "Role        reads     writes      space     requests       random" in lines
    work, asked = (line.split() for line in lines if line.startswith("work "))
    jobs = sum(line.count("random_access#") for line in lines)
    random = CATALOGUE["random_access"].random_requests(0.01) * jobs
    assert jobs == 4 and int(work[-1].replace(",", "")) == random
    assert int(work[-2].replace(",", "")) > random
    assert "For each CPU second       reads     writes" in lines
    assert asked == ["work", "140", "MB", "55.3", "MB"]
