"""One outside writer during a run is found and sized; without one, inputs just made are nobody's writes."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mawl.measure.preload.build import Library
from tests.cli.conftest import Command
from tests.cli.test_measure_bytes import MIB, Disk, disk, written_to

__all__ = ["disk"]

pytestmark = [pytest.mark.lab, pytest.mark.alone]

PACED = """
import mmap, os, sys, time
path, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
page = mmap.mmap(-1, 2**20)
file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
began = time.monotonic()
done = 0
while time.monotonic() - began < seconds:
    os.pwrite(file, page, (done % 100) * 2**20)
    done += 1
    time.sleep(max(began + done * 2**20 / rate - time.monotonic(), 0.0))
"""
"""Writes past the page cache at a rate."""

WORKLOAD = """
name = "writes"
[[sessions]]
name = "one"
stages = [[{{ program = "paced", command = [{words}] }}]]
"""

OWN_RATE, OTHER_RATE, SECONDS = 20e6, 50e6, 8.0


@pytest.fixture
def paced(made: Library, mawl: Command) -> Callable[[Disk], dict[str, Any]]:
    """Runs a job that writes to a disk at a rate; the summary."""
    assert made.path is not None
    mawl.environment["XDG_CACHE_HOME"] = str(made.path.parents[1])

    def run(at: Disk) -> dict[str, Any]:
        script = mawl.directory / "paced.py"
        script.write_text(PACED)
        words = [sys.executable, str(script), "{work}/f", str(OWN_RATE), str(SECONDS)]
        (mawl.directory / "w.toml").write_text(WORKLOAD.format(words=", ".join(f'"{one}"' for one in words)))
        for role in ("data", "work", "util"):
            mawl.environment[f"MAWL_{role.upper()}"] = str(at[0] / role)
        mawl.ok("run", "w.toml")
        found: dict[str, Any] = json.loads(mawl("report", "latest", "--format", "json").stdout)
        return found

    return run


def findings(summary: dict[str, Any], rule: str) -> list[str]:
    return [one["sentence"] for one in summary["validity"]["findings"] if one["rule"] == rule]


def test_alone_on_its_disk_all_that_the_device_was_given_is_the_runs_own(
    disk: Callable[..., Disk], paced: Callable[[Disk], dict[str, Any]]
) -> None:
    summary = paced(disk("ext4"))
    io = summary["io"]
    assert io["own"]["written_bytes"] == pytest.approx(io["device"]["written_bytes"], rel=0.03)
    assert io["own"]["written_bytes"] == pytest.approx(OWN_RATE * SECONDS, rel=0.1)
    assert io["foreign"]["ratio"] < 0.03
    assert not [one for one in findings(summary, "competition") if "at the devices" in one]
    if summary["limit"] is not None:
        assert summary["limit"]["headroom"]["storage_ratio"] is not None


def test_an_outside_writer_is_found_and_sized_and_takes_guideline_headroom_and_what_if(
    disk: Callable[..., Disk], paced: Callable[[Disk], dict[str, Any]], mawl: Command
) -> None:
    at = disk("ext4")
    script = mawl.directory / "other.py"
    script.write_text(PACED)
    other = subprocess.Popen([sys.executable, str(script), f"{at[0]}/other", str(OTHER_RATE), "300"])
    try:
        began, before = time.monotonic(), written_to(at[1])
        summary = paced(at)
        seconds, moved = time.monotonic() - began, written_to(at[1]) - before
    finally:
        other.kill()
        other.wait()
    io, run_seconds = summary["io"], summary["time"]["elapsed_seconds"]
    # What the disk's own counter had beyond the job's bytes, at its rate over the time of the run.
    truth = (moved - io["dirtied"]["written_bytes"]) / seconds * run_seconds
    assert io["foreign"]["written_bytes"] == pytest.approx(truth, rel=0.1)
    (sentence,) = [one for one in findings(summary, "competition") if "at the devices" in one]
    assert "other programs moved" in sentence
    assert summary["guideline"]["met"] is None
    assert re.search(r"; at all devices: .*\(pid \d+\) .*\d", sentence)  # the largest of the machine
    assert sentence.startswith(summary["missing"]["guideline.met"])
    if summary["limit"] is not None:
        assert summary["limit"]["headroom"]["storage_ratio"] is None
    refused = mawl("simulate", "latest", "--set", "cores=4")
    assert refused.returncode == 2 and "had its devices to itself" in refused.stderr


def test_what_was_written_before_the_gate_is_written_before_the_run(
    disk: Callable[..., Disk], paced: Callable[[Disk], dict[str, Any]]
) -> None:
    at = disk("ext4")
    left: Path = at[0] / "left"
    with contextlib.suppress(OSError), left.open("wb") as file:
        for _ in range(200):
            file.write(bytes(MIB))
    summary = paced(at)
    assert summary["io"]["dirtied"]["sync_seconds"] is not None
    assert summary["io"]["foreign"]["written_bytes"] < 10 * MIB
