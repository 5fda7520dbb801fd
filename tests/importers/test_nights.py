"""Imports that are not one run, and recordings that cover a part: what reports make of their times.

Logs and recordings given together: one run on one clock, or one question where the clocks differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import UsageError
from mawl.commands.reporting import render_html
from mawl.derive.derive import block_unit
from mawl.figures.over_time import outline
from mawl.figures.view import StoredView
from mawl.importers.clock import Clocks, parse_shifts, parse_zones, zone_difference
from mawl.records.store import Run
from mawl.records.store.parquet import elapsed_seconds
from mawl.reports import markdown, screen, text
from tests.fakes.recorded_host import BEGAN, aix_recording, zzzz
from tests.fakes.views import BARE, as_summary, judged, plain, typed
from tests.importers.test_import import KINDS, imported, log, write

TEN = datetime(2026, 11, 20, 22, 0, 0, tzinfo=UTC)
HOURS = 3600.0


def linux(
    began: datetime, minutes: int, busy: float = 90.0, iowait: float = 4.0, disk: float = 30.0
) -> Iterator[str]:
    """A recording of two processors by the minute: user time alone, one disk that reads 100 KB/s."""
    yield f"AAA,progname,nmon\nAAA,host,lab1\nAAA,time,{began:%H:%M:%S}\nAAA,date,{began:%d-%b-%Y}\n"
    yield "AAA,OS,Linux,6.1.0,#1 SMP,x86_64\nAAA,interval,60\nAAA,cpus,2\n"
    yield "CPU_ALL,CPU Total lab1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs\n"
    for section, title in (("BUSY", "%Busy"), ("READ", "Read KB/s"), ("WRITE", "Write KB/s")):
        yield f"DISK{section},Disk {title} lab1,sda\n"
    for number in range(minutes + 1):
        tag = f"T{number + 1:04d}"
        yield zzzz(number + 1, began.timestamp() + 60 * number)
        yield f"CPU_ALL,{tag},{busy:.1f},0.0,{iowait:.1f},{100 - busy - iowait:.1f},0.0,,2\n"
        yield f"DISKBUSY,{tag},{disk:.1f}\nDISKREAD,{tag},100.0\nDISKWRITE,{tag},0.0\n"


def own(name: str, text: str) -> str:
    """A log of that program, which is no copy of another one."""
    return f"1          * {name};\n{text}"


def nights(folder: Path, *starts: datetime, recorded: datetime | None = None, minutes: int = 60) -> Run:
    """Two jobs of an hour, side by side, in each night; a recording from one moment on."""
    logs = {
        f"{name}{number}": own(name, log(start, HOURS))
        for number, start in enumerate(starts, 1)
        for name in ("a", "b")
    }
    paths = [write(folder / "logs", **logs)]
    if recorded is not None:
        (folder / "lab1.nmon").write_text("".join(linux(recorded, minutes)))
        paths.append(folder / "lab1.nmon")
    _, run = imported(folder, *paths)
    return run


def first_screen(run: Run, summary: dict[str, Any]) -> str:
    return " ".join(screen.render(BARE, as_summary(summary), outline(StoredView(run))).split())


def test_nights_far_apart_have_no_elapsed_time_and_are_listed(tmp_path: Path) -> None:
    run = nights(tmp_path, TEN, TEN + timedelta(days=1), TEN + timedelta(days=8400))
    summary = judged(StoredView(run))
    time = summary["time"]
    assert [time[f"{name}_seconds"] for name in ("elapsed", "active", "tail")] == [None] * 3
    why = "not one run: 3 periods lie up to"
    for path in ("time.elapsed_seconds", "time.tail_seconds", "jobs.mean_concurrent"):
        assert summary["missing"][path].startswith(why), path
    assert [(one["jobs"], one["length_seconds"], one["peak_concurrent"]) for one in time["periods"]] == [
        (2, HOURS, 2)
    ] * 3
    assert time["real_time_seconds"] == 6 * HOURS
    assert (
        summary["missing"]["time.periods.*.cpu_busy_ratio"] == "no recording of the host covers this period"
    )
    for shown in (
        first_screen(run, summary),
        text.render(BARE, as_summary(summary)),
        markdown.render(BARE, as_summary(summary)),
    ):
        assert why in shown and "2026-11-21 22:00" in shown
    assert "Periods of the imported files" in render_html(StoredView(run), typed(summary))
    assert elapsed_seconds(tmp_path / "run", imported=True) is None


def test_a_pause_within_a_night_is_one_run(tmp_path: Path) -> None:
    run = nights(tmp_path, TEN, TEN + timedelta(hours=4.5))
    time = judged(StoredView(run))["time"]
    assert (time["elapsed_seconds"], time["periods"]) == (5.5 * HOURS, [])
    assert elapsed_seconds(tmp_path / "run", imported=True) == 5.5 * HOURS


def test_the_recording_of_one_night_gives_that_nights_figures(tmp_path: Path) -> None:
    second = TEN + timedelta(days=1)
    run = nights(tmp_path, TEN, second, TEN + timedelta(days=2), recorded=second)
    summary = judged(StoredView(run))
    assert summary["host"]["cpu_busy_ratio"] == pytest.approx(0.9)
    assert summary["io"]["device"]["sustained"]["read_bytes_per_second"] == pytest.approx(102400)
    assert summary["time"]["observed"]["started_at"].startswith("2026-11-21T22:00:00")
    assert summary["time"]["observed"]["length_seconds"] == pytest.approx(HOURS)
    share = next(one for one in summary["remarks"] if "of the run (from" in one)
    assert "recordings of the host cover 33 %" in share
    busy = [one["cpu_busy_ratio"] for one in summary["time"]["periods"]]
    assert busy == [None, pytest.approx(0.9), None]
    assert any("are of period 2 of 3 alone, from 2026-11-21 22:00" in one for one in summary["remarks"])
    assert "90 % busy" in first_screen(run, summary)
    assert "90 %" in render_html(StoredView(run), typed(summary))


def test_a_recording_of_a_part_gives_the_figures_of_that_part(tmp_path: Path) -> None:
    run = nights(tmp_path, TEN, recorded=TEN + timedelta(minutes=40), minutes=10)
    summary = judged(StoredView(run))
    assert summary["host"]["cpu_busy_ratio"] == pytest.approx(0.9)
    assert summary["host"]["cpu_busy_seconds"] == pytest.approx(0.9 * 2 * 600)
    assert summary["time"]["elapsed_seconds"] == HOURS
    assert summary["time"]["observed"]["length_seconds"] == pytest.approx(600)
    assert any(one.startswith("recordings cover 17 % of the run") for one in summary["remarks"])
    findings = {one["rule"]: one["sentence"] for one in summary["validity"]["findings"]}
    assert "83 % of the run lies outside the recordings" in findings["sampling"]


def test_of_two_short_recordings_far_apart_the_longer_one_counts(tmp_path: Path) -> None:
    logs = write(tmp_path / "logs", a=log(TEN, 2 * HOURS))
    for name, after, minutes, busy in (("first", 0, 10, 20.0), ("last", 100, 20, 60.0)):
        recording = linux(TEN + timedelta(minutes=after), minutes, busy=busy)
        (tmp_path / f"{name}.nmon").write_text("".join(recording))
    _, run = imported(tmp_path, logs, tmp_path / "first.nmon", tmp_path / "last.nmon")
    summary = judged(StoredView(run))
    assert summary["host"]["cpu_busy_ratio"] == pytest.approx(0.6)
    assert summary["time"]["observed"]["length_seconds"] == pytest.approx(20 * 60)


def test_a_recording_that_covers_the_run_needs_no_such_words(tmp_path: Path) -> None:
    run = nights(tmp_path, TEN, recorded=TEN - timedelta(minutes=5), minutes=70)
    summary = judged(StoredView(run))
    assert summary["time"]["observed"] is None and summary["host"]["cpu_busy_ratio"] == pytest.approx(0.9)


def test_the_first_screen_of_a_recording_alone_shows_processors_and_devices(tmp_path: Path) -> None:
    (tmp_path / "lab1.nmon").write_text("".join(linux(TEN, 30, busy=70.0, iowait=20.0)))
    _, run = imported(tmp_path, tmp_path / "lab1.nmon")
    shown = first_screen(run, judged(StoredView(run)))
    assert "processors 70 % busy, 20 % iowait" in shown and "devices read 102 kB/s, wrote 0 B/s" in shown


def test_a_recording_of_the_tail_alone_gives_the_host_and_no_limit(tmp_path: Path) -> None:
    logs = {f"j{number}": own(f"j{number}", log(TEN, 600)) for number in range(5)} | {
        "long": log(TEN, 2 * HOURS)
    }
    (tmp_path / "lab1.nmon").write_text("".join(linux(TEN + timedelta(hours=1), 20)))
    _, run = imported(tmp_path, write(tmp_path / "logs", **logs), tmp_path / "lab1.nmon")
    summary = judged(StoredView(run))
    assert summary["host"]["cpu_busy_ratio"] == pytest.approx(0.9)
    assert {one["phase"] for one in summary["windows"]} == {"tail"}
    assert summary["io"]["device"]["sustained"]["total_bytes_per_second"] is None
    assert "cover none of the active phase" in summary["missing"]["limit"]
    assert "tail" in render_html(StoredView(run), typed(summary))


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
    assert any("cover 100 % of the run" in remark for remark in made.remarks)


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
    assert any("cover 100 % of the run" in remark for remark in made.remarks)


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
