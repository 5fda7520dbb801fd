"""Recordings as runs: the report of hosts alone, roles by pattern, several files of one node, other forms.

Devices that come and go, recordings of devices alone, and processors that only rows count.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from mawl.base.errors import UsageError
from mawl.commands.reporting import render_html
from mawl.figures.view import StoredView
from mawl.importers.items import volumes_by_pattern
from tests.fakes.recorded_host import BEGAN, aix_recording
from tests.fakes.views import judged, plain, typed
from tests.importers.recordings import Read, recorded
from tests.importers.test_import import imported

SECONDS = 600.0


def aix(folder: Path, name: str = "aix1.nmon", **options: object) -> Path:
    path = folder / name
    path.write_text("".join(aix_recording(12, 11, **options)))  # type: ignore[arg-type]
    return path


def roles(**patterns: str) -> dict[str, list[re.Pattern[str]]]:
    return {role: [re.compile(pattern)] for role, pattern in patterns.items()}


def test_a_recording_alone_has_its_time_and_the_throughput_of_all_its_devices(tmp_path: Path) -> None:
    made, run = imported(tmp_path, aix(tmp_path))
    assert (made.jobs, made.steps, made.blocks) == (0, 0, 0)
    summary = plain(StoredView(run).summary)
    assert summary["time"]["elapsed_seconds"] == SECONDS
    device = summary["io"]["device"]
    kilobytes = sum(range(12))
    for figure in ("peak", "sustained", "active_mean"):
        assert device[figure]["read_bytes_per_second"] == pytest.approx(kilobytes * 1024), figure
        assert device[figure]["total_bytes_per_second"] == pytest.approx(3 * kilobytes * 1024), figure
    assert device["window_seconds"] == 60.0  # samples lie a minute apart: no window is shorter
    assert device["sustained_bytes_per_second_per_core"] == pytest.approx(3 * kilobytes * 1024 / 8)
    host = summary["host"]
    assert host["cpu_busy_ratio"] == pytest.approx(5 / 8)
    assert host["cpu_interrupt_ratio"] is None
    assert host["physical_cpu_seconds"] == pytest.approx(6 * SECONDS)
    eleven = host["device"]["hdisk11"]
    assert eleven["requests"] == pytest.approx(33 * SECONDS)
    assert eleven["await_seconds"]["mean"] == pytest.approx(0.0033)
    assert eleven["read_await_seconds"] == pytest.approx({"mean": 0.002, "peak": 0.002})
    assert eleven["utilisation_ratio"] == pytest.approx(0.011)


def test_whether_a_recording_alone_carried_its_load_is_not_known(tmp_path: Path) -> None:
    _, run = imported(tmp_path, aix(tmp_path))
    summary = judged(StoredView(run))
    assert summary["answer"]["carried"] is None
    assert "no job was imported" in summary["answer"]["reasons"][0]
    assert "hdisk11" in render_html(StoredView(run), typed(summary))


def test_devices_of_roles_by_pattern(tmp_path: Path) -> None:
    patterns = roles(data="hdisk[0-5]", work="hdisk1[0-9]", util="hdisk[6-9]")
    _, run = imported(tmp_path, aix(tmp_path), roles=patterns)
    summary = plain(StoredView(run).summary)
    assert summary["host"]["device"]["hdisk10"]["roles"] == ["work"]
    by_role = summary["io"]["devices_by_role"]
    assert by_role["work"]["read_bytes"] == pytest.approx((10 + 11) * 1024 * SECONDS)
    assert by_role["util"]["written_bytes"] == pytest.approx(2 * (6 + 7 + 8 + 9) * 1024 * SECONDS)
    assert summary["io"]["device"]["windows_source"].startswith("block devices hdisk0, hdisk1, hdisk10")


def test_a_pattern_of_no_device_is_refused_with_their_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--role work=sd.*: names no device .* devices are hdisk0, hdisk1"):
        imported(tmp_path, aix(tmp_path), roles=roles(work="sd."))
    assert not (tmp_path / "run").exists()


def test_partitions_are_their_disks_and_shared_devices_are_marked() -> None:
    places = [("n", name) for name in ("sda", "sda1", "sdb1", "nvme0n1", "nvme0n1p2", "hdisk1", "hdisk10")]
    found = volumes_by_pattern(roles(data="sd.*|nvme.*", work="sda|hdisk.*"), places)  # type: ignore[arg-type]
    assert [(volume.role, volume.devices) for volume in found] == [
        ("data", ["nvme0n1"]),
        ("data", ["sda"]),
        ("data", ["sdb1"]),
        ("work", ["hdisk1"]),
        ("work", ["hdisk10"]),
        ("work", ["sda"]),
    ]
    assert [volume.shared_with for volume in found if volume.devices == ["sda"]] == [["work"], ["data"]]


def test_two_days_of_one_node_are_one_course_with_a_gap(tmp_path: Path) -> None:
    first, second = aix(tmp_path), aix(tmp_path, "next.nmon", began=BEGAN + 1200)
    for paths in ((first, second), (second, first)):
        folder = tmp_path / paths[0].stem
        folder.mkdir()
        _, run = imported(folder, *paths)
        device = plain(StoredView(run).summary)["io"]["device"]
        for figure in ("peak", "sustained", "active_mean"):
            rate = device[figure]["read_bytes_per_second"]
            assert rate == pytest.approx(sum(range(12)) * 1024, rel=1e-6), (paths, figure)
        assert any(
            window["device_read_bytes_per_second"] is None
            for window in plain(StoredView(run).summary)["windows"]
        )


def test_what_two_files_tell_of_the_same_time_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "sar.txt"
    path.write_bytes(recorded("sar.txt"))
    other = tmp_path / "iostat.txt"
    other.write_bytes(recorded("iostat.txt"))
    made, run = imported(tmp_path, path, other)
    device = plain(StoredView(run).summary)["host"]["device"]["vda"]
    assert device["written_bytes"] == pytest.approx(306184 * 1024)
    assert any("another file has for the same time" in skipped.reason for skipped in made.skipped)


def test_nodes_of_several_files_stand_side_by_side(tmp_path: Path) -> None:
    _, run = imported(tmp_path, aix(tmp_path), aix(tmp_path, "two.nmon", host="aix2", began=BEGAN + 60))
    summary = plain(StoredView(run).summary)
    assert [node["name"] for node in summary["nodes"]] == ["aix1", "aix2"]
    assert summary["host"]["device"].keys() >= {"aix1:hdisk3", "aix2:hdisk3"}
    assert summary["time"]["elapsed_seconds"] == SECONDS + 60
    assert summary["host"]["cores"] == 16


def test_compressed_recordings_are_read(tmp_path: Path) -> None:
    path = tmp_path / "aix1.nmon.gz"
    path.write_bytes(gzip.compress("".join(aix_recording(2, 3)).encode()))
    made, _ = imported(tmp_path, path)
    assert made.samples > 0


def test_names_that_mean_harm_are_names(tmp_path: Path) -> None:
    attack = "<script>alert(1)</script>"
    path = tmp_path / "bad.nmon"
    path.write_text(
        "".join(aix_recording(3, 4)).replace("hdisk2", attack).replace("host,aix1", f"host,{attack}")
    )
    _, run = imported(tmp_path, path)
    summary = judged(StoredView(run))
    assert attack in summary["host"]["device"]
    assert attack not in render_html(StoredView(run), typed(summary))


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


def test_processors_of_which_a_row_lacks_are_not_counted_and_have_shares() -> None:
    rows = sar_row(10, "all", 25.0) + sar_row(10, "0", 25.0) + sar_row(10, "2", 25.0)
    read = Read("sar", SAR + rows)
    assert read.gain("host.cpu_user_seconds") == pytest.approx(0.25 * 10)
    assert read.context.cores.unknown == {"node1"}
    assert read.nodes["node1"].logical_cpus is None


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
