"""Imports that are not one run, and recordings that cover a part: what reports make of their times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mawl.commands.reporting import render_html
from mawl.figures.over_time import outline
from mawl.figures.view import StoredView
from mawl.records.store import Run
from mawl.records.store.parquet import elapsed_seconds
from mawl.reports import markdown, screen, text
from tests.fakes.recorded_host import zzzz
from tests.fakes.views import BARE, as_summary, judged, typed
from tests.importers.test_import import imported, log, write

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
    assert "recordings of the host cover 33%" in share
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
