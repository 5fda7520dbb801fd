"""Real beds (root): calibrated, gone after `down`, and gone after kill -9 at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.lab.needs import check
from tests import needs
from tests.advice.limit.draws import generator
from tests.lab.leftovers import leftovers, of_runs

pytestmark = [pytest.mark.lab, pytest.mark.measured]

CAP = 123456789
ZRAM_BYTES = 211812352
NEEDS = (
    "root",
    "fio",
    "loop",
    "ext4",
    "btrfs",
    "zram",
    "cap",
    "writeback limit",
    "disk model",
    "memory group",
)

BED = f"""
name = "mortal"
title = "one volume of each kind"
question = "Is everything gone afterwards?"
workload = "nano"
memory_limit = "1GiB"
[[volumes]]
name = "disk"
size = "1GiB"
disk = {{ model = "spinning", bytes_per_second = "40MB", seek_seconds = 0.008 }}
[[volumes]]
name = "memory"
size = {ZRAM_BYTES}
backing = "zram"
file_system = "ext4"
[[volumes]]
name = "tree"
size = "1GiB"
file_system = "btrfs"
cap = {{ bytes_per_second = {CAP} }}
[[arms]]
name = "disk"
data = ["memory"]
work = ["memory"]
util = ["disk"]
[[arms]]
name = "memory"
data = ["memory"]
work = ["memory"]
util = ["memory"]
[[arms]]
name = "tree"
data = ["tree"]
work = ["tree"]
util = ["tree"]
"""


class Lab:
    """``mawl lab`` with a state directory and images of the test's own."""

    def __init__(self, directory: Path, images: Path) -> None:
        self.directory, self.images = directory, images
        self.state = directory / "state"
        self.state.mkdir()
        (directory / "mortal.toml").write_text(BED)
        self._environment = {**os.environ, "MAWL_LAB_STATE": str(self.state), "MAWL_LAB_IMAGES": str(images)}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "mawl", "lab", *arguments],
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: str) -> str:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out

    def left(self) -> list[str]:
        return leftovers(self.state, self.images, cap=CAP, zram_bytes=ZRAM_BYTES)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    needs.bed(check(NEEDS, tmp_path / "needs"))
    # A time limit ends tests with SIGTERM, of which pytest knows nothing: devices and mounts would stay.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    images = Path("/dev/shm", f"mawl-test-{os.getpid()}")
    images.mkdir()
    made = Lab(tmp_path, images)
    try:
        yield made
    finally:
        made("down")
        images.rmdir()
        signal.signal(signal.SIGTERM, before)


def test_a_bed_is_as_fast_as_it_says_and_down_removes_it_twice(lab: Lab) -> None:
    out = lab("up", "mortal.toml", "--arm", "disk")
    assert "disk, direct random read: " in out
    assert any(line.startswith("loop") for line in lab.left()), "the bed stands"
    down = lab("down", "mortal")
    assert "removed device" in down
    assert lab.left() == []
    assert lab("down") == "no bed is up\n"


@pytest.mark.parametrize("kills", [1, pytest.param(6, marks=pytest.mark.long(minutes=2))])
def test_after_a_kill_at_any_moment_of_up_down_leaves_nothing(lab: Lab, kills: int) -> None:
    draw = generator()
    for _ in range(kills):
        killed_after(lab, draw.uniform(0.3, 2.5), "up", "mortal.toml")
        lab("down", "mortal")
        assert lab.left() == []


@pytest.mark.parametrize("arm", ["memory", pytest.param("tree", marks=pytest.mark.long(minutes=1))])
def test_after_a_kill_at_any_moment_of_run_down_leaves_nothing(lab: Lab, arm: str) -> None:
    draw = generator()
    killed_after(lab, draw.uniform(1.5, 6.0), "run", "mortal.toml", "--arm", arm)
    lab("down", "mortal")
    assert lab.left() == []
    # And while jobs run: the run folder is there.
    with lab.start("run", "mortal.toml", "--arm", arm) as running:
        wait_for(lab, running, "runs/*/run.json")
        time.sleep(draw.uniform(0.0, 4.0))
        running.kill()
        running.communicate(timeout=60)
    lab("down", "mortal")
    assert lab.left() == []
    assert of_runs(lab.directory / "runs") == []


def test_down_stops_a_living_run_which_takes_its_bed_down(lab: Lab) -> None:
    draw = generator()
    with lab.start("run", "mortal.toml", "--arm", "memory") as running:
        wait_for(lab, running, "state/mortal.json")
        time.sleep(draw.uniform(0.0, 4.0))
        lab("down", "mortal")
        assert lab.left() == []
        _, err = running.communicate(timeout=60)
    assert running.returncode in (0, 130), err
    assert "Traceback" not in err


def killed_after(lab: Lab, seconds: float, *arguments: str) -> None:
    with lab.start(*arguments) as process:
        time.sleep(seconds)
        process.kill()
        process.communicate(timeout=60)
    sys.stdout.write(f"killed after {seconds:.2f} s\n")


def wait_for(lab: Lab, process: subprocess.Popen[str], pattern: str) -> None:
    """Until a file is there that the process makes."""
    deadline = time.monotonic() + 90.0
    while not list(lab.directory.glob(pattern)):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"no {pattern}: {process.communicate()[1]}")
        time.sleep(0.05)
