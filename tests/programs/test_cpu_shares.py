"""Does each program still take the share of the CPU time that the table of reference times gives it?

A program whose share moved has a wrong reference time: measure the table again (``make reference-times``), or
name the program as provisional until then (``python -m tools.reference_times --provisional NAME``).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.measure.machine import read_machine
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import reference_times
from mawl.plan.spec import SCALES
from mawl.records.store import open_run
from tests import needs
from tools.measured import workload

IN_MEMORY = Path("/dev/shm")
FREE_BYTES = 600_000_000
MOST_CHANGE_RATIO = 0.20
ATTEMPTS = 4
FEWER_IN_MEMORY = {"ledger_update": 0.76}
"""Its small files need no journal and no writeback in memory: measured three times, 0.75 to 0.77."""


def lacking() -> str | None:
    """Another kind of processor may take more for one program and less for another."""
    model = read_machine().cpu_model
    if model is None or model not in reference_times().machine:
        return f"needs a processor of the kind that the reference times are of ({reference_times().machine})"
    return None


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory in memory: a disk changes the CPU time of programs with many files by its state."""
    if reason := lacking():
        needs.skip(reason)
    if (
        not os.access(IN_MEMORY, os.W_OK)
        or os.statvfs(IN_MEMORY).f_bavail * os.statvfs(IN_MEMORY).f_frsize < FREE_BYTES
    ):
        needs.skip(f"needs 600 MB in {IN_MEMORY}")
    with tempfile.TemporaryDirectory(prefix="mawl-shares-", dir=IN_MEMORY) as directory:
        yield Path(directory)


def seconds(place: Path, number: int) -> dict[str, float]:
    """CPU seconds by program of a run of each alone."""
    (place / "alone.toml").write_text(workload())
    command = [sys.executable, "-m", "mawl", "run", "alone.toml", "--html", "no", "--output", f"{number}"]
    subprocess.run(command, cwd=place, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=240)
    jobs = open_run(place / f"{number}").job_records()
    return {job.program: job.usage.cpu_seconds for job in jobs if job.usage.cpu_seconds is not None}


def changed(found: dict[str, float]) -> dict[str, float]:
    """Programs whose share lies a fifth beyond the range of the seeds, each with its ratio to the median."""
    (knot,) = (one for one in reference_times().knots if one.scale == SCALES["smoke"])
    usual = {name: FEWER_IN_MEMORY.get(name, 1.0) for name in CATALOGUE}
    whole = sum(knot.programs[name].median * usual[name] for name in CATALOGUE)
    outside = {}
    for name in knot.programs.keys() - set(reference_times().provisional):
        seconds = knot.programs[name]
        now = found[name] / sum(found.values()) * whole / usual[name]
        if not seconds.low * (1.0 - MOST_CHANGE_RATIO) <= now <= seconds.high * (1.0 + MOST_CHANGE_RATIO):
            outside[name] = round(now / seconds.median, 2)
    return outside


@pytest.mark.lab
@pytest.mark.alone
def test_no_program_changed_its_share_of_the_cpu_time_without_being_provisional(place: Path) -> None:
    """Of several runs the least counts: what else uses caches and memory only ever adds.

    Two that copied 200 MB back and forth made the share of `random_access` 1.22 times as large.
    """
    least: dict[str, float] = {}
    for number in range(ATTEMPTS):
        now = seconds(place, number)
        least = {name: min(now[name], least.get(name, now[name])) for name in CATALOGUE}
        if not (wrong := changed(least)):
            break
    assert not wrong, "make reference-times, or name them as provisional"


def test_a_program_that_takes_more_is_found() -> None:
    table = {
        name: CATALOGUE[name].cpu_seconds(SCALES["smoke"]) * FEWER_IN_MEMORY.get(name, 1.0)
        for name in CATALOGUE
    }
    assert changed({name: 1.7 * own for name, own in table.items()}) == {}, "the core's speed is not in it"
    assert list(changed(table | {"text_topics": 1.3 * table["text_topics"]})) == ["text_topics"]
