"""The same command twice, with inputs just made and with old ones, moves the same at the device (root).

Inputs just generated are dirty pages. What of them is written back inside the measured run would count as
the run's: 364 MB against 0.35 MB for one workload before runs began with a clean start.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.advice.limit.beds import lacking
from tests.cli.conftest import Command
from tests.fakes.own_disk import Disk, own_disk

pytestmark = [
    pytest.mark.lab,
    pytest.mark.long(minutes=1.5),
    pytest.mark.measured,
    needs.marks(needs.tried("bed", lacking)),
]

WORKLOAD = "".join(
    ['name = "small"\nscale = 0.001\n']
    + [
        f'[[sessions]]\nname = "{name}"\nstages = [["wide_sort"], ["census_load"]]\n'
        for name in ("one", "two", "three")
    ]
)
RUNS = 5
"""A side, the least for a statement."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with own_disk(tmp_path) as made:
        yield made


def test_inputs_just_made_and_old_ones_are_alike_at_the_device(mawl: Command, disk: Disk) -> None:
    (mawl.directory / "small.toml").write_text(WORKLOAD)
    sides: dict[str, list[tuple[float, str]]] = {"fresh": [], "old": []}
    for number in range(RUNS):
        shutil.rmtree(disk.place / "data", ignore_errors=True)
        for side in ("fresh", "old"):
            sides[side].append(sustained(mawl, disk, f"{side}-{number}"))
    fresh, old = ([value for value, _ in sides[side]] for side in ("fresh", "old"))
    # Each fresh run lies where four old ones lie, give or take their own spread.
    spread = max(old) - min(old)
    assert min(old) - spread <= sorted(fresh)[RUNS // 2] <= max(old) + spread, (fresh, old)
    done = mawl.ok(
        "compare",
        *("--reference", *(folder for _, folder in sides["old"])),
        *("--candidate", *(folder for _, folder in sides["fresh"])),
        *("--format", "json"),
    )
    found = json.loads(done.stdout)
    assert found["statement"]["verdict"] == "not told apart", found["statement"]


def sustained(mawl: Command, disk: Disk, name: str) -> tuple[float, str]:
    """One run: its sustained device throughput in bytes a second, and its folder."""
    folder = str(mawl.directory / "runs" / name)
    before = disk.moved()
    done = mawl("run", "small.toml", "--output", folder, *disk.roles)
    moved = [after - earlier for after, earlier in zip(disk.moved(), before, strict=True)]
    assert done.returncode == 0, done.stdout + done.stderr
    summary: dict[str, Any] = json.loads(mawl("report", folder, "--format", "json").stdout)
    device = summary["io"]["device"]
    assert device["written_bytes"] <= moved[1]
    return device["sustained"]["total_bytes_per_second"], folder
