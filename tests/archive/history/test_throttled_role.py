"""A level that changed for real: the same load again and again, with one role slower in between."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, Bed, command
from tests.advice.limit.draws import reaching, sessions
from tests.advice.limit.test_ground_truth import made_bed

pytestmark = [pytest.mark.lab, pytest.mark.long(minutes=2), pytest.mark.measured]

SCALE = 0.0005
PROGRAMS = ("random_access", "customer_profile")
SLOWED_SECONDS = 5.0
"""How long the bytes of work take at its cap; without it a run takes about two seconds."""
BEFORE, SLOW, AFTER = 9, 3, 3


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role, with ample devices."""
    yield from made_bed(tmp_path)


def runs_of(bed: Bed, count: int) -> None:
    """So many runs, past the page cache: what was cached would hide the device."""
    places = [word for role in bed.volumes for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    for _ in range(count):
        command(
            sys.executable,
            "-m",
            "mawl",
            "run",
            "drawn.toml",
            "--cache",
            "none",
            *places,
            directory=bed.directory,
        )


def test_a_role_that_was_slow_for_three_nights_is_found_and_named(bed: Bed) -> None:
    bed.generate(sessions(SCALE, PROGRAMS))
    cap = int(sum(reaching(name, "work", SCALE) for name in PROGRAMS) / SLOWED_SECONDS)
    for bytes_per_second, count in (
        (AMPLE_BYTES_PER_SECOND, BEFORE),
        (cap, SLOW),
        (AMPLE_BYTES_PER_SECOND, AFTER),
    ):
        bed.volumes["work"].cap(bytes_per_second)
        runs_of(bed, count)
    words = (sys.executable, "-m", "mawl", "history", "--each")
    found: dict[str, Any] = json.loads(command(*words, "--format", "json", directory=bed.directory))
    sys.stdout.write(command(*words, directory=bed.directory))
    nights = [night["night"] for night in found["nights"]]
    assert len(nights) == BEFORE + SLOW + AFTER
    times = [change for change in found["changes"] if change["slower"] is not None]
    slower, faster = times[0], times[-1]
    assert slower["night"] == nights[BEFORE] and slower["slower"] is True
    assert slower["role"] == "work"
    assert "storage" in slower["limits"][1]
    assert faster["night"] == nights[BEFORE + SLOW] and faster["slower"] is False
    assert len(times) == 2
