"""Recordings of which no line has a time, or only the banner a date."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.figures.view import StoredView
from mawl.importers.clock import parse_untimed
from tests.fakes.views import plain
from tests.importers.recordings import Read
from tests.importers.test_import import EIGHT, imported

BANNER = "Linux 6.1.0 (bench1) \t11/20/2026 \t_x86_64_\t(2 CPU)\n"
CPU = "avg-cpu:  %user  %nice  %system  %iowait  %steal  %idle\n  {0}.00  0.00  0.00  0.00  0.00  50.00\n\n"
DISKS = "Device   tps   kB_read/s   kB_wrtn/s   kB_read   kB_wrtn\nsda   1.00   {0}.00   0.00   9   0\n\n"
VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
)
START = EIGHT.timestamp()


def iostat(*kinds: str, reports: int = 4) -> str:
    return BANNER + "\n" + "".join(kind.format(10 * n) for n in range(reports) for kind in kinds)


def vmstat(reports: int = 4) -> str:
    rows = (
        f" 1  0      0   9999     1   999    0    0    {n}     0   1  1  5  5 90  0  0\n"
        for n in range(reports)
    )
    return VMSTAT + "".join(rows)


@pytest.mark.parametrize("kinds", [(CPU, DISKS), (DISKS,), (DISKS, CPU)])
def test_iostat_without_times_begins_at_the_start_that_is_given(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text(iostat(*kinds))
    with pytest.raises(
        UsageError, match="record them with iostat -t, or import with --start TIME and --interval"
    ):
        imported(tmp_path, path)
    _, run = imported(tmp_path, path, untimed=parse_untimed("2026-11-20T09:00:00+01:00", "10"))
    summary = plain(StoredView(run).summary)
    assert summary["started_at"] == "2026-11-20T08:00:00.000000Z"
    assert summary["time"]["elapsed_seconds"] == 30.0
    # The first report is of the time since the machine started.
    assert summary["io"]["device"]["read_bytes"] == pytest.approx((10 + 20 + 30) * 10 * 1024)


def test_vmstat_without_times_begins_at_the_start_that_is_given(tmp_path: Path) -> None:
    path = tmp_path / "vmstat.txt"
    path.write_text(vmstat())
    _, run = imported(tmp_path, path, untimed=parse_untimed("2026-11-20 08:00:00", "5"))
    assert plain(StoredView(run).summary)["time"]["elapsed_seconds"] == 15.0


def test_json_of_iostat_without_times_begins_at_the_start_that_is_given(tmp_path: Path) -> None:
    rows = ",".join(
        f'{{"disk": [{{"disk_device": "sda", "kB_read/s": {10 * n}, "kB_wrtn/s": 0}}]}}' for n in range(4)
    )
    path = tmp_path / "iostat.json"
    path.write_text(
        '{"sysstat": {"hosts": [{"nodename": "bench1", "sysname": "Linux", "release": "6.1", '
        f'"machine": "x86_64", "number-of-cpus": 2, "date": "2026-11-20", "statistics": [{rows}]}}]}}}}'
    )
    _, run = imported(tmp_path, path, untimed=parse_untimed("2026-11-20T08:00:00Z", "10"))
    assert plain(StoredView(run).summary)["io"]["device"]["read_bytes"] == pytest.approx(
        (10 + 20 + 30) * 10 * 1024
    )


def test_a_heading_that_was_lost_costs_its_report_and_moves_no_other() -> None:
    text = iostat(CPU, DISKS, reports=6)
    places = [place for place in range(len(text)) if text.startswith("avg-cpu", place)]
    lost = text[: places[3]] + text[text.index("Device", places[3]) :]
    untimed = parse_untimed("2026-11-20T08:00:00Z", "10")
    read = Read("iostat", lost, untimed=untimed)
    assert [at - START for at, _ in read.points("host.cpu_user_seconds")] == [0, 10, 20, 40, 50]
    assert read.gain("device.sda.read_bytes") == pytest.approx((10 + 20 + 50) * 10 * 1024)


def test_a_line_that_is_no_report_of_vmstat_ends_what_is_known() -> None:
    lines = vmstat(6).splitlines(keepends=True)
    lines.insert(5, "the terminal says hello\n")
    read = Read("vmstat", "".join(lines), untimed=parse_untimed("2026-11-20T08:00:00Z", "10"))
    assert read.points("host.runnable")[-1][0] == START + 20
    assert "no line of vmstat" in read.reasons()


def test_another_recording_in_the_same_file_has_no_start() -> None:
    read = Read("iostat", 2 * iostat(DISKS), untimed=parse_untimed("2026-11-20T08:00:00Z", "10"))
    assert read.points("device.sda.read_bytes")[-1][0] == START + 30
    assert "have no times" in read.reasons()[0]


def test_times_of_the_recording_count_more_than_a_start() -> None:
    text = BANNER + "".join(f"\n2026-11-20T10:00:{n}0Z\n{DISKS.format(7)}" for n in range(3))
    read = Read("iostat", text, untimed=parse_untimed("2026-11-20T08:00:00Z", "1"))
    assert read.points("device.sda.read_bytes")[0][0] == START + 7200
    assert read.gain("device.sda.read_bytes") == pytest.approx(7 * 20 * 1024)


def test_the_banners_date_goes_with_a_time_of_day_over_midnight() -> None:
    banner = "Linux 2.6.18-194.el5 (old1) \t11/20/2009\n\n"
    text = banner + "".join(
        f"Time: {time}\n{CPU.format(50)}{DISKS.format(7)}" for time in ("23:59:50", "00:00:00", "00:00:10")
    )
    read = Read("iostat", text)
    points = read.points("device.sda.read_bytes")
    assert points[-1][0] - points[0][0] == 20
    assert points[-1][1] == pytest.approx(7 * 20 * 1024)
    assert not any("no times" in reason or "heading" in reason for reason in read.reasons())


@pytest.mark.parametrize(
    ("start", "interval", "why"),
    [
        ("2026-11-20T08:00:00", None, "go together"),
        ("eight", "10", "--start eight: expected a time"),
        ("2026-11-20T08:00:00", "0", "--interval 0: expected the seconds"),
        ("2026-11-20T08:00:00", "ten", "--interval ten"),
    ],
)
def test_a_start_that_cannot_be_is_refused(start: str | None, interval: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_untimed(start, interval)


def test_a_file_that_is_there_and_holds_nothing_is_not_called_missing(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text(BANNER)
    with pytest.raises(UsageError) as refused:
        imported(tmp_path, path, kind="iostat")
    assert "there is no file" not in str(refused.value)
    assert "iostat.txt" in str(refused.value)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="the directories hold no file"):
        imported(tmp_path, empty)


def test_a_reason_that_says_what_to_do_has_no_second_advice(tmp_path: Path) -> None:
    """The kinds to name are for a file whose reason has no way out of its own."""
    once, other = tmp_path / "vmstat.txt", tmp_path / "other.txt"
    once.write_text(
        f"{VMSTAT} 1  0      0 100000   1000  50000    0    0    10    20  100  200  5  1 93  1  0\n"
    )
    other.write_text("nothing that any recorder writes\n")
    with pytest.raises(UsageError, match=r"--start TIME and --interval SECONDS$"):
        imported(tmp_path, once)
    with pytest.raises(UsageError, match=r"no kind of file that mawl reads .*; name logs or recordings"):
        imported(tmp_path, other)
