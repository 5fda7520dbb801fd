"""Transfer: on beds that the derivation never saw, do derived jobs change as the jobs behind the logs do?

A workload runs on ample devices; its logs alone are derived.  Then both run on three beds, each with the
device of another role capped; their order, caps and numbers of processors are drawn.  The verdict must be the
same, and the change of the elapsed time over that on ample devices within ten points.  Elapsed times are
medians of three runs.

A change of +150 % is 10 points off if one of its four times is off by 4 %.  So the workload has ten sessions:
with five, one job with one thread runs alone at the end, for 3 to 14 % of the time by the order in which the
others end.  Its jobs are twice those of the smallest scale, so that the time between two jobs (0.04 s longer
in the original, up to six times in a session) is a smaller part; logs do not tell it.

It reads through the page cache (``direct=no``): logs do not tell direct I/O, and derived jobs read ahead.
``wide_sort`` asks for one piece at a time past the cache.  On a capped data device it then gets less than its
derived job, and the changes are 14.5 points apart (docs/design/derived-jobs.md).
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from mawl.campaigns.qualify.choice import needs_at
from mawl.derive.document import write_derived
from mawl.plan.needs import Needs
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store import open_run
from tests.advice.limit.beds import Bed, run
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import ample, made_bed
from tests.derive.oracle import derived_from_logs
from tests.lab.quiet import quiet_machine

MOST_POINTS = 0.10
RUNS = 3
SESSIONS = 10
SCALE = 0.001
IMAGE_BYTES = 4 * 2**30
ORIGINAL = ("mixed20", "--sessions", str(SESSIONS), "--scale", str(SCALE), "--option", "direct=no")
DERIVED = ("shop/workload.toml",)


class DrawnBed(msgspec.Struct, frozen=True):
    """A role whose device moves at most so many bytes a second each way, and processors."""

    role: Role
    cap: int
    processors: int


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """A volume for each role, with ample devices."""
    yield from made_bed(tmp_path, image_bytes=IMAGE_BYTES)


def drawn_bed(draw: random.Random, role: Role, needed: Needs, base_seconds: float) -> DrawnBed:
    """A bed on which the capped device alone takes longer than the whole workload took on ample ones."""
    cap = max(needed.moved[role].values()) / (draw.uniform(1.2, 1.8) * base_seconds)
    return DrawnBed(role, int(cap), draw.choice((1, 2)))


class Measured(NamedTuple):
    """What runs of a workload on a bed gave: the median elapsed time, and the limit of most of them."""

    elapsed_seconds: float
    limit: tuple[str, str | None]


def once(bed: Bed, workload: tuple[str, ...], processors: int) -> dict[str, Any]:
    """A run of the workload; its judged summary."""
    places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    return run(bed.directory, *workload, "--cache", "none", "--cores", str(processors), *places)


def measured(bed: Bed, processors: int) -> dict[tuple[str, ...], Measured]:
    """Both workloads on the bed as it is, one after the other in each of three rounds."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {ORIGINAL: [], DERIVED: []}
    for _ in range(RUNS):
        for workload, summaries in found.items():
            summaries.append(once(bed, workload, processors))
    return {
        workload: Measured(
            statistics.median(one["time"]["elapsed_seconds"] for one in summaries),
            statistics.mode((one["limit"]["verdict"], one["limit"]["role"]) for one in summaries),
        )
        for workload, summaries in found.items()
    }


@pytest.mark.lab
@pytest.mark.long(minutes=20)
def test_derived_jobs_change_on_other_beds_as_the_originals_do(bed: Bed) -> None:
    draw, points, verdicts = generator(), [], []
    quiet_machine()
    once(bed, ORIGINAL, 2)  # makes the input tables
    once(bed, ORIGINAL, 2)
    derived = derived_from_logs(open_run(bed.directory / "runs" / "latest"), bed.directory / "from")
    (bed.directory / "shop").mkdir()
    write_derived(bed.directory / "shop", derived)
    once(bed, DERIVED, 2)
    base = measured(bed, 2)
    sys.stdout.write(f"ample: {base}\n")
    needed = needs_at(SESSIONS, SCALE)
    for role in draw.sample(ROLES, k=len(ROLES)):
        drawn = drawn_bed(draw, role, needed, base[ORIGINAL].elapsed_seconds)
        ample(bed, but=drawn.role)
        bed.volumes[drawn.role].cap(drawn.cap)
        found = measured(bed, drawn.processors)
        original, copied = (
            found[one].elapsed_seconds / base[one].elapsed_seconds - 1.0 for one in (ORIGINAL, DERIVED)
        )
        sys.stdout.write(f"{drawn}: original {original:+.1%}, derived {copied:+.1%}; {found}\n")
        points.append(abs(original - copied))
        verdicts.append(found[ORIGINAL].limit == found[DERIVED].limit)
        assert found[ORIGINAL].limit[0] != "none"
    assert all(verdicts)
    assert max(points) <= MOST_POINTS, points
