"""A real loop device under a real file system: it leads to its disk, and its bytes are those written."""

from __future__ import annotations

import mmap
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.measure.devices import volume_facts
from mawl.measure.host.collector import HostCollector
from tests import needs

PROGRAMS = ("losetup", "mkfs.ext4", "mount", "umount")
WRITTEN_BYTES = 8 * 2**20
METADATA_BYTES = 2**20


def sh(*command: str) -> str:
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A directory on a loop device of its own, and the name of that device."""
    needs.ROOT.require()
    needs.program(*PROGRAMS).require()
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    try:
        device = sh("losetup", "--find", "--show", str(image))
    except subprocess.CalledProcessError as error:
        needs.skip(f"no loop device may be made here: {error.stderr.strip()}")
    try:
        sh("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        sh("mount", device, str(place))
        try:
            yield place, Path(device).name
        finally:
            sh("umount", str(place))
    finally:
        sh("losetup", "--detach", device)


@pytest.mark.lab
def test_a_loop_device_counts_what_is_written_and_leads_to_its_disk(
    mounted: tuple[Path, str], tmp_path: Path
) -> None:
    place, loop = mounted
    volume, home = volume_facts({"util": [place], "data": [tmp_path]}, "n")
    assert volume.file_system == "ext4"
    assert volume.devices == [loop] and volume.layers[0] == loop
    assert volume.disks == (home.disks or [loop]), "below it lies what holds its file"
    collector = HostCollector(volume.layers)
    before = collector.read()
    block = mmap.mmap(-1, 2**20)
    descriptor = os.open(place / "file", os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    for _ in range(WRITTEN_BYTES // len(block)):
        os.write(descriptor, block)
    os.fsync(descriptor)
    os.close(descriptor)
    after = collector.read()
    collector.close()
    gained = {name: after[name] - before[name] for name in after if name.startswith(f"device.{loop}.")}
    assert 0 <= gained[f"device.{loop}.written_bytes"] - WRITTEN_BYTES < METADATA_BYTES
    assert gained[f"device.{loop}.writes"] >= 8
    assert gained[f"device.{loop}.write_seconds"] >= 0
