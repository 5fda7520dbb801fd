"""A system made worse in one way never gets a better answer: pairs of real runs that alternate.

``MAWL_TEST_PAIRS`` names a file that gets a line of JSON for each run; ``tools/worse_beds.py`` prints it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mawl.base.units import format_instant
from mawl.records.spec.program_options import ROLES, Role
from mawl.run.runner.restrict import remove_group
from tests.advice.limit.beds import Bed
from tests.advice.limit.test_ground_truth import made_bed
from tests.lab.quiet import quiet_machine
from tools.worse_beds import PAGE, PairRun, faults, newest, page, stored

ROWS = PAGE.with_suffix(".jsonl")
RUNS_EACH = 3
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_MICROSECONDS = 100_000


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One system: caps in bytes a second each way, milliseconds of each request, processors, a quota of
    them, sessions, other programs that compute, and a role to whose device another program writes."""

    caps: dict[Role, int] = {}
    delays: dict[Role, int] = {}
    processors: int = 2
    quota: float | None = None
    sessions: int = 5
    spinning: int = 0
    writing: Role | None = None


PLAIN = Side()
SLOW_WORK = Side(caps={"work": 60_000_000})
PAIRS: dict[str, tuple[Side, Side]] = {
    "data capped at 20 MB/s": (PLAIN, Side(caps={"data": 20_000_000})),
    "work capped at 40 MB/s": (PLAIN, Side(caps={"work": 40_000_000})),
    "util capped at 15 MB/s": (PLAIN, Side(caps={"util": 15_000_000})),
    "12 ms more for each request of data": (PLAIN, Side(delays={"data": 12})),
    "4 ms more for each request of work": (PLAIN, Side(delays={"work": 4})),
    "12 ms more for each request of util": (PLAIN, Side(delays={"util": 12})),
    "work capped at 60 MB/s, and then at 30": (SLOW_WORK, Side(caps={"work": 30_000_000})),
    "one core of two": (PLAIN, Side(processors=1)),
    "a quota of 1.5 cores": (PLAIN, Side(quota=1.5)),
    "8 sessions in place of 5": (PLAIN, Side(sessions=8)),
    "another program that computes": (PLAIN, Side(spinning=1)),
    "another program that writes to the device of data": (PLAIN, Side(writing="data")),
}


@pytest.fixture
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """A volume for each role; any of them can be made slow below its device's queue."""
    yield from made_bed(tmp_path_factory.mktemp("bed"), "nbdkit", "nbdfuse", image_bytes=8 * 2**30)


def made(bed: Bed, side: Side) -> None:
    for role in ROLES:
        bed.volumes[role].open(side.delays.get(role, 0))
        if role in side.caps:
            bed.volumes[role].cap(side.caps[role])


@contextmanager
def confined(side: Side) -> Iterator[Callable[[], None]]:
    """What a process does to have the side's processors and quota."""
    processors = sorted(os.sched_getaffinity(0))[: side.processors]
    group = CPU_GROUPS / f"mawl-worse-{os.getpid()}"
    with ExitStack() as stack:
        if side.quota is not None:
            group.mkdir()
            stack.callback(remove_group, group, seconds=10.0)
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
            (group / "cpu.cfs_quota_us").write_text(str(round(side.quota * PERIOD_MICROSECONDS)))

        def confine() -> None:
            os.sched_setaffinity(0, processors)
            if side.quota is not None:
                (group / "cgroup.procs").write_text("0")

        yield confine


@contextmanager
def beside(bed: Bed, side: Side) -> Iterator[None]:
    """The other programs of a side; they end with the run."""
    others: list[Sequence[str]] = [[sys.executable, "-c", "while True: pass"]] * side.spinning
    if side.writing is not None:
        file = bed.volumes[side.writing].place / "other"
        writes = f"while :; do dd if=/dev/zero of={file} bs=1M count=64 oflag=direct 2>/dev/null; done"
        others.append(["sh", "-c", writes])
    started = [subprocess.Popen(words, start_new_session=True) for words in others]
    try:
        yield
    finally:
        for process in started:
            os.killpg(process.pid, 15)
            process.wait(timeout=30)


def measured(bed: Bed, side: Side, folder: Path) -> dict[str, Any]:
    """The summary of one run of a side."""
    places = [word for role in ROLES for word in (f"--{role}", str(bed.volumes[role].place / "mawl"))]
    asked = ["--sessions", str(side.sessions), "--cache", "none", "--html", "no", "--output", str(folder)]
    with confined(side) as confine, beside(bed, side):
        said(bed, "run", "mixed20", *places, *asked, confine=confine)
    summary: dict[str, Any] = json.loads(said(bed, "report", str(folder), "--format", "json"))
    return summary


def said(
    bed: Bed, *words: str, confine: Callable[[], None] | None = None, statuses: Sequence[int] = (0,)
) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mawl", *words],
        cwd=bed.directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
        preexec_fn=confine,
    )
    assert done.returncode in statuses, done.stdout + done.stderr
    return done.stdout


def run_of(bed: Bed, pair: str, number: int, at: str, folder: Path) -> PairRun:
    """One run of a pair: the sides alternate, and change places after each turn."""
    turn, second = divmod(number, 2)
    is_worse = bool(second) != bool(turn % 2)
    side = PAIRS[pair][is_worse]
    made(bed, side)
    summary = measured(bed, side, folder)
    node = summary["nodes"][0]
    return PairRun(
        measured_at=at,
        machine=f"{node['cores']} cores of {node['cpu_model']}",
        pair=pair,
        side="worse" if is_worse else "better",
        slowdown=summary["answer"]["slowdown"],
        answer=summary["answer"]["answer"],
        real_time_seconds=summary["time"]["real_time_seconds"],
    )


@pytest.mark.lab
@pytest.mark.long(minutes=60)
def test_no_bed_made_worse_looks_better(bed: Bed) -> None:
    quiet_machine()
    wrong = {}
    for place, pair in enumerate(PAIRS):
        at, runs = format_instant(time.time()), []
        for number in range(2 * RUNS_EACH):
            run = run_of(bed, pair, number, at, bed.directory / f"run-{place}-{number}")
            runs.append(run)
            sys.stdout.write(f"{run}\n")
            if named := os.environ.get("MAWL_TEST_PAIRS"):
                with Path(named).open("ab") as file:
                    file.write(msgspec.json.encode(run) + b"\n")
        if found := faults(runs):
            wrong[pair] = found
    assert not wrong


def test_the_page_is_that_of_its_rows_and_every_pair_is_right() -> None:
    runs = stored(ROWS.read_bytes().splitlines())
    assert PAGE.read_text() == page(runs)
    assert newest(runs).keys() == PAIRS.keys()
    assert not [pair for pair, own in newest(runs).items() if faults(own)]


def test_the_page_judges_the_newest_runs_of_a_pair() -> None:
    def pair(at: str, *slowdowns: tuple[str, float, str]) -> list[PairRun]:
        return [
            PairRun(
                measured_at=at,
                machine="2 cores of a CPU",
                pair="one core of two",
                side=side,  # type: ignore[arg-type]
                slowdown=slowdown,
                answer=answer,
                real_time_seconds=9.0,
            )
            for side, slowdown, answer in slowdowns
        ]

    old = pair("2026-01-01", ("better", 3.0, "not carried"), ("worse", 1.5, "carried"))
    new = pair("2026-01-02", ("better", 2.0, "not known"), ("worse", 1.91, "carried"))
    assert faults(old) == ["W falls from 3.00 to 1.50", "an answer turns from NO to YES"]
    assert faults(new) == []
    lines = [msgspec.json.encode(run) for run in (*old, *new, *new)]
    text = page(stored(lines))
    assert "Right: 1 of 1." in text
    assert "| one core of two | 2.00 | 1.91 | 2.00 | 1.91 | yes |" in text
    assert "W falls" in page(stored(lines[:2]))
