"""Blocked time in the right role: a real device, held to a rate by its control group."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.measure.preload.build import Library
from tests import needs
from tests.cli.conftest import Command

CAP_BYTES_PER_SECOND = 20 << 20
BLKIO = Path("/sys/fs/cgroup/blkio")

pytestmark = [
    pytest.mark.lab,
    pytest.mark.alone,
    needs.marks(needs.ROOT),
    needs.marks(needs.directory(str(BLKIO))),
]


def done(*command: str) -> str:
    """Output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def capped(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A mounted file system on a loop device, and a group that reads from it at the cap."""
    image, mount, group = tmp_path / "image", tmp_path / "mount", BLKIO / f"mawl-test-{os.getpid()}"
    with image.open("wb") as file:
        file.truncate(128 << 20)
    mount.mkdir()
    with contextlib.ExitStack() as undo:
        try:
            device = done("losetup", "--find", "--show", str(image))
        except (OSError, subprocess.CalledProcessError) as error:
            needs.skip(f"no loop device: {error}")
        undo.callback(done, "losetup", "--detach", device)
        done("mkfs.ext4", "-q", device)
        done("mount", device, str(mount))
        undo.callback(done, "umount", str(mount))
        group.mkdir()
        undo.callback(_remove, group)
        number = os.stat(device).st_rdev  # noqa: PTH116
        limit = f"{os.major(number)}:{os.minor(number)} {CAP_BYTES_PER_SECOND}"
        (group / "blkio.throttle.read_bps_device").write_text(limit)
        yield mount, group


def _remove(group: Path) -> None:
    for _ in range(100):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.05)


def test_a_job_on_a_throttled_device_is_blocked_in_its_role(
    capped: tuple[Path, Path], made: Library, mawl: Command
) -> None:
    mount, group = capped
    size = 40 << 20
    subprocess.run(["dd", "if=/dev/urandom", f"of={mount}/f", "bs=1M", "count=40", "conv=fsync"], check=True)
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])
    (mawl.directory / "d").mkdir()
    join = f"echo $$ >{group}/cgroup.procs && exec dd if={mount}/f of=/dev/null bs=256k iflag=direct"
    found = mawl.ok("measure", "--json", "--data", "d", "--util", str(mount), "--", "sh", "-c", join)
    report = json.loads(found.stdout)
    assert report["io"]["by_role"]["util"]["read_bytes"] == size
    wait, real = report["wait"], report["usage"]["real_time_seconds"]
    blocked = wait["blocked_seconds"]
    assert real > 0.8 * size / CAP_BYTES_PER_SECOND
    assert blocked["util"] > 0.9 * real
    assert blocked["data"] == blocked["work"] == 0.0
    whole = sum([wait["on_cpu_seconds"], wait["run_queue_seconds"], *blocked.values()])
    assert whole == pytest.approx(real, rel=0.02)
