"""kill -9 of the runner and disks that fill up: nothing survives, nothing measured is lost."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mawl.records.spec.program_options import ROLES
from mawl.records.store import open_run
from mawl.records.store.files import FACTS
from mawl.run.launch.setup import live_runs
from tests import needs
from tests.cli.conftest import Command

SEED = random.SystemRandom().randrange(2**32)
KILLS = 4
"""test_kills.py has fifty of each verb."""


def kill_at(mawl: Command, seconds: float) -> str:
    """Start nano, kill its runner after a time; the run's id, or "" when no folder existed yet."""
    process = mawl.start("run", "nano")
    time.sleep(seconds)
    process.kill()
    process.communicate()
    found = sorted((mawl.directory / "runs").glob("2*"), key=lambda path: path.stat().st_mtime_ns)
    return found[-1].name if found else ""


def parent_of(pid: int) -> int:
    """The parent's pid; 0 when the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def survivors(run_id: str) -> list[int]:
    return live_runs().get(run_id, [])


def check_after_kill(mawl: Command, run_id: str, when: str = "") -> None:
    """No survivor after 5 s, and every job that had its record still has it."""
    deadline = time.monotonic() + 5.0
    while survivors(run_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert survivors(run_id) == [], f"a process outlived its killed runner by 5 s {when}"
    folder = mawl.directory / "runs" / run_id
    if not (folder / FACTS).exists():
        check_unbegun(mawl, folder, when)
        return
    recorded = recorded_jobs(folder)
    mawl.ok("report", run_id)
    run = open_run(folder)
    assert run.facts.outcome in ("interrupted", "completed"), when
    assert {record.job for record in run.job_records()} >= recorded, when


def check_unbegun(mawl: Command, folder: Path, when: str) -> None:
    """A folder whose run was killed before its facts were written: one sentence, and clean removes it."""
    report = mawl("report", folder.name)
    assert report.returncode == 1, when
    assert "killed before it began" in report.stderr and "mawl clean" in report.stderr, when
    os.utime(folder, (time.time() - 60,) * 2)
    assert f"{folder}" in mawl("clean").stdout, when
    assert not folder.exists(), when


@pytest.mark.lab
@pytest.mark.parametrize("left", [(), (f".{FACTS}.0a1b2c.tmp",)])
def test_a_run_killed_before_its_facts_is_named_and_cleaned(left: tuple[str, ...], mawl: Command) -> None:
    folder = mawl.directory / "runs" / "20261124-142318-nano-7706"
    folder.mkdir(parents=True)
    for name in left:
        (folder / name).touch()
    check_unbegun(mawl, folder, "made by the test")


def recorded_jobs(folder: Path) -> set[str]:
    """Names of the jobs whose record stands whole in the journal."""
    journal = folder / "journal" / "jobs.jsonl"
    if not journal.exists():
        return set()
    return {
        json.loads(line)["job"] for line in journal.read_text().splitlines(keepends=True) if line[-1] == "\n"
    }


@pytest.mark.lab
def test_a_killed_run_is_readable_and_cleaned_and_the_next_one_works(mawl: Command) -> None:
    assert mawl("generate", "nano").returncode == 0
    # Roles that only the run folder remembers: clean is not told of them below.
    process = mawl.start("run", "nano", "--work", "elsewhere/work", "--util", "elsewhere/util")
    journal = None
    for _ in range(3000):
        journal = next(iter(mawl.directory.glob("runs/2*/journal/jobs.jsonl")), None)
        if journal is not None and journal.read_text().count("\n") >= 2:
            break
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert journal is not None
    finished = {json.loads(line)["job"] for line in journal.read_text().splitlines()}
    run_id = journal.parent.parent.name
    check_after_kill(mawl, run_id)
    run = open_run(mawl.directory / "runs" / run_id)
    assert run.facts.outcome == "interrupted"
    assert {record.job for record in run.job_records() if record.outcome == "finished"} == finished
    assert "elsewhere/work" in mawl("clean").stdout
    assert mawl.leftovers() == []
    assert list((mawl.directory / "elsewhere").glob("*/*")) == []
    assert mawl("clean").stdout == "nothing to clean\n"
    assert mawl("run", "nano").returncode == 0


@pytest.mark.lab
def test_kill_at_random_points(mawl: Command) -> None:
    chance = random.Random(SEED)
    assert mawl("generate", "nano").returncode == 0
    began = time.monotonic()
    assert mawl("run", "nano").returncode == 0
    whole = time.monotonic() - began
    for _ in range(KILLS):
        seconds = chance.uniform(0.0, whole)
        run_id = kill_at(mawl, seconds)
        if run_id:
            check_after_kill(mawl, run_id, f"(seed {SEED}, killed after {seconds:.3f} s)")
        mawl("clean")
        assert mawl.leftovers() == []
    assert mawl("run", "nano").returncode == 0


@contextlib.contextmanager
def small_file_system(place: Path, size: str) -> Iterator[Path]:
    """A tmpfs of its own; skips with a reason where it cannot be mounted."""
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "mawl-test", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        needs.skip(f"lab: cannot mount a small file system: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    """Take all the space there is at once; again, since jobs write meanwhile."""
    with (place / "filler").open("wb") as filler:
        for _ in range(200):
            status = os.statvfs(place)
            size = os.fstat(filler.fileno()).st_size
            with contextlib.suppress(OSError):
                os.posix_fallocate(filler.fileno(), size, max(status.f_bavail * status.f_frsize // 2, 4096))


@pytest.mark.lab
@pytest.mark.parametrize("role", ROLES)
def test_a_role_that_fills_up_costs_the_jobs_that_needed_it(role: str, mawl: Command) -> None:
    (mawl.directory / "fill.toml").write_text(
        'name = "fill"\nscale = 0.0005\n'
        '[[sessions]]\nname = "a"\nstages = [[{ program = "wide_sort", size = 8 }], ["stress_projection"]]\n'
        '[[sessions]]\nname = "b"\nstages = [["segmentation"]]\n'
    )
    with small_file_system(mawl.directory / "small", "1500M") as small:
        where = ("--data", str(small)) if role == "data" else ()
        assert mawl("generate", "fill.toml", *where).returncode == 0
        process = mawl.start("run", "fill.toml", f"--{role}", str(small))
        for _ in range(3000):
            if any(small.glob("mawl-run-*/*wide_sort/*")):
                break
            time.sleep(0.01)
        fill(small)
        output, errors = process.communicate(timeout=120)
        summary = json.loads(mawl("report", "--format", "json").stdout)
        (small / "filler").unlink()
        assert not list(small.glob("mawl-run-*"))
    assert process.returncode == 1
    assert f"{role} is full" in output + errors
    assert "Traceback" not in errors
    assert summary["outcome"] == "failed"
    records = {record.job: record for record in open_run(mawl.directory / "runs" / "latest").job_records()}
    assert f"{role} is full" in (records["a.1.wide_sort"].reason or "")
    assert len(records) == 3
    if role != "work":
        assert records["a.2.stress_projection"].outcome == "finished"
        assert records["b.1.segmentation"].outcome == "finished"


@pytest.mark.lab
def test_a_killed_launcher_takes_its_jobs_along_and_the_run_ends_with_its_records(mawl: Command) -> None:
    assert mawl("generate", "nano").returncode == 0
    process = mawl.start("run", "nano")
    launcher = None
    for _ in range(3000):
        for run_id, pids in live_runs().items():
            if (mawl.directory / "runs" / run_id).is_dir():
                # Of the run's processes the launcher alone is a child of the runner; pids say nothing of age.
                launcher, run = next((pid for pid in pids if parent_of(pid) == process.pid), None), run_id
        if (
            launcher is not None
            and '"job_started"' in next(iter(mawl.directory.glob("runs/2*/journal/events.jsonl"))).read_text()
        ):
            break
        time.sleep(0.02)
    assert launcher is not None
    os.kill(launcher, signal.SIGKILL)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "launcher" in output + errors
    assert "Traceback" not in errors
    assert survivors(run) == []
    outcomes = [record.outcome for record in open_run(mawl.directory / "runs" / "latest").job_records()]
    assert len(outcomes) == 8
    assert "lost" in outcomes
