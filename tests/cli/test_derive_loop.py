"""The closed loop without SAS: a workload runs, its logs alone are derived, the derived jobs run.

What the steps of both runs counted may differ by what is asked: the larger of ratio and inverse of CPU
seconds, memory and bytes is at most 1.25 in the median and 2 at the 95th percentile; shares are within 0.1,
and the areas under the curves of jobs at a time within 10 %.  In nine of ten steps the printed ranges contain
what was counted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest

from mawl.base.units import format_instant
from mawl.derive.derive import Derivation
from mawl.derive.document import write_derived
from mawl.derive.replay.compare import replay
from mawl.derive.replay.records import Replay
from mawl.measure.machine import read_machine
from mawl.records.store import open_run
from tests import needs
from tests.advice.limit.draws import generator
from tests.cli.command_loads import LOADS, write_load
from tests.cli.conftest import Command
from tests.derive.filtered import drawn, is_filtered, keep, kernel_read_bytes, sas_log, write_shop
from tests.derive.oracle import (
    LEAST_BYTES,
    Held,
    counted_by,
    derived_again,
    derived_from_logs,
    held,
    held_against,
    stimer,
    summary,
)
from tests.lab.quiet import quiet_machine
from tools.filtered_reads import LEAST_INSIDE, PAGE, BedRuns, LogsOfRun, holds, page, stored

LEAST_STEPS, LEAST_FILTERED = 60, 40
MOST_MEDIAN, MOST_HIGH = 1.25, 2.0
MOST_SHARE_DIFFERENCE = 0.1
MOST_AREA_RATIO = 0.10
STOP_SECONDS = 10


class Loop(NamedTuple):
    """What the logs of the first run gave, and what the derived jobs did."""

    derived: Derivation
    from_logs: Held
    """Figures of the logs compared with what the first run counted."""
    again: Held
    """What the second run counted compared with what the first run counted."""
    replayed: Replay

    @property
    def errors(self) -> dict[str, tuple[float | None, float | None]]:
        """Median and 95th percentile of each error of the second run, as ``mawl compare`` and the oracle
        find it."""
        near = {one.figure: (one.median, one.high) for one in self.replayed.closeness}
        found = {name: near[name] for name in ("cpu_seconds", "memory_bytes", "moved_bytes")}
        again = {
            "CPU": self.again.cpu_errors, "memory": self.again.memory_errors, "bytes": self.again.bytes_errors
        }  # fmt: skip
        return found | {name: summary(errors)[1:] for name, errors in again.items()}

    @property
    def area_difference_ratio(self) -> float | None:
        """The difference of the areas under the curves of jobs at a time."""
        at_once = self.replayed.jobs_at_once
        return None if at_once is None else at_once.area_difference_ratio


@pytest.mark.long(minutes=2)
@pytest.mark.parametrize(
    ("workload", "with_nmon"),
    [
        ("starter", False),
        pytest.param("starter", True, marks=needs.marks(needs.program("nmon"))),
        ("mixed20", False),
        *((name, False) for name in LOADS),
    ],
)
def test_derived_jobs_do_what_the_jobs_behind_the_logs_did(
    workload: str, with_nmon: bool, mawl: Command, tmp_path: Path
) -> None:
    asked = workload
    if workload in LOADS:
        mawl.environment["MAWL_DATA"] = str(tmp_path / "data")
        asked = str(write_load(workload, mawl.directory, tmp_path / "data"))
    recording = tmp_path / "host.nmon"
    quiet_machine()
    with recorded_by_nmon(recording) if with_nmon else nullcontext():
        run_uncached(mawl, asked, "first")
    loop = closed(mawl, workload, [recording] if with_nmon else [])
    assert (loop.derived.evidence.host is not None) == with_nmon
    for name, ranges in loop.from_logs.ranges.items():
        assert ranges.ratio >= LEAST_INSIDE, (name, loop.from_logs.said)
    counted = loop.replayed.counted
    assert counted.matched == counted.run_jobs == len(loop.derived.workload.jobs)
    for middle, high in loop.errors.values():
        assert middle is not None and middle <= MOST_MEDIAN, loop.errors
        assert high is not None and high <= MOST_HIGH, loop.errors
    assert summary(loop.again.share_errors)[2] <= MOST_SHARE_DIFFERENCE
    area = loop.area_difference_ratio
    assert area is not None and area <= MOST_AREA_RATIO


@pytest.mark.long(minutes=2)
def test_logs_with_filters_hold_the_bytes_that_the_jobs_read(mawl: Command, tmp_path: Path) -> None:
    """The rows of the logs are those that passed; what the jobs read is what the run counted."""
    seed = generator().randrange(10**6)
    spec = drawn(seed, tmp_path / "data")
    write_shop(spec, mawl.directory)
    filtered = sum(is_filtered(step) for job in spec["jobs"] for step in job["steps"])
    assert filtered >= LEAST_FILTERED
    path = f"{mawl.directory}:{os.environ.get('PYTHONPATH', '')}"
    places = {"MAWL_DATA": str(tmp_path / "data"), "PYTHONPATH": path}
    mawl.ok("run", "filtered.toml", "--cache", "none", "--output", "first", **places)
    run = open_run(mawl.directory / "first")
    truth = counted_by(run)
    kernel = kernel_read_bytes(run, mawl.directory)
    for name, noted in (("FULLSTIMER", None), ("STIMER", stimer)):
        text = sas_log(run, mawl.directory, noted)
        derived = derived_from_logs(run, mawl.directory / name, text=text)
        assert share_inside(derived, kernel) >= LEAST_INSIDE
        found = held_against(derived, truth)
        sys.stdout.write(f"seed {seed}, {name}:\n{found.said}\n")
        keep(
            LogsOfRun(
                measured_at=format_instant(time.time()),
                machine=read_machine().cpu_model or "",
                seed=seed,
                log="STIMER" if noted else "FULLSTIMER",
                steps=len(found.role_ranges.inside),
                filtered_steps=filtered,
                bytes_inside=sum(found.bytes_ranges.inside),
                roles_inside=sum(found.role_ranges.inside),
                median_error=summary(found.bytes_errors)[1],
            )
        )
        assert len(found.role_ranges.inside) >= LEAST_STEPS
        for ranges in (found.bytes_ranges, found.role_ranges):
            assert ranges.ratio >= LEAST_INSIDE, found.said
        if noted is None:
            assert summary(found.bytes_errors)[1] <= MOST_MEDIAN, found.said


def share_inside(derived: Derivation, kernel: dict[tuple[str, int], int]) -> float:
    """Of the steps that read at least a MiB: whether the kernel's own count lies within what logs give."""
    inside = [
        step.read_bytes_range[0] <= kernel[job.job, number] <= step.read_bytes_range[1]
        for job in derived.evidence.jobs
        for number, step in enumerate(job.steps)
        if kernel[job.job, number] >= LEAST_BYTES
    ]
    sys.stdout.write(f"the kernel's count of reads: {sum(inside)} of {len(inside)} inside\n")
    return sum(inside) / len(inside)


def test_the_page_of_filters_is_printed_from_the_lines_that_are_kept_and_all_hold() -> None:
    kept = stored(PAGE.with_suffix(".jsonl").read_bytes().splitlines())
    assert PAGE.read_text() == page(kept) and all(map(holds, kept))
    assert {one.bed for one in kept if isinstance(one, BedRuns)} == {"data", "work", "processors"}
    assert len([word for word in page(kept).split() if word.strip("|-")]) <= 200


@contextmanager
def recorded_by_nmon(recording: Path) -> Iterator[None]:
    """nmon records this host while the block runs; the file is complete after it."""
    started = subprocess.run(
        ["nmon", "-F", str(recording), "-s", "1", "-c", "600", "-p"],
        capture_output=True,
        text=True,
        check=True,
        stdin=subprocess.DEVNULL,
        cwd=recording.parent,
    )
    process = int(started.stdout)
    try:
        yield
    finally:
        os.kill(process, signal.SIGUSR2)  # nmon ends after the snapshot
        end = time.monotonic() + STOP_SECONDS
        while Path(f"/proc/{process}").exists() and time.monotonic() < end:
            time.sleep(0.1)


def run_uncached(mawl: Command, workload: str, output: str) -> None:
    """Run it with a page cache that hides nothing."""
    mawl.ok("run", workload, "--cache", "none", "--output", output)


def closed(mawl: Command, name: str, recordings: Sequence[Path]) -> Loop:
    """Derive the logs of the run ``first``, with recordings of its host, and run the jobs; print errors."""
    first = open_run(mawl.directory / "first")
    derived = derived_from_logs(first, mawl.directory / "from", recordings=recordings)
    from_logs = held(derived, first)
    sys.stdout.write(f"{name}, derived:\n{from_logs.said}\n")
    (mawl.directory / "shop").mkdir()
    write_derived(mawl.directory / "shop", derived)
    run_uncached(mawl, "shop/workload.toml", "again")
    second = open_run(mawl.directory / "again")
    again = held(derived_again(derived, second), first)
    sys.stdout.write(f"{name}, run again:\n{again.errors_said}\n")
    replayed = replay(open_run(mawl.directory / "from" / "imported"), second)
    loop = Loop(derived, from_logs, again, replayed)
    area = loop.area_difference_ratio
    areas = "unknown" if area is None else f"{area:.1%}"
    sys.stdout.write(f"{name}: difference of the areas of jobs at a time: {areas}; {replayed.sentence}\n")
    return loop
