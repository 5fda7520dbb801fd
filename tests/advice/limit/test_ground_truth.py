"""The verdict on real runs whose limit was made: a limited device, too few processors, a competitor."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.noise import NoiseWatch

pytestmark = pytest.mark.lab

GROUPS = Path("/sys/fs/cgroup/blkio")
SESSION = '[[sessions]]\nname = "{name}"\nstages = [["{program}"]]\n'


def run(directory: Path, *arguments: str, group: Path | None = None) -> dict[str, Any]:
    """``mawl run`` in a directory, in a group of blkio where one is given; the judged summary."""

    def join() -> None:
        if group is not None:
            (group / "tasks").write_text(str(os.getpid()))

    command = [sys.executable, "-m", "mawl"]
    done = subprocess.run(
        [*command, "run", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        preexec_fn=join,
    )
    assert done.returncode == 0, done.stderr
    report = subprocess.run(
        [*command, "report", "--format", "json"], cwd=directory, capture_output=True, text=True, check=True
    )
    summary: dict[str, Any] = json.loads(report.stdout)
    return summary


class Bed:
    """A file system on a loop device of our own, with a rate limit for whoever joins the group."""

    def __init__(self, directory: Path) -> None:
        self.place = directory / "bed"
        self.group = GROUPS / f"mawl-test-{os.getpid()}"
        image = directory / "bed.img"
        with image.open("wb") as file:
            file.truncate(1500 * 2**20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        found = subprocess.run(
            ["losetup", "-f", "--show", "--direct-io=on", str(image)],
            capture_output=True,
            text=True,
            check=True,
        )
        self.loop = found.stdout.strip()
        self.place.mkdir()
        subprocess.run(["mount", self.loop, str(self.place)], check=True)
        self.group.mkdir()

    def limit(self, bytes_per_second: int) -> None:
        """Limit reads and writes of the loop device, each to this rate."""
        number = Path("/sys/block", Path(self.loop).name, "dev").read_text().strip()
        for direction in ("read", "write"):
            (self.group / f"blkio.throttle.{direction}_bps_device").write_text(f"{number} {bytes_per_second}")

    def close(self) -> None:
        """Take away what was made, and only that."""
        subprocess.run(["umount", str(self.place)], check=False)
        subprocess.run(["losetup", "-d", self.loop], check=False)
        self.group.rmdir()


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    if os.geteuid() != 0:
        pytest.skip("needs root: loop devices and rate limits")
    lacking = [name for name in ("losetup", "mkfs.ext4", "mount") if shutil.which(name) is None]
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}")
    if not (GROUPS / "blkio.throttle.read_bps_device").exists():
        pytest.skip("needs control groups of version 1 with blkio")
    made = Bed(tmp_path)
    yield made
    made.close()


@pytest.fixture
def idle_machine() -> None:
    """Run-queue waits that others cause are real, so these tests need the machine for themselves."""
    watch = NoiseWatch()
    time.sleep(2.0)
    busy = watch.look().busy_ratio
    if busy is None or busy > 0.1:
        pytest.skip(f"needs an idle machine; processors are busy for {busy or 0.0:.0%} of the time")


def test_a_rate_limit_on_the_device_of_work_is_storage_and_relaxing_it_helps(
    bed: Bed, tmp_path: Path
) -> None:
    cap = random.Random(os.getpid()).randrange(12, 20) * 10**6
    sessions = "".join(SESSION.format(name=name, program="random_access") for name in "abc")
    (tmp_path / "bound.toml").write_text(f'name = "bound"\nscale = 0.0005\n{sessions}')
    elapsed = []
    for limit in (cap, 2 * cap):
        bed.limit(limit)
        places = ("--work", str(bed.place / "work"), "--util", str(bed.place / "util"))
        summary = run(tmp_path, "bound.toml", *places, group=bed.group)
        elapsed.append(summary["time"]["elapsed_seconds"])
        if limit == cap:
            found = summary["limit"]
            assert (found["verdict"], found["role"], found["device"]) == (
                "storage",
                "work",
                Path(bed.loop).name,
            )
            assert found["evidence"][0]["sentence"].startswith("jobs were blocked in I/O")
            # Reads and writes each have the limit for themselves.
            assert 0.95 * cap <= found["device_peak_bytes_per_second"] <= 2.1 * cap
    assert elapsed[1] <= 0.8 * elapsed[0]


def test_many_jobs_on_one_processor_are_cpu(tmp_path: Path, idle_machine: None) -> None:
    found = run(tmp_path, "starter", "--cores", "1")["limit"]
    assert found["verdict"] == "cpu"


def test_one_light_job_is_limited_by_nothing(tmp_path: Path, idle_machine: None) -> None:
    session = SESSION.format(name="a", program="segmentation")
    (tmp_path / "light.toml").write_text(f'name = "light"\nscale = 0.02\n{session}')
    found = run(tmp_path, "light.toml", "--cache", "warm")["limit"]
    assert found["verdict"] == "none"


def test_a_competitor_and_a_run_from_cache_are_flagged(tmp_path: Path) -> None:
    session = SESSION.format(name="a", program="segmentation")
    (tmp_path / "light.toml").write_text(f'name = "light"\nscale = 0.005\n{session}')
    burning = [sys.executable, "-c", "while True: pass"]
    competitors = [subprocess.Popen(burning) for _ in range(2)]
    try:
        validity = run(tmp_path, "light.toml", "--cache", "warm")["validity"]
    finally:
        for competitor in competitors:
            competitor.kill()
            competitor.wait()
    assert validity["status"] == "indicative"
    assert {"competition", "reach"} <= {finding["rule"] for finding in validity["findings"]}
