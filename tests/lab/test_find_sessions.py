"""The right size of a machine whose limit is known: readers of a steady pace on a volume with a cap."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mawl.lab.bed import load_bed
from mawl.lab.needs import check, needs_of
from tests.lab.quiet import quiet_machine

pytestmark = [pytest.mark.lab, pytest.mark.campaign, pytest.mark.measured(reruns=1)]

CAP = 44_000_000
PACE = 10_000_000
BLOCK = 1 << 20
BLOCKS = 40
BOUND = 1.25
KNEE = 5
"""Five readers want 50 of 44 MB/s and take 1.14 times as long, six take 1.36 times as long."""

BED = f"""
name = "paced"
title = "One volume with a cap"
question = "How many readers of a steady pace does it carry?"
workload = "nano"
[[volumes]]
name = "one"
size = "256MiB"
[volumes.cap]
bytes_per_second = {CAP}
[[arms]]
name = "one"
data = ["one"]
work = ["one"]
util = ["one"]
"""

READER = f"""
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block, began = mmap.mmap(-1, {BLOCK}), time.monotonic()
for number in range({BLOCKS}):
    assert os.preadv(file, [block], number * {BLOCK}) == {BLOCK}
    time.sleep(max(0.0, began + (number + 1) * {BLOCK} / {PACE} - time.monotonic()))
"""


class Bed:
    """The bed while it stands, and ``mawl`` over it."""

    def __init__(self, directory: Path, images: Path) -> None:
        self.directory = directory
        self.environment = {
            **os.environ,
            "MAWL_LAB_STATE": str(directory / "state"),
            "MAWL_LAB_IMAGES": str(images),
            "MAWL_HTML": "no",
        }
        (directory / "paced.toml").write_text(BED)

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "mawl", *words],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=380,
            check=False,
        )


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    images = Path("/dev/shm") / f"mawl-test-{tmp_path.name}-{tmp_path.parent.name}"
    made = Bed(tmp_path, images)
    spec = load_bed(str(tmp_path / "paced.toml"))
    for need in check(needs_of(spec, spec.volumes), tmp_path / "state"):
        if need.reason is not None:
            pytest.skip(f"{need.name}: {need.reason}")
    images.mkdir()
    try:
        yield made
    finally:
        done = made("lab", "down", "paced")
        assert done.returncode == 0, done.stderr
        images.rmdir()


def test_the_sessions_that_a_capped_volume_carries_are_found_within_one_step(bed: Bed) -> None:
    quiet_machine()
    up = bed("lab", "up", "paced.toml")
    assert up.returncode == 0, up.stderr
    line = next(line for line in up.stdout.splitlines() if line.startswith("arm one: "))
    roles = shlex.split(line.removeprefix("arm one: mawl run "))
    place = Path(roles[1]).parent
    (place / "bytes").write_bytes(os.urandom(BLOCK * BLOCKS))
    (bed.directory / "reader.py").write_text(READER)
    command = json.dumps([sys.executable, str(bed.directory / "reader.py"), str(place / "bytes")])
    (bed.directory / "readers.toml").write_text(
        f'name = "readers"\n[[sessions]]\nname = "reader"\nstages = [[{{ command = {command} }}]]\n'
    )
    (bed.directory / "mawl.toml").write_text(f'most_stretch = {BOUND}\ngate_warn = "1"\n')
    done = bed("run", "readers.toml", "--find-sessions", "--json", *roles)
    sys.stdout.write(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    knee = found["knee"]
    assert knee["beyond"] == ""
    assert abs(knee["sessions"] - KNEE) <= 1
    if knee["low"] is not None:
        assert knee["low"] <= knee["sessions"] <= knee["high"]
    by_sessions = {row["sessions"]: row for row in found["sessions"]}
    assert by_sessions[1]["carried"] and not by_sessions[8]["carried"]
    assert "median stretch" in knee["reason"]
