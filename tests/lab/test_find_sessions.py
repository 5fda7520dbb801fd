"""The right size of a machine whose limit is known: readers of a steady pace on a volume with a cap."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.standing import Bed, bed_text, standing

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=5), pytest.mark.measured(reruns=1)]

CAP = 44_000_000
PACE = 10_000_000
BLOCK = 1 << 20
BLOCKS = 40
BOUND = 1.25
KNEE = 5
"""Five readers want 50 of 44 MB/s and take 1.14 times as long, six take 1.36 times as long."""

BED = bed_text(
    "paced",
    {"one": f'size = "256MiB"\n[volumes.cap]\nbytes_per_second = {CAP}'},
    {"one": "one one one"},
)

READER = f"""
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
block, began = mmap.mmap(-1, {BLOCK}), time.monotonic()
for number in range({BLOCKS}):
    assert os.preadv(file, [block], number * {BLOCK}) == {BLOCK}
    time.sleep(max(0.0, began + (number + 1) * {BLOCK} / {PACE} - time.monotonic()))
"""


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with standing(tmp_path, "paced", BED) as made:
        yield made


def test_the_sessions_that_a_capped_volume_carries_are_found_within_one_step(bed: Bed) -> None:
    roles = bed.up("paced")["one"]
    place = Path(roles[1]).parent
    (place / "bytes").write_bytes(os.urandom(BLOCK * BLOCKS))
    (bed.directory / "reader.py").write_text(READER)
    command = json.dumps([sys.executable, str(bed.directory / "reader.py"), str(place / "bytes")])
    # A reader hardly computes: the time that its pace takes is what it is compared with.
    seconds = BLOCK * BLOCKS / PACE
    (bed.directory / "readers.toml").write_text(
        f'name = "readers"\n[[sessions]]\nname = "reader"\n'
        f"stages = [[{{ command = {command}, cpu_seconds = {seconds} }}]]\n"
    )
    (bed.directory / "mawl.toml").write_text(f'answer_bound = {BOUND}\nguideline_warn = "1"\n')
    done = bed("run", "readers.toml", "--find-sessions", "--json", *roles)
    sys.stdout.write(done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    knee = found["knee"]
    assert knee["beyond"] == ""
    assert abs(knee["sessions"] - KNEE) <= 1
    by_sessions = {row["sessions"]: row for row in found["sessions"]}
    assert by_sessions[1]["carried"] and not by_sessions[8]["carried"]
    assert "slowdown" in knee["reason"]
