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

import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from mawl.base.units import format_instant
from mawl.campaigns.qualify.choice import needs_at
from mawl.derive.document import write_derived
from mawl.measure.machine import read_machine
from mawl.plan.needs import Needs
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store import Run, open_run
from tests.advice.limit.beds import Bed, run
from tests.advice.limit.draws import generator
from tests.advice.limit.test_ground_truth import ample, made_bed
from tests.derive.filtered import drawn, keep, sas_log, write_shop
from tests.derive.oracle import derived_from_logs
from tests.lab.quiet import quiet_machine
from tools.filtered_reads import BedRuns, Scarce

MOST_POINTS = 0.10
RUNS = 3
SESSIONS = 10
SCALE = 0.001
IMAGE_BYTES = 4 * 2**30
ORIGINAL = ("mixed20", "--sessions", str(SESSIONS), "--scale", str(SCALE), "--option", "direct=no")
DERIVED = ("shop/workload.toml",)
FILTERED = ("filtered.toml",)
FILTERED_ROWS = (100_000, 250_000)
FILTERED_CPU_SECONDS = 0.2
"""Of a step: with it one processor is scarce."""

SCARCE: dict[Scarce, tuple[str, str | None]] = {
    "data": ("storage", "data"), "work": ("storage", "work"), "processors": ("cpu", None)
}  # fmt: skip
"""What limits the jobs on a bed."""

TIMES_LONGER = 8.0
"""The time that a capped device takes for the bytes of its role, over that of two processors for the jobs."""


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


def limit_of(summary: dict[str, Any]) -> tuple[str, str | None]:
    """Verdict and role; ``withheld`` with the reason."""
    limit = summary["limit"]
    return ("withheld", summary["missing"]["limit"]) if limit is None else (limit["verdict"], limit["role"])


def once(bed: Bed, workload: tuple[str, ...], processors: int) -> dict[str, Any]:
    """A run of the workload; its judged summary."""
    places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    return run(bed.directory, *workload, "--cache", "none", "--cores", str(processors), *places)


def measured(
    bed: Bed, processors: int, original: tuple[str, ...] = ORIGINAL, *, rounds: int = RUNS
) -> dict[tuple[str, ...], Measured]:
    """Both workloads on the bed as it is, one after the other in each round."""
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {original: [], DERIVED: []}
    for _ in range(rounds):
        for workload, summaries in found.items():
            summaries.append(once(bed, workload, processors))
    return {
        workload: Measured(
            statistics.median(one["time"]["elapsed_seconds"] for one in summaries),
            statistics.mode(limit_of(one) for one in summaries),
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


@pytest.mark.lab
@pytest.mark.long(minutes=7)
def test_jobs_derived_from_logs_with_filters_are_limited_by_what_limits_the_jobs(
    bed: Bed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logs have the rows that passed; on beds where a device or a processor is scarce, it limits both."""
    seed = generator().randrange(10**6)
    spec = drawn(
        seed, bed.volumes["data"].place / "mawl", rows=FILTERED_ROWS, cpu_seconds=FILTERED_CPU_SECONDS
    )
    write_shop(spec, bed.directory)
    monkeypatch.setenv("PYTHONPATH", f"{bed.directory}:{os.environ.get('PYTHONPATH', '')}")
    quiet_machine()
    once(bed, FILTERED, 2)
    first = open_run(bed.directory / "runs" / "latest")
    derived = derived_from_logs(first, bed.directory / "from", text=sas_log(first, bed.directory))
    (bed.directory / "shop").mkdir()
    write_derived(bed.directory / "shop", derived)
    once(bed, DERIVED, 2)  # makes the input tables
    seconds = once(bed, FILTERED, 2)["time"]["cpu_seconds"] / 2
    limits = {}
    for scarce in SCARCE:
        ample(bed, but=None if scarce == "processors" else scarce)
        if scarce != "processors":
            bed.volumes[scarce].cap(int(most_moved(first, scarce) / (TIMES_LONGER * seconds)))
        found = measured(bed, 1 if scarce == "processors" else 2, FILTERED, rounds=1)
        sys.stdout.write(f"seed {seed}, {scarce} is scarce: {found}\n")
        original, copied = found[FILTERED], found[DERIVED]
        keep(
            BedRuns(
                measured_at=format_instant(time.time()),
                machine=read_machine().cpu_model or "",
                seed=seed,
                bed=scarce,
                original=said(original.limit),
                derived=said(copied.limit),
                original_seconds=original.elapsed_seconds,
                derived_seconds=copied.elapsed_seconds,
            )
        )
        limits[scarce] = (original.limit, copied.limit)
    assert limits == {scarce: (limit, limit) for scarce, limit in SCARCE.items()}


def said(limit: tuple[str, str | None]) -> str | None:
    """``storage (data)``; None if the verdict was withheld."""
    verdict, role = limit
    if verdict == "withheld":
        return None
    return verdict if role is None else f"{verdict} ({role})"


def most_moved(run: Run, role: Role) -> int:
    """Bytes of the steps of a run in a role, of the direction that has more."""
    found = [step.io[role] for step in run.step_records() if step.io is not None and role in step.io]
    return max(sum(one.read_bytes for one in found), sum(one.written_bytes for one in found))
