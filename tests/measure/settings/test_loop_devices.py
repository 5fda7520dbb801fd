"""On real loop devices: what tune2fs and xfs_info print, and a planted bad setting that the check finds.

About two seconds each: sparse images, no I/O.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.measure.devices import volume_facts
from mawl.measure.machine import read_machine
from mawl.measure.settings.inventory import inventory_of
from mawl.records.model.node import Figures
from mawl.records.spec.program_options import Options
from tests import needs

TOOLS = ("losetup", "mkfs.ext4", "mkfs.xfs", "tune2fs", "xfs_info", "mount", "umount", "blockdev")

pytestmark = [
    pytest.mark.lab,
    needs.marks(needs.ROOT),
    needs.marks(needs.program(*TOOLS)),
]


def said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def mounted(folder: Path, *mkfs: str) -> Iterator[tuple[str, Path]]:
    """A file system on a loop device of ours: the device's name and the mount point."""
    image, point = folder / "image", folder / "mount"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(512 * 2**20)
    said(*mkfs, str(image))
    device = said("losetup", "-f", "--show", str(image)).strip()
    try:
        said("mount", "-o", "noatime", device, str(point))
        try:
            yield Path(device).name, point
        finally:
            said("umount", str(point))
    finally:
        said("losetup", "-d", device)


def figures_of(point: Path) -> Figures:
    inventory = inventory_of(read_machine(), volume_facts({"data": [point]}, "here"), Options())
    return inventory.families["file_system"][str(point)]


@pytest.mark.parametrize("block", [1024, 4096])
def test_ext4_is_what_tune2fs_prints(tmp_path: Path, block: int) -> None:
    with mounted(tmp_path, "mkfs.ext4", "-q", "-F", "-b", str(block), "-E", "stride=16,stripe_width=64") as (
        device,
        point,
    ):
        found, told = figures_of(point), said("tune2fs", "-l", f"/dev/{device}")
    blocks = re.search(r"Block size:\s+([0-9]+)", told)
    width = re.search(r"RAID stripe width:\s+([0-9]+)", told)
    assert blocks and width
    assert found["block_bytes"] == int(blocks[1]) == block
    assert found["stripe_width_bytes"] == int(width[1]) * block
    assert found["data_mode"] == "ordered"
    assert (found["type"], found["access_times"]) == ("ext4", "noatime")


def test_xfs_is_what_xfs_info_prints(tmp_path: Path) -> None:
    with mounted(tmp_path, "mkfs.xfs", "-q", "-f", "-d", "su=64k,sw=4,agcount=6") as (_, point):
        found, told = figures_of(point), said("xfs_info", str(point))
    data = re.search(r"data\s+=\s+bsize=([0-9]+)", told)
    stripe = re.search(r"sunit=([0-9]+)\s+swidth=([0-9]+) blks", told)
    groups, log = re.search(r"agcount=([0-9]+)", told), re.search(r"log .*?blocks=([0-9]+)", told, re.S)
    assert data and stripe and groups and log
    block = int(data[1])
    assert found["block_bytes"] == block
    assert (found["stripe_unit_bytes"], found["stripe_width_bytes"]) == (
        int(stripe[1]) * block,
        int(stripe[2]) * block,
    )
    assert found["stripe_unit_bytes"] == 64 * 1024
    assert found["allocation_groups"] == int(groups[1]) == 6
    assert found["log_bytes"] == int(log[1]) * block


def test_a_planted_bad_setting_is_found_by_check(tmp_path: Path) -> None:
    with mounted(tmp_path, "mkfs.ext4", "-q", "-F") as (device, point):
        queue = Path("/sys/block", device, "queue")
        offered = (queue / "scheduler").read_text().replace("[", "").replace("]", "").split()
        bad = next((name for name in ("bfq", "kyber") if name in offered), None)
        before = (queue / "read_ahead_kb").read_text()
        said("blockdev", "--setra", "8", f"/dev/{device}")
        if bad is not None:
            (queue / "scheduler").write_text(bad)
        roles = [word for role in ("data", "work", "util") for word in (f"--{role}", str(point / role))]
        command = [sys.executable, "-m", "mawl", "tune", "check", "--live", "--json", *roles]
        try:
            done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
            after = (queue / "read_ahead_kb").read_text().strip()
        finally:  # the next to attach gets the same device
            (queue / "read_ahead_kb").write_text(before)
            (queue / "scheduler").write_text("none")
    assert done.returncode == 0, done.stderr
    rows = [row for row in json.loads(done.stdout)["settings"] if row["subject"] == device]
    found = {row["name"]: row["current"] for row in rows if row["state"] == "differs"}
    assert found["read_ahead"] == 4096
    changes = {row["name"]: row["change"] for row in rows}
    assert changes["read_ahead"] == f"blockdev --setra 8192 /dev/{device}"
    assert after == "4", "check changes nothing"
    if bad is None:
        needs.skip("this kernel offers no bfq and no kyber: only the read-ahead was planted")
    assert found["scheduler"] == bad
