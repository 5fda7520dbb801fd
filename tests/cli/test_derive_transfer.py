"""Transfer: on beds that the derivation never saw, do derived jobs change as the jobs behind the logs do?

A workload runs on ample devices; its logs alone are derived.  Then both run on beds whose role, cap and
number of processors are drawn: the verdict must be the same, and the change of the elapsed time over that on
ample devices within ten points.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.campaigns.qualify.choice import SMOKE, needs_at
from mawl.derive.folder import write_derived
from mawl.plan.mix import FEWEST_SESSIONS
from mawl.plan.needs import Needs
from mawl.spec.program_options import ROLES, Role
from mawl.store import open_run
from tests.advice.limit.beds import Bed, run
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import ample, made_bed
from tests.derive.oracle import derived_from_logs
from tests.lab.quiet import quiet_machine

BEDS = 3
MOST_POINTS = 0.10
ORIGINAL = ("mixed20", "--sessions", str(FEWEST_SESSIONS))
DERIVED = ("shop/workload.toml",)


class DrawnBed(msgspec.Struct, frozen=True):
    """A role whose device moves at most so many bytes a second each way, and processors."""

    role: Role
    cap: int
    processors: int


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role, with ample devices."""
    yield from made_bed(tmp_path)


def drawn_bed(draw: random.Random, needed: Needs, base_seconds: float) -> DrawnBed:
    """A bed on which the capped device alone takes longer than the whole workload took on ample ones."""
    role = draw.choice(ROLES)
    cap = max(needed.moved[role].values()) / (draw.uniform(1.2, 1.8) * base_seconds)
    return DrawnBed(role, int(cap), draw.choice((1, 2)))


def measured(bed: Bed, workload: tuple[str, ...], processors: int) -> dict[str, Any]:
    """A run of the workload; its judged summary."""
    places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    return run(bed.directory, *workload, "--cache", "none", "--cores", str(processors), *places)


@pytest.mark.lab
@pytest.mark.long(minutes=3)
def test_derived_jobs_change_on_other_beds_as_the_originals_do(bed: Bed) -> None:
    draw, points, verdicts = generator(), [], []
    quiet_machine()
    measured(bed, ORIGINAL, 2)  # makes the input tables
    base: dict[tuple[str, ...], dict[str, Any]] = {ORIGINAL: measured(bed, ORIGINAL, 2)}
    derived = derived_from_logs(open_run(bed.directory / "runs" / "latest"), bed.directory / "from")
    (bed.directory / "shop").mkdir()
    write_derived(bed.directory / "shop", derived)
    measured(bed, DERIVED, 2)
    base[DERIVED] = measured(bed, DERIVED, 2)
    needed = needs_at(FEWEST_SESSIONS, SMOKE)
    for _ in range(BEDS):
        drawn = drawn_bed(draw, needed, base[ORIGINAL]["time"]["elapsed_seconds"])
        ample(bed, but=drawn.role)
        bed.volumes[drawn.role].cap(drawn.cap)
        changes, limits = [], []
        for workload, before in base.items():
            found = measured(bed, workload, drawn.processors)
            changes.append(found["time"]["elapsed_seconds"] / before["time"]["elapsed_seconds"] - 1.0)
            limits.append((found["limit"]["verdict"], found["limit"]["role"]))
        sys.stdout.write(f"{drawn}: original {changes[0]:+.1%} {limits[0]}; ")
        sys.stdout.write(f"derived {changes[1]:+.1%} {limits[1]}\n")
        points.append(abs(changes[0] - changes[1]))
        verdicts.append(limits[0] == limits[1])
    assert all(verdicts)
    assert max(points) <= MOST_POINTS, points
