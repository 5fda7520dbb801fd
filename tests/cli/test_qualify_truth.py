"""Qualify beds and measure the truth: are the answer, the named costs and the number of sessions right?

After a qualification the test runs the same mix at the same scale again: on the bed as it is, with twice the
resource that was slow, and with twice another one, in turns; then with the sessions said to fit and with one
more.  The truth is the real time of all jobs, and W by a second formula (``tests/fakes/second_figures.py``).
``MAWL_TEST_TRUTH`` names a file that gets a line of JSON for each bed; ``tools/known_truth.py`` prints it.
``MAWL_TEST_BEDS`` chooses beds whose name has the word; ``MAWL_TEST_ANSWERS`` names a directory that gets the
folder of each qualification.  README.md shows that of "work writes at 25 MB a second".
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from mawl.base.units import format_instant
from mawl.plan.spec import SCALES
from mawl.records.model.qualification import Fits
from mawl.records.spec.program_options import ROLES
from mawl.records.store.campaign import read_qualification
from tests import needs
from tests.advice.limit.beds import AMPLE_BYTES_PER_SECOND, Bed, command
from tests.cli.test_worse_beds import bed as bed
from tests.cli.test_worse_beds import said
from tests.fakes.second_figures import slowdown_by_table
from tests.lab.quiet import quiet_machine
from tools.known_truth import (
    NOT_KNOWN,
    PAGE,
    Cost,
    JudgedBed,
    KnownBed,
    TruthRun,
    faults,
    newest,
    page,
    rank_faults,
    stored,
    to_prove,
)

SMOKE = SCALES["smoke"]
RUNS = 2
"""Runs of a bed as it is and with each relief; their median counts."""
NEAR_RATIO = 0.1
"""A number of sessions runs once, and ``RUNS`` times more where its W is so near to the bound."""
MOST_NOT_KNOWN = 1
MACHINE_PROCESSORS = 2

WRITES = ("write",)
BEDS: dict[str, KnownBed] = {
    "ample storage": KnownBed(processors=2, sessions=3, minutes=4, series=True),
    "data reads at 40 MB a second": KnownBed(caps={"data": 40_000_000}, directions=("read",), minutes=6),
    "work writes at 25 MB a second": KnownBed(caps={"work": 25_000_000}, directions=WRITES, scale=SMOKE),
    "8 ms more for each request of util": KnownBed(delays={"util": 8}, minutes=4),
    "one core": KnownBed(sessions=3, minutes=5, scale=SMOKE, series=True),
    "one core, work writes at 20 MB a second": KnownBed(
        caps={"work": 20_000_000}, directions=WRITES, sessions=3, minutes=5, scale=SMOKE
    ),
}
SYSTEMS: dict[str, KnownBed] = {
    "A-ample": KnownBed(processors=2, sessions=2, minutes=4, scale=SMOKE),
    "B-slower-storage": KnownBed(
        caps={"work": 45_000_000}, directions=WRITES, processors=2, sessions=2, minutes=5, scale=SMOKE
    ),
    "C-one-core": KnownBed(processors=1, sessions=2, minutes=4, scale=SMOKE),
}


def made(bed: Bed, known: KnownBed) -> None:
    for role in ROLES:
        bed.volumes[role].open(known.delays.get(role, 0))
        bed.volumes[role].cap(AMPLE_BYTES_PER_SECOND)
        if role in known.caps:
            bed.volumes[role].cap(known.caps[role], directions=known.directions)


def reliefs(known: KnownBed) -> dict[str, KnownBed]:
    """The bed with twice the storage that is slow (or twice all of it), and with twice the processors.

    A bed that has all processors of the machine gets half the sessions instead, rounded up.
    """
    slow = known.caps if known.caps or known.delays else dict.fromkeys(ROLES, AMPLE_BYTES_PER_SECOND)
    caps = {role: 2 * cap for role, cap in slow.items()}
    delays = {role: delay // 2 for role, delay in known.delays.items()}
    cores, sessions = MACHINE_PROCESSORS, known.sessions
    if known.processors == cores:
        sessions = (sessions + 1) // 2
    return {
        "storage": msgspec.structs.replace(known, caps=caps, delays=delays),
        "cpu": msgspec.structs.replace(known, processors=cores, sessions=sessions),
    }


def mawl(bed: Bed, processors: int, *words: str, statuses: Sequence[int] = (0,)) -> str:
    chosen = sorted(os.sched_getaffinity(0))[:processors]
    return said(bed, *words, confine=lambda: os.sched_setaffinity(0, chosen), statuses=statuses)


def places(bed: Bed) -> list[str]:
    return [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place))]


def run_once(bed: Bed, known: KnownBed, scale: float, relieved: str | None = None) -> TruthRun:
    """One run of the mix on the bed as it is made now."""
    folder = bed.directory / f"truth-{time.monotonic_ns()}"
    asked = ("--sessions", str(known.sessions), "--scale", f"{scale:g}", "--cache", "none", "--html", "no")
    mawl(bed, known.processors, "run", "mixed20", *places(bed), *asked, "--output", str(folder))
    jobs = pq.read_table(folder / "jobs.parquet", columns=["real_time_seconds", "started_at", "ended_at"])
    elapsed = pc.max(jobs["ended_at"]).as_py() - pc.min(jobs["started_at"]).as_py()
    return TruthRun(
        sessions=known.sessions,
        relieved=relieved,
        slowdown=slowdown_by_table(folder, scale),
        real_time_seconds=pc.sum(jobs["real_time_seconds"]).as_py(),
        jobs_per_hour=len(jobs) / elapsed.total_seconds() * 3600,
    )


def qualified(bed: Bed, name: str, known: KnownBed) -> JudgedBed:
    """What ``mawl qualify`` says of a bed, without the runs of the truth; its folder has the bed's name."""
    made(bed, known)
    quiet_machine()
    folder = bed.directory / name
    scale = () if known.scale is None else ("--scale", f"{known.scale:g}")
    asked = ("--sessions", str(known.sessions), "--minutes", str(known.minutes), *scale, "--yes")
    output = ("--output", str(folder))
    mawl(bed, known.processors, "qualify", *places(bed), *asked, *output, statuses=(0, 3, 4))
    if kept := os.environ.get("MAWL_TEST_ANSWERS"):
        shutil.copytree(folder, Path(kept, name))
    record = read_qualification(folder)
    answer, choice = record.answer, record.choice
    assert answer is not None, record.reason
    assert choice is not None, record.reason
    limit = answer.limit
    assert limit is not None, answer.sentence
    return JudgedBed(
        measured_at=format_instant(time.time()),
        commit=command("git", "rev-parse", "HEAD").strip(),
        machine=f"{record.machine.cores} cores of {record.machine.cpu_model}",
        name=name,
        bed=known,
        scale=choice.scale,
        bound=answer.figures.answer_bound,
        answer=answer.carried.answer,
        slowdown=answer.carried.slowdown,
        fits=answer.fits,
        limit=limit.verdict,
        second=limit.second,
        costs=msgspec.convert(limit.costs, list[Cost], from_attributes=True),
        runs=[],
    )


def measure_truth(bed: Bed, row: JudgedBed) -> None:
    """Add runs to the row: as the bed is and relieved, in turns; then by sessions."""
    for relieved, one in RUNS * [(None, row.bed), *reliefs(row.bed).items()]:
        made(bed, one)
        row.runs.append(run_once(bed, one, row.scale, relieved))
    made(bed, row.bed)
    numbers = {*to_prove(row.fits, row.bed.sessions)}
    if row.bed.series:
        numbers |= {*range(1, max(numbers, default=row.bed.sessions) + 1)}
    for number in sorted(numbers - {row.bed.sessions}):
        one = msgspec.structs.replace(row.bed, sessions=number)
        row.runs.append(run_once(bed, one, row.scale))
        if abs(row.slowdown_at(number) / row.bound - 1.0) <= NEAR_RATIO:
            row.runs.extend(run_once(bed, one, row.scale) for _ in range(RUNS))


def noted(row: JudgedBed) -> None:
    """A row as a line of the test's output, and of the file for the page."""
    line = msgspec.json.encode(row).decode()
    sys.stdout.write(f"{line}\n")
    if named := os.environ.get("MAWL_TEST_TRUTH"):
        with Path(named).open("a") as file:
            file.write(f"{line}\n")


@pytest.mark.lab
@needs.marks(needs.TWO_PROCESSORS)
@pytest.mark.long(minutes=40)
def test_named_costs_are_those_whose_relief_helps_most(bed: Bed) -> None:
    wrong = {}
    for name, known in BEDS.items():
        if os.environ.get("MAWL_TEST_BEDS", "") in name:
            row = qualified(bed, name, known)
            measure_truth(bed, row)
            noted(row)
            wrong[name] = faults(row)
    not_known = [name for name, found in wrong.items() if found == [NOT_KNOWN]]
    assert not {name: found for name, found in wrong.items() if found and name not in not_known}
    assert len(not_known) <= MOST_NOT_KNOWN


@pytest.mark.lab
@needs.marks(needs.TWO_PROCESSORS)
@pytest.mark.long(minutes=17)
def test_systems_are_ranked_in_the_order_of_their_jobs_per_hour(bed: Bed) -> None:
    rows = [qualified(bed, name, known) for name, known in SYSTEMS.items()]
    ranking = json.loads(mawl(bed, 1, "rank", *SYSTEMS, "--format", "json"))
    place = {system["name"]: system["place"] for system in ranking["systems"]}
    assert None not in place.values(), ranking
    rows = [msgspec.structs.replace(row, place=place[row.name]) for row in rows]
    for row in RUNS * rows:
        made(bed, row.bed)
        row.runs.append(run_once(bed, row.bed, row.scale))
    for row in rows:
        noted(row)
    assert not rank_faults(rows)
    assert [row.place for row in rows].count(1) == 1


def row_of(*runs: tuple[int, str | None, float], **changes: Any) -> JudgedBed:
    """One processor too few for two sessions, judged right; runs by sessions, relief and W."""
    row = JudgedBed(
        measured_at="2026-11-30T05:00:00Z",
        commit="0123456789abcdef",
        machine="2 cores of a CPU",
        name="one core",
        bed=KnownBed(sessions=2),
        scale=SMOKE,
        bound=2.0,
        answer="not carried",
        slowdown=2.5,
        fits=Fits(sessions=1, low=1, high=2),
        limit="cpu",
        second=None,
        costs=[Cost(resource="cpu", kind="queue", share_ratio=0.5)],
        runs=[run_of(*run) for run in runs or RIGHT],
    )
    return msgspec.structs.replace(row, **changes)


def run_of(sessions: int, relieved: str | None, w: float) -> TruthRun:
    rest = {"real_time_seconds": 8.0 * w, "jobs_per_hour": 9000.0 / w}
    return TruthRun(sessions=sessions, relieved=relieved, slowdown=w, **rest)


RIGHT = ((1, None, 1.1), (2, None, 2.5), (2, "storage", 2.4), (2, "cpu", 1.3))
TWO = ((2, "storage", 1.6), (2, "cpu", 1.3))
SLOW = KnownBed(sessions=2, caps={"work": 25_000_000})
DATA = [Cost(resource="cpu", roles=["data"], share_ratio=0.6)]
WORK = [Cost(resource="cpu", roles=["work"], kind="latency", share_ratio=0.6)]


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (row_of(), []),
        (row_of(answer="not known"), [NOT_KNOWN]),
        (row_of(fits=Fits(sessions=None)), [NOT_KNOWN]),
        (row_of(answer="carried"), ["W is 2.50 at 2 sessions"]),
        (row_of(fits=Fits(sessions=None, high=1)), []),
        (row_of(fits=Fits(sessions=None, high=0)), ["W is 1.10 at 1 sessions"]),
        (row_of((3, None, 3.9), *RIGHT, fits=Fits(sessions=2)), ["W is 2.50 at 2 sessions"]),
        (row_of(second="storage"), ["storage is named, and gains 4.0 %"]),
        (row_of(*RIGHT[:2], *TWO), ["storage is not named, and gains 36 %"]),
        (row_of(*RIGHT[:2], *TWO, limit="storage", second="cpu"), ["storage costs most, but cpu gains more"]),
        (row_of(*RIGHT[:2], TWO[1], bed=SLOW, costs=DATA), ["work is not named"]),
        (row_of(*RIGHT[:2], TWO[1], bed=SLOW, costs=WORK), ["work is named for its latency"]),
    ],
)
def test_what_is_wrong_with_a_row_is_found(row: JudgedBed, found: list[str]) -> None:
    assert faults(row) == found


def test_the_page_counts_the_newest_row_of_a_bed_and_shows_all() -> None:
    series = msgspec.structs.replace(row_of().bed, series=True)
    rows = [row_of(answer="carried"), row_of(bed=series)]
    ranked = [row_of(name="A", place=1, runs=row_of((2, None, 1.2)).runs), row_of(name="B", place=2)]
    text = page(stored([msgspec.json.encode(row) for row in (*rows, *ranked, *rows)]))
    counted, earlier = text.split("## Earlier rows")
    assert "Right: 1 of 1.\nMachine: 2 cores of a CPU, commit 0123456789ab.\n" in counted
    start = "| one core | 2026-11-30 | 1 | 2 | 3 | 0.0005 |"
    end = (
        "2.50 | 1 (1 to 2, forecast) | 1: 1.10, 2: 2.50 | cpu queue 50 % | cpu | 20.0 | "
        "storage 19.2, cpu 10.4 | storage 4.0 %, cpu 48 % |"
    )
    assert f"{start} not carried | {end} yes |" in counted
    assert f"{start} carried | {end} W is 2.50 at 2 sessions |" in earlier
    assert "| one core | 1 | 1.10 | 8,182 |" in counted
    assert "In the order of their measured jobs an hour: yes." in counted
    assert rank_faults([ranked[0], row_of(name="B", place=0)]) == ["A is placed 1 and B 0"]


def test_the_page_is_that_of_its_rows_and_each_is_right_or_not_known() -> None:
    rows = stored(PAGE.with_suffix(".jsonl").read_bytes().splitlines())
    assert PAGE.read_text() == page(rows)
    beds = newest([row for row in rows if row.place is None])
    assert sum(bool(faults(row)) for row in beds) <= MOST_NOT_KNOWN
    assert all(faults(row) in ([], [NOT_KNOWN]) for row in beds)
    assert not rank_faults(newest([row for row in rows if row.place is not None]))
