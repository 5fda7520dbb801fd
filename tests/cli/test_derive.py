"""mawl derive: a run's own logs, derived, compared with what the run counted (docs/design/derive.md)."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from statistics import median

import pytest

from mawl.derive.document import write_derived
from mawl.plan.derived_jobs import load_derived
from mawl.records.store import open_run
from tests.cli.conftest import Command
from tests.derive.oracle import (
    Held,
    counted_by,
    derived_again,
    derived_from_logs,
    held,
    held_against,
    log_of,
    stimer,
    summary,
    without_cpu_time,
    without_util_notes,
)
from tests.derive.sas_like import as_sas_counts, sas_log

SCALE = "0.0005"
"""At this scale a sort has less memory than it sorts, as sorts of SAS that use utility files."""

LEAST_INSIDE = 0.9
"""Of the steps."""


@pytest.fixture(scope="module")
def uncached(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A run that memory served nothing to, so that block operations tell its bytes."""
    folder = tmp_path_factory.mktemp("uncached")
    made = Command(folder, data)("run", "starter", "--scale", SCALE, "--cache", "none", "--output", "run")
    assert made.returncode == 0, made.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A run that reads from the page cache."""
    folder = tmp_path_factory.mktemp("cached")
    made = Command(folder, data)("run", "starter", "--scale", SCALE, "--output", "run")
    assert made.returncode == 0, made.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def fullstimer(uncached: Path, tmp_path_factory: pytest.TempPathFactory) -> Held:
    run = open_run(uncached)
    return held(derived_from_logs(run, tmp_path_factory.mktemp("fullstimer")), run)


def test_bytes_cpu_and_memory_of_steps_are_within_the_bounds_of_the_closed_loop(fullstimer: Held) -> None:
    for errors in (fullstimer.bytes_errors, fullstimer.memory_errors):
        count, middle, most = summary(errors)
        assert count >= 20
        assert middle <= 1.25
        assert most <= 2.0
    assert all(error <= 1.25 for error in fullstimer.cpu_errors)


def test_shares_of_the_roles_are_within_a_tenth(fullstimer: Held) -> None:
    _, middle, most = summary(fullstimer.share_errors)
    assert middle <= 0.01
    assert most <= 0.1


def assert_ranges_hold(found: Held) -> None:
    """In nine of ten steps."""
    sys.stdout.write(f"{found.said}\n")
    for name, ranges in found.ranges.items():
        assert ranges.ratio >= LEAST_INSIDE, (name, found.said)


def test_ranges_hold_the_counted_figures(fullstimer: Held) -> None:
    assert_ranges_hold(fullstimer)
    assert median(fullstimer.bytes_ranges.widths) <= 1.5
    assert median(fullstimer.role_ranges.widths) <= 0.5


def test_without_notes_on_utility_files_ranges_hold_them(uncached: Path, tmp_path: Path) -> None:
    run = open_run(uncached)
    found = held(derived_from_logs(run, tmp_path, without_util_notes), run)
    assert_ranges_hold(found)
    assert median(found.bytes_ranges.widths) <= 1.5
    assert median(found.role_ranges.widths) <= 1.0


def test_logs_as_sas_writes_them_tell_bytes_and_shares_of_roles(uncached: Path, tmp_path: Path) -> None:
    run = open_run(uncached)
    derived = derived_from_logs(run, tmp_path, text=sas_log(run))
    found = held_against(derived, as_sas_counts(counted_by(run)))
    assert_ranges_hold(found)
    assert median(found.role_ranges.widths) <= 1.0
    for errors, most in ((found.bytes_errors, 2.0), (found.share_errors, 0.1)):
        assert summary(errors)[2] <= most
    rules = {
        one.rule for job in derived.evidence.jobs for step in job.steps for one in step.read_bytes.values()
    }
    assert {"may-spill", "any-role"} <= rules


@pytest.mark.parametrize("sas", [False, True])
def test_with_stimer_less_is_told_and_the_wider_ranges_hold(
    uncached: Path, tmp_path: Path, sas: bool
) -> None:
    run, truth = open_run(uncached), counted_by(open_run(uncached))
    text = sas_log(run, stimer) if sas else log_of(run, stimer)
    derived = derived_from_logs(run, tmp_path, text=text)
    assert_ranges_hold(held_against(derived, as_sas_counts(truth) if sas else truth))
    memory = [step.memory_bytes for job in derived.evidence.jobs for step in job.steps]
    assert {part.origin for part in memory} == {"assumed"}


def test_without_cpu_time_its_range_holds(uncached: Path, tmp_path: Path) -> None:
    run = open_run(uncached)
    derived = derived_from_logs(run, tmp_path, without_cpu_time, text=log_of(run, stimer))
    assert_ranges_hold(held(derived, run))
    assert {step.cpu_seconds.rule for job in derived.evidence.jobs for step in job.steps} == {"cpu-of-real"}


@pytest.mark.parametrize("sas", [False, True])
def test_of_a_run_that_the_page_cache_served_ranges_hold(cached: Path, tmp_path: Path, sas: bool) -> None:
    run = open_run(cached)
    derived = derived_from_logs(run, tmp_path / "from", text=sas_log(run) if sas else None)
    truth = counted_by(run)
    assert_ranges_hold(held_against(derived, as_sas_counts(truth) if sas else truth))
    assert derived.evidence.device_share is not None and derived.evidence.device_share < 0.9


def test_a_run_folder_derives_as_it_was_counted(uncached: Path, mawl: Command) -> None:
    made = mawl.ok("derive", str(uncached), "--output", "shop")
    assert "told 100 %" in made.stdout
    host = json.loads((mawl.directory / "shop" / "evidence.json").read_text())["host"]
    for way in ("read", "written"):
        assert host[f"device_{way}_bytes"] >= 0.8 * host[f"steps_{way}_bytes"] > 0
    run = open_run(uncached)
    counted = sum(
        io.read_bytes + io.written_bytes
        for step in run.step_records()
        if step.kind in ("data", "procedure") and step.io
        for role, io in step.io.items()
        if role != "other"
    )
    workload = load_derived(mawl.directory / "shop" / "derived.json")
    moved = sum(step.moved_bytes for job in workload.jobs for step in job.steps)
    assert moved == counted > 0


def test_derived_jobs_run_and_move_the_bytes_of_the_run_behind_the_logs(
    uncached: Path, tmp_path: Path, mawl: Command
) -> None:
    original = open_run(uncached)
    derived = derived_from_logs(original, tmp_path / "from")
    write_derived(mawl.directory, derived)
    mawl.ok("run", "workload.toml", "--cache", "none", "--output", "again")
    again = derived_again(derived, open_run(mawl.directory / "again"))
    found = held(again, original)
    for errors, most in ((found.bytes_errors, 1.25), (found.share_errors, 0.1)):
        assert summary(errors)[2] <= most


def test_logs_of_a_directory_become_a_folder_and_a_sentence(uncached: Path, mawl: Command) -> None:
    (mawl.directory / "logs").mkdir()
    mawl.ok("report", str(uncached), "--format", "saslog", "--output", "logs/all.log")
    made = mawl.ok("derive", "logs", "--output", "shop", "--growth", "1.3")
    assert made.stdout.startswith("derived   ")
    evidence = json.loads((mawl.directory / "shop" / "evidence.json").read_text())
    assert evidence["growth"] == 1.3
    assert math.isclose(evidence["device_share"], 1.0, abs_tol=0.1)
    again = mawl("derive", "logs", "--output", "shop")
    assert (again.returncode, "already holds files" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("absent", "--output", "shop"), "no such"),
        (("x.log", "--output", "shop", "--night", "soon"), "expected START/END"),
        (("x.log", "--output", "shop", "--growth", "0"), "expected a factor from 0.001 to 1000"),
        (
            ("x.log", "--output", "shop", "--core-speed", "nan"),
            "expected a speed from 0.01 to 100",
        ),
        (("x.log", "--output", "shop", "--library", "tape=X"), "expected ROLE=PATTERN"),
        (("x.log", "--output", "shop", "--library", "work=("), "no regular expression"),
        (("x.log", "--output", "shop"), "nothing in 1 file could be imported"),
    ],
)
def test_what_is_wrong_is_one_sentence(mawl: Command, arguments: tuple[str, ...], sentence: str) -> None:
    (mawl.directory / "x.log").write_text("nothing\n")
    made = mawl("derive", *arguments)
    assert made.returncode == 2
    assert sentence in made.stderr
    assert "Traceback" not in made.stderr
