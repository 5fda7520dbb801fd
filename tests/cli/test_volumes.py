"""Several volumes a role on the command line: even bytes, and what becomes of one that is bad."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.cli.conftest import Command

COPIES = """
name = "four"
[commands.copy]
command = ["sh", "-c", "head -c 1000000 /dev/zero > {work}/file; cat {work}/file > /dev/null"]
""" + "".join(f'[[sessions]]\nname = "{name}"\nstages = [["copy"]]\n' for name in "abcd")
"""Four commands alike, each with one file in work."""

FOUR = 'name = "four"\nscale = 0.0005\n' + "".join(
    f'[[sessions]]\nname = "{name}"\nstages = [["segmentation"]]\n' for name in "abcd"
)
"""Four jobs of a program alike, each with one file in work."""


def four_volumes(directory: Path, workload: str = FOUR) -> list[str]:
    (directory / "four.toml").write_text(workload)
    return [str(directory / f"v{number}") for number in range(1, 5)]


def summary(mawl: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(mawl("report", "--format", "json").stdout)
    return found


@pytest.mark.parametrize("order", ["rotation", "free-space"])
def test_each_volume_is_reported_and_they_add_up_to_their_role(mawl: Command, order: str) -> None:
    work = four_volumes(mawl.directory, COPIES)
    mawl.ok("run", "four.toml", "--work", *work, "--volume-order", order)
    found = summary(mawl)
    volumes = [volume for volume in found["volumes"] if volume["role"] == "work"]
    assert [volume["directory"] for volume in volumes] == work
    role = found["io"]["by_role"]["work"]
    assert sum(volume["read_bytes"] for volume in volumes) == role["read_bytes"] > 0
    assert sum(volume["written_bytes"] for volume in volumes) == role["written_bytes"] > 0
    if order == "rotation":
        assert found["roles"]["work"]["spread_ratio"] < 0.01, "four files alike on four volumes"
    assert found["volume_order"] == order
    assert all(volume["size_bytes"] >= volume["used_before_bytes"] > 0 for volume in volumes)
    assert all(volume["used_after_bytes"] is not None for volume in volumes)
    assert mawl.leftovers() == []
    assert all(list(Path(place).iterdir()) == [] for place in work)
    assert "spread of the bytes" in mawl("report", "--all").stdout


def test_a_volume_that_cannot_be_written_is_named_before_anything_starts(mawl: Command) -> None:
    work = four_volumes(mawl.directory)
    Path(work[2]).touch()
    done = mawl("run", "four.toml", "--work", *work)
    assert done.returncode == 1
    assert f"{work[2]}: the work directory cannot be written: file exists" in done.stderr
    assert not (mawl.directory / "runs").exists()


def test_two_names_of_one_volume_and_nested_ones_are_refused(mawl: Command) -> None:
    (mawl.directory / "link").symlink_to(mawl.directory / "v1")
    (mawl.directory / "v1").mkdir()
    for verb in ("run", "generate", "doctor"):
        twice = mawl(verb, "nano", "--work", "v1", "link")
        assert (twice.returncode, "one directory by two names: v1 and link" in twice.stderr) == (2, True)
        nested = mawl(verb, "nano", "--work", "v1", "v1/deep")
        assert (nested.returncode, "v1/deep, which lies inside v1" in nested.stderr) == (2, True)


def test_an_order_that_is_none_is_refused(mawl: Command) -> None:
    done = mawl("run", "nano", MAWL_VOLUME_ORDER="random")
    assert done.returncode == 2
    assert "MAWL_VOLUME_ORDER: expected rotation or free-space, found 'random'" in done.stderr


@contextlib.contextmanager
def small_volume(place: Path) -> Iterator[Path]:
    """A tmpfs of 300 MB; skips with a reason where it cannot be mounted."""
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300M", "mawl-test", str(place)], capture_output=True, text=True
    )
    if done.returncode:
        needs.skip(f"lab: cannot mount a small file system: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, left_bytes: int) -> None:
    status = os.statvfs(place)
    with (place / "filler").open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, status.f_bavail * status.f_frsize - left_bytes)


@pytest.mark.lab
def test_by_rotation_a_volume_that_fills_up_costs_only_the_job_whose_turn_it_is(mawl: Command) -> None:
    work = four_volumes(mawl.directory)
    assert mawl("generate", "four.toml").returncode == 0
    with small_volume(Path(work[1])) as small:
        process = mawl.start("run", "four.toml", "--work", *work)
        for _ in range(3000):
            if any(small.glob("mawl-run-*")):
                break
            time.sleep(0.01)
        fill(small, 4096)
        process.communicate(timeout=120)
        found = summary(mawl)
    assert process.returncode == 1
    (failure,) = found["failures"]
    assert f"work is full: {small}" in failure["reason"]
    assert found["jobs"]["counted"] == 3


@pytest.mark.lab
def test_by_free_space_a_full_volume_is_left_alone(mawl: Command) -> None:
    work = four_volumes(mawl.directory)
    with small_volume(Path(work[1])) as small:
        fill(small, 2**18)
        mawl.ok("run", "four.toml", "--work", *work, "--volume-order", "free-space")
        volumes = {volume["directory"]: volume for volume in summary(mawl)["volumes"]}
        refused = mawl("run", "four.toml", "--work", *work)
    assert volumes[str(small)]["written_bytes"] == 0
    assert volumes[work[0]]["written_bytes"] > 0
    assert refused.returncode == 1
    assert "the run would not fit" in refused.stderr
    assert "--volume-order free-space" in refused.stderr
