"""nmon, sysstat, collectl and atop as they are installed here, beside what the kernel counted meanwhile."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests import needs
from tests.importers.recordings import Read

pytestmark = [pytest.mark.lab, pytest.mark.measured]

SECONDS = 6
WRITTEN = 200 * 2**20


def written_bytes(device: str) -> int:
    """Bytes written to a device since the machine started."""
    for line in Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if fields[2] == device:
            return int(fields[9]) * 512
    raise AssertionError(device)


def busiest_device() -> str:
    """The disk that has written most."""
    names = [
        entry.name for entry in Path("/sys/block").iterdir() if not entry.name.startswith(("loop", "ram"))
    ]
    if not names:
        needs.skip("this machine has no block device of its own")
    return max(names, key=written_bytes)


def write(path: Path) -> None:
    """Bytes straight to the device."""
    with path.open("wb") as file:
        for _ in range(WRITTEN // 2**20):
            file.write(os.urandom(2**20))
        file.flush()
        os.fsync(file.fileno())


@pytest.mark.parametrize("tool", ["nmon", "iostat", "collectl", "atop"])
def test_what_a_recording_says_was_written_is_what_the_kernel_counted(tool: str, tmp_path: Path) -> None:
    """About nine seconds.  Others may write meanwhile: at least what this test wrote, at most what the
    kernel counted from before the recording to after it."""
    needs.program(tool).require()
    device = busiest_device()
    recording = tmp_path / f"{tool}.txt"
    commands = {
        "nmon": ["nmon", "-F", str(recording), "-s", "1", "-c", str(SECONDS + 1), "-p"],
        "iostat": ["iostat", "-dxt", "1", str(SECONDS + 1)],
        "collectl": ["collectl", "-P", "-sD", "-i1", f"-c{SECONDS + 1}"],
        "atop": ["atop", "-P", "DSK", "1", str(SECONDS + 1)],
    }
    before = written_bytes(device)
    with recording.open("wb") as output:
        stdout = output if tool != "nmon" else subprocess.DEVNULL
        child = subprocess.Popen(commands[tool], stdin=subprocess.DEVNULL, stdout=stdout, cwd=tmp_path)
        time.sleep(2.5)  # beyond the first snapshot, whose rates are left out
        started = written_bytes(device)
        write(tmp_path / "data")
        own = written_bytes(device) - started
        child.wait(timeout=30)
        time.sleep(SECONDS if tool == "nmon" else 0)  # nmon goes on by itself
    counted = written_bytes(device) - before
    if own < WRITTEN:
        needs.skip("the directory of this test lies on another device")
    read = Read(tool, recording.read_bytes(), recording.name)
    gained = read.gain(f"device.{device}.written_bytes")
    assert 0.95 * WRITTEN <= gained <= 1.05 * counted
