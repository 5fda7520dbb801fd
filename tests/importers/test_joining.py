"""Logs and recordings given together: one run on one clock, or one question where the clocks differ."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.derive.derive import block_unit
from mawl.figures.view import StoredView
from mawl.importers.clock import Clocks, parse_shifts, parse_zones, zone_difference
from tests.fakes.recorded_host import BEGAN, aix_recording
from tests.fakes.views import judged, plain
from tests.importers.test_import import KINDS, imported, log, write

MINUTES = 30
BEGIN = datetime.fromtimestamp(BEGAN, UTC)
HOUR = 3600.0


def files(folder: Path, *, hours: float = 0.0) -> tuple[Path, Path]:
    """Twenty minutes of jobs, and half an hour of their host, on clocks that differ by so many hours."""
    start = BEGIN + timedelta(minutes=5, hours=hours)
    logs = write(folder / "logs", a=log(start, 600), b=log(start + timedelta(minutes=10), 600))
    recording = folder / "aix1.nmon"
    recording.write_text("".join(aix_recording(3, MINUTES)))
    return logs, recording


@pytest.mark.parametrize(
    ("platform", "kernel", "unit"),
    [("AIX 7.1", "Linux 4.18.0; AIX 7.1", "unknown"), ("Linux 5.14.0", "Linux 4.18.0", "linux")],
)
def test_a_recorded_host_is_also_of_the_system_that_its_logs_name(
    tmp_path: Path, platform: str, kernel: str, unit: str
) -> None:
    """Block operations of AIX would count as 512 bytes, as those of the recorded Linux host."""
    logs, recording = files(tmp_path)
    for path in logs.iterdir():
        path.write_text(f"NOTE: This session is executing on the {platform} platform.\n{path.read_text()}")
    text = recording.read_text().replace("AAA,build,AIX\n", "")
    recording.write_text(text.replace("AAA,AIX,7.2.5.101", "AAA,OS,Linux,4.18.0"))
    _, run = imported(tmp_path, logs, recording)
    (node,) = run.facts.nodes
    assert (node.kernel, block_unit(node.kernel)) == (kernel, unit)


def test_jobs_and_host_are_one_run_on_one_clock(tmp_path: Path) -> None:
    roles = {"work": [re.compile("hdisk[2-3]")], "data": [re.compile("hdisk1")]}
    made, run = imported(tmp_path, *files(tmp_path), roles=roles)
    summary = plain(StoredView(run).summary)
    assert (made.jobs, made.blocks, made.files) == (2, 6, 3)
    assert {job.node for job in run.job_records()} == {"aix1"}
    assert summary["time"]["elapsed_seconds"] == 1200.0
    # Device bytes of the recording, 1 and 2 KiB/s times the number of the disk, while the jobs ran.
    assert summary["host"]["device"]["hdisk2"]["read_bytes"] == pytest.approx(2 * 1024 * 1200)
    assert summary["host"]["device"]["hdisk1"]["roles"] == ["data"]
    assert summary["io"]["device"]["sustained"]["read_bytes_per_second"] is not None
    assert any("cover 100% of the run" in remark for remark in made.remarks)


def test_little_throughput_does_not_tell_against_a_host_of_which_little_may_have_been_asked(
    tmp_path: Path,
) -> None:
    _, run = imported(tmp_path, *files(tmp_path))
    summary = judged(StoredView(run))
    answer, guideline = summary["answer"], summary["guideline"]
    assert guideline["bytes_per_second_per_core"] is None
    assert "which block devices hold its roles" in summary["missing"]["guideline.met"]
    assert (guideline["met"], answer["carried"], answer["slowdown"]) == (None, None, None)
    assert answer["reasons"] == ["imported files have no reference times, because other programs ran"]


@pytest.mark.parametrize("hours", [-5.0, 2.0, 5.5])
def test_clocks_of_different_zones_are_asked_about_in_one_sentence(tmp_path: Path, hours: float) -> None:
    logs, recording = files(tmp_path, hours=hours)
    with pytest.raises(UsageError) as caught:
        imported(tmp_path, logs, recording)
    sentence = str(caught.value)
    assert f"{abs(hours):g} hours apart" in sentence
    option = f"saslog={-hours * HOUR:+g}"
    assert f"--shift {option}" in sentence
    assert "\n" not in sentence
    assert not (tmp_path / "run").exists()
    made, run = imported(tmp_path, logs, recording, clocks=Clocks({}, parse_shifts([option])))
    assert run.job_records()[0].started_at == BEGAN + 300
    assert any("cover 100% of the run" in remark for remark in made.remarks)


def test_zones_may_be_named_instead(tmp_path: Path) -> None:
    logs, recording = files(tmp_path, hours=2.0)
    clocks = Clocks(parse_zones(["saslog=+02:00", "nmon=UTC"], KINDS), {})
    _, run = imported(tmp_path, logs, recording, clocks=clocks)
    assert run.job_records()[0].started_at == BEGAN + 300


def test_days_apart_is_no_zone_and_is_told(tmp_path: Path) -> None:
    made, run = imported(tmp_path, *files(tmp_path, hours=72.0))
    (warning,) = made.warnings
    assert warning.startswith("no recording of the host lies within the time of the jobs: they ran from 20")
    assert "--timezone KIND=Area/City or --shift saslog=SECONDS" in warning
    assert not any("cover" in remark for remark in made.remarks)
    summary = judged(StoredView(run))
    assert summary["host"]["cpu_busy_ratio"] is None
    (found,) = [one for one in summary["validity"]["findings"] if one["rule"] == "sampling"]
    assert found["sentence"].startswith("no recording of the host lies within the time of the jobs")
    assert "--timezone" in found["cure"] and "--shift" in found["cure"]


def test_where_they_meet_there_is_no_warning(tmp_path: Path) -> None:
    made, _ = imported(tmp_path, *files(tmp_path))
    assert made.warnings == []


@pytest.mark.parametrize("hours", [0.5, 1.5, 7.5, 8.5, 11.5, 13.5])
def test_half_hours_by_which_no_zone_lies_from_utc_are_chance(tmp_path: Path, hours: float) -> None:
    """Half an hour moves any short job into most recordings; no question then, but a warning."""
    host, jobs = (0.0, 1800.0), (100.0 + hours * HOUR, 1500.0 + hours * HOUR)
    assert zone_difference(jobs, host) is None
    made, _ = imported(tmp_path, *files(tmp_path, hours=hours))
    assert len(made.warnings) == 1


def test_a_difference_of_zones_is_a_whole_number_of_half_hours() -> None:
    host = (0.0, 1800.0)
    assert zone_difference((100.0, 1500.0), host) is None
    assert zone_difference((100.0 + 2 * HOUR, 1500.0 + 2 * HOUR), host) == -2 * HOUR
    assert zone_difference((100.0 - 5.5 * HOUR, 1500.0 - 5.5 * HOUR), host) == 5.5 * HOUR
    assert zone_difference((100.0 + 30 * HOUR, 1500.0 + 30 * HOUR), host) is None
    assert zone_difference((0.0, 7200.0), host) is None
