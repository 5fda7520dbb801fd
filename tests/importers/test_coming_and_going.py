"""Devices that come and go, recordings of devices alone, and processors that only rows count."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.figures.view import StoredView
from tests.fakes.views import plain
from tests.importers.recordings import Read
from tests.importers.test_import import imported

MIB = 2**20
HEAD = "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"


def row(name: str, read: int = 1024, written: int = 2048) -> str:
    rates = f"{10:>5.2f}{read:>12.2f}{written:>12.2f}        0.00"
    return f"{name:<18}{rates}      {read * 10}     {written * 10}     0\n"


def iostat(*intervals: tuple[str, ...]) -> str:
    """``iostat -d -t 10``: no banner and no processors; rows of each report."""
    return "".join(
        f"11/21/26 10:{10 * at // 60:02d}:{10 * at % 60:02d}\n{HEAD}{''.join(rows)}\n\n"
        for at, rows in enumerate(intervals)
    )


def throughput(tmp_path: Path, text: str) -> tuple[float | None, float | None]:
    path = tmp_path / "node1.iostat"
    path.write_text(text)
    _, run = imported(tmp_path, path)
    summary = plain(StoredView(run).summary)
    assert summary["host"]["device"]["sda"]["known_seconds"] > 0
    device = summary["io"]["device"]
    return device["run_mean"]["read_bytes_per_second"], device["active_mean"]["read_bytes_per_second"]


def test_a_device_that_comes_and_goes_moved_nothing_while_it_was_not_there(tmp_path: Path) -> None:
    both, one = (row("sda"), row("sdb")), (row("sda"),)
    text = iostat(one, one, one, both, both, one, one)
    assert throughput(tmp_path, text) == pytest.approx((4 / 3 * MIB, 4 / 3 * MIB))


def test_a_damaged_line_is_of_no_device_that_went(tmp_path: Path) -> None:
    both = (row("sda"), row("sdb"))
    text = iostat(both, both, (row("sda"), row("sdb").replace("1024.00", "10x4.00")), both, both)
    mean, active = throughput(tmp_path, text)
    assert mean is None or mean == pytest.approx(2 * MIB)
    assert active is None or active == pytest.approx(2 * MIB)


BANNER = "Linux 5.14.0 (node1) \t11/21/26 \t_x86_64_\n\n"
SAR = f"{BANNER}10:00:00        CPU      %usr     %nice      %sys   %iowait    %steal     %idle\n"


def sar_row(at: int, cpu: str, user: float) -> str:
    return f"10:00:{at:02d} {cpu:>10} {user:>9.2f} 0.00 0.00 0.00 0.00 {100 - user:>9.2f}\n"


def test_processors_are_counted_by_their_rows_where_no_banner_counts_them() -> None:
    rows = "".join(
        sar_row(at, "all", 25.0) + "".join(sar_row(at, str(cpu), 25.0) for cpu in range(4)) for at in (10, 20)
    )
    read = Read("sar", SAR + rows)
    assert read.gain("host.cpu_user_seconds") == pytest.approx(0.25 * 4 * 20)
    assert read.nodes["node1"].logical_cpus == 4
    assert read.reasons() == []


def test_processors_of_which_a_row_lacks_are_not_counted() -> None:
    rows = sar_row(10, "all", 25.0) + sar_row(10, "0", 25.0) + sar_row(10, "2", 25.0)
    read = Read("sar", SAR + rows)
    assert "host.cpu_user_seconds" not in read.series
    assert (
        "the recording does not give the number of processors of node1: their time is left out"
        in read.reasons()
    )


def test_all_processors_are_minus_one_in_json_of_sysstat_12_0() -> None:
    load = (
        '"cpu-load": [{"cpu": "-1", "user": 25.0, "nice": 0.0, "system": 5.0, "iowait": 0.0, "idle": 70.0}]'
    )
    statistics = ", ".join(
        f'{{"timestamp": {{"date": "2026-11-21", "time": "10:00:{at}", "utc": 1, "interval": 10}}, {load}}}'
        for at in (10, 20)
    )
    text = (
        '{"sysstat": {"hosts": [{"nodename": "node1", "sysname": "Linux", "release": "5.0", '
        f'"number-of-cpus": 8, "file-date": "2026-11-21", "statistics": [{statistics}]}}]}}}}'
    )
    assert Read("sadf", text).gain("host.cpu_user_seconds") == pytest.approx(0.25 * 8 * 20)
