"""Everyday variants of recordings: items in the last column, units, other clocks and languages, dated blocks.

Files are in ``variants``: made by hand, but for ``iostat_pretty.txt``, a machine of two processors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mawl.base.errors import UsageError
from mawl.figures.view import StoredView
from mawl.importers.clock import parse_untimed
from mawl.importers.hosts import parse_cores, parse_hosts
from mawl.importers.import_files import detected
from tests.fakes.views import plain
from tests.importers.recordings import Read
from tests.importers.test_import import imported

VARIANTS = Path(__file__).parent / "variants"
DISK = {"device.sda.read_bytes": 10240 * 1024 * 20, "device.sda.written_bytes": 20480 * 1024 * 20}
"""What 20 s at 10.5 and 21.0 MB/s moved."""
BUSY = {"host.cpu_user_seconds": 0.20 * 4 * 20, "host.cpu_system_seconds": 0.05 * 4 * 20}
"""Seconds of four processors, 25 % busy for 20 s."""
PRETTY = {
    "device.vda.read_bytes": (2334404 + 1699856) * 1024,
    "device.vda.written_bytes": (123500 + 21248 + 980484 + 924160) * 1024,
    "device.vda.busy_seconds": 0.96 + 0.588 + 0.272 + 0.308,
    "host.cpu_user_seconds": 2 * (66.83 + 79.80 + 84.16 + 79.50) / 100,
    "host.cpu_system_seconds": 2 * (31.68 + 20.20 + 15.84 + 20.00) / 100,
}
VMSTAT = {"host.page_outs_bytes": 2 * 10000 * 1024 * 10, "host.cpu_user_seconds": 0.64 * 20}
DATED = {"host.page_outs_bytes": 104 * 1024, "host.cpu_user_seconds": 0.70 + 0.67}
FILES: dict[str, tuple[str, Mapping[str, float]]] = {
    "sar_d_old.txt": ("sar", BUSY | DISK),
    "sar_dp.txt": ("sar", BUSY | DISK),
    "sar_dp_only.txt": ("sar", DISK),
    "sar_human.txt": ("sar", BUSY | {"host.context_switches": 2000.0}),
    "sar_zh.txt": ("sar", BUSY),
    "iostat_zh.txt": ("iostat", {name: value / 2 for name, value in (BUSY | DISK).items()}),
    "iostat_pretty.txt": ("iostat", PRETTY),
    "vmstat_de.txt": ("vmstat", VMSTAT),
    "vmstat_dated.txt": ("vmstat", DATED),
}


def summary_of(folder: Path, *paths: Path, **options: Any) -> dict[str, Any]:
    own = folder / f"run{len(list(folder.iterdir()))}"
    own.mkdir()
    _, run = imported(own, *paths, **options)
    return plain(StoredView(run).summary)


@pytest.mark.parametrize("name", FILES)
def test_a_variant_has_the_figures_of_its_columns(name: str) -> None:
    kind, truth = FILES[name]
    data = (VARIANTS / name).read_bytes()
    found = detected(data, name)
    assert found is not None
    assert found.kind == kind
    read = Read(kind, data, name, parse_untimed(None, "1") if name == "vmstat_dated.txt" else None)
    assert {figure: read.gain(figure) for figure in truth} == pytest.approx(truth)


def test_a_zone_in_a_heading_or_above_a_block_is_the_clocks() -> None:
    german = Read("vmstat", (VARIANTS / "vmstat_de.txt").read_bytes())
    assert german.points("host.runnable")[0][0] == 1772442000.0  # 2026-03-02T10:00:00+01:00
    dated = Read("vmstat", (VARIANTS / "vmstat_dated.txt").read_bytes(), "x", parse_untimed(None, "1"))
    assert [at for at, _ in dated.points("host.runnable")] == [1772614801.0 + second for second in range(3)]
    assert german.context.zone_known is dated.context.zone_known is True


def test_reports_below_one_time_need_their_interval() -> None:
    read = Read("vmstat", (VARIANTS / "vmstat_dated.txt").read_bytes())
    assert len(read.points("host.runnable")) == 1
    assert "--interval SECONDS" in read.reasons()[0]


def test_a_single_report_since_the_start_is_said(tmp_path: Path) -> None:
    path = VARIANTS / "iostat_once.txt"
    with pytest.raises(UsageError, match="all reports of host1 are of the time since it started"):
        imported(tmp_path, path)


@pytest.mark.parametrize("name", ["aix_iostat.txt", "aix_vmstat_nohead.txt", "vmstat_plain.txt"])
def test_what_is_not_read_is_refused_with_the_reason_that_decided(tmp_path: Path, name: str) -> None:
    why = "AIX's (?:io|vm)stat, which mawl does not read" if name.startswith("aix") else "have no times"
    with pytest.raises(UsageError, match=why):
        imported(tmp_path, VARIANTS / name)


SAR_B = """Linux 5.14.0 (host1) \t03/02/26 \t_x86_64_\t(4 CPU)

10:00:00          tps      rtps      wtps   bread/s   bwrtn/s
10:00:10       100.00     50.00     50.00   1000.00   2000.00
"""


def test_a_table_that_is_passed_over_is_named(tmp_path: Path) -> None:
    path = tmp_path / "b.txt"
    path.write_text(SAR_B)
    with pytest.raises(UsageError, match=r"tables that mawl does not take over.*tps rtps wtps \(1\)"):
        imported(tmp_path, path)  # the doubtful date did not decide it
    path.write_text(SAR_B + "\n10:00:00  CPU %user %system %idle\n10:00:10  all 20.00 5.00 75.00\n")
    result, run = imported(tmp_path, path)
    assert any("tps rtps wtps (1)" in skipped.reason for skipped in result.skipped)
    summary = plain(StoredView(run).summary)
    assert "tps rtps wtps (1)" in summary["missing"]["io.device.read_bytes"]
    assert summary["host"]["cpu_busy_ratio"] == pytest.approx(0.25)


def test_devices_whose_directions_are_not_told_apart_are_said(tmp_path: Path) -> None:
    path = tmp_path / "iostat.txt"
    path.write_text(
        "".join(
            f"2026-03-02T10:00:{at}Z\nDevice tps kB/s rqm/s await areq-sz aqu-sz %util\n"
            "sda 100.00 10240.00 0.00 1.00 102.40 0.10 50.00\n\n"
            for at in (10, 20)
        )
    )
    _, run = imported(tmp_path, path)
    summary = plain(StoredView(run).summary)
    assert "bytes read from bytes written of sda" in summary["missing"]["io.device.read_bytes"]
    assert summary["host"]["device"]["sda"]["utilisation_ratio"] == pytest.approx(0.5)


def test_empty_cells_and_sums_of_groups_are_not_taken_for_figures() -> None:
    topology = (
        "Linux 6.1.0 (n1) \t2026-03-02 \t_x86_64_\t(2 CPU)\n\n"
        "10:00:00     CPU CORE SOCK NODE    %usr   %nice    %sys   %idle\n"
        "10:00:10     all                  20.00    0.00    5.00   75.00\n"
        "10:00:10       0    0    0    0   20.00    0.00    5.00   75.00\n"
    )
    assert Read("mpstat", topology).gain("host.cpu_user_seconds") == pytest.approx(0.2 * 2 * 10)
    assert Read("mpstat", topology).reasons() == []
    groups = "".join(
        f"2026-03-02T10:00:{at}Z\nDevice tps kB_read/s kB_wrtn/s kB_read kB_wrtn\n"
        "sda 1.00 5.00 0.00 50 0\nsdb 1.00 5.00 0.00 50 0\n ALL 2.00 10.00 0.00 100 0\n\n"
        for at in (10, 20)
    )
    assert {name.split(".")[1] for name in Read("iostat", groups).series} == {"sda", "sdb"}


def test_a_last_line_without_an_end_counts_where_it_is_whole() -> None:
    text = (VARIANTS / "sar_zh.txt").read_text().rstrip()
    assert Read("sar", text).gain("host.cpu_user_seconds") == pytest.approx(0.2 * 4 * 20)
    for missing in (1, 2, 3):
        cut = Read("sar", text[:-missing])
        assert cut.gain("host.cpu_user_seconds") == pytest.approx(0.2 * 4 * 10)
        assert any("ends within this line" in reason for reason in cut.reasons())


def test_a_date_that_reads_both_ways_follows_the_option_and_a_decimal_comma(tmp_path: Path) -> None:
    march, february = "2026-03-02T10:00:00.000000Z", "2026-02-03T10:00:00.000000Z"
    path = VARIANTS / "sar_dp.txt"
    for dates, started in ((None, march), ("day-first", february)):
        assert summary_of(tmp_path, path, dates=dates)["started_at"] == started
    comma = tmp_path / "comma.txt"
    comma.write_text(path.read_text().replace(".00 ", ",00 "))
    assert Read("sar", comma.read_bytes()).points("device.sda.read_bytes")[0][0] == 1770112800.0


def test_shares_of_processors_need_no_count_and_seconds_do(tmp_path: Path) -> None:
    path = VARIANTS / "vmstat_de.txt"
    alone = summary_of(tmp_path, path)
    assert alone["host"]["cpu_busy_ratio"] == pytest.approx(0.84)
    assert alone["host"]["cpu_busy_seconds"] is None
    assert "number of processors" in alone["missing"]["host.cpu_busy_seconds"]
    told = summary_of(tmp_path, path, cores=parse_cores(["8"]), hosts=parse_hosts("db1", []))
    assert [node["name"] for node in told["nodes"]] == ["db1"]
    assert told["host"]["cpu_busy_ratio"] == pytest.approx(0.84)
    assert told["host"]["cpu_busy_seconds"] == pytest.approx(0.84 * 8 * 20)


def test_shares_of_several_hosts_need_the_count_of_each(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, user in zip(paths, ("64", "20"), strict=True):
        path.write_text((VARIANTS / "vmstat_de.txt").read_text().replace(" 64 20 14", f" {user} 20 14"))
    summary = summary_of(tmp_path, *paths)
    assert summary["host"]["cpu_busy_ratio"] is None
    assert "number of processors" in summary["missing"]["host.cpu_busy_ratio"]
    told = summary_of(tmp_path, *paths, cores=parse_cores(["a=3", "b=1"]))
    assert told["host"]["cpu_busy_ratio"] == pytest.approx((0.84 * 3 + 0.40) / (3 + 0.56))


def test_recordings_of_one_host_join_by_name_and_by_option(tmp_path: Path) -> None:
    bytes_alone, shares = tmp_path / "disks.txt", tmp_path / "cpu.txt"
    text = (VARIANTS / "sar_dp_only.txt").read_text()
    bytes_alone.write_text(text.replace("(host1)", "(db1.example.com)"))
    shares.write_text(
        (VARIANTS / "sar_human.txt").read_text().replace("(host1)", "(db1)").replace("/22/", "/02/")
    )
    joined = summary_of(tmp_path, bytes_alone, shares)
    assert [node["name"] for node in joined["nodes"]] == ["db1.example.com"]
    assert joined["host"]["cpu_busy_ratio"] == pytest.approx(0.25)
    shares.write_text(shares.read_text().replace("(db1)", "(other)"))
    assert len(summary_of(tmp_path, bytes_alone, shares)["nodes"]) == 2
    named = summary_of(tmp_path, bytes_alone, shares, hosts=parse_hosts(None, ["db1=other|db1[.].*"]))
    assert [node["name"] for node in named["nodes"]] == ["db1"]


@pytest.mark.parametrize("text", ["0", "x=", "many", "db1=1.5", "-3"])
def test_a_number_of_processors_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--cores"):
        parse_cores([text])


def test_a_pattern_of_hosts_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        parse_hosts(None, ["db1=("])


def test_colours_of_a_terminal_and_seconds_since_the_epoch_are_read() -> None:
    plain_text = (VARIANTS / "sar_dp.txt").read_text()
    coloured = re.sub(r"(?m)(?<=:[0-9]{2})( +)([0-9a-z.]+)", "\\1\x1b[34;1m\\2\x1b[0m", plain_text)
    assert coloured.count("\x1b") > 5
    data = coloured.encode()
    kind = detected(data, "x")
    assert kind is not None
    assert Read(kind.kind, data).series == Read("sar", plain_text).series
    at = 1772445600
    epoch = (
        plain_text.replace("10:00:00", f"{at}")
        .replace("10:00:10", f"{at + 10}")
        .replace("10:00:20", f"{at + 20}")
    )
    read = Read("sar", epoch)
    assert read.series == Read("sar", plain_text).series
    assert read.context.zone_known is True


SADF = """host1;-1;2026-07-02 10:00:00 UTC;LINUX-RESTART\t(4 CPU)
# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s
host1;10;2026-07-02 10:00:10 UTC;sda;1.00;10240.00;20480.00
host1;-1;2026-07-02 10:00:15 UTC;COM a comment
host1;10;2026-07-02 10:00:20 UTC;sda;1.00;10240.00;20480.00
"""


def test_events_of_sadf_are_no_lines_of_figures() -> None:
    read = Read("sadf", SADF)
    assert read.gain("device.sda.read_bytes") == DISK["device.sda.read_bytes"]
    assert read.reasons() == []


def test_a_zone_that_sadf_names_is_not_believed() -> None:
    """``sadf -T`` prints the name of winter's zone in summer, too."""
    summer = Read("sadf", SADF.replace(" UTC", " EST"))
    assert summer.context.zone_known is False
    assert summer.points("device.sda.read_bytes") == Read("sadf", SADF).points("device.sda.read_bytes")


def test_sadf_that_prints_all_items_in_one_line_is_refused_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(SADF.replace("wkB/s", "wkB/s[...]"))
    with pytest.raises(UsageError, match="print it without -h"):
        imported(tmp_path, path)


def test_tables_of_json_that_are_passed_over_and_figures_beyond_measure_are_named() -> None:
    statistic = (
        '{{"timestamp": {{"date": "2026-03-02", "time": "10:00:{at}", "utc": 1, "interval": 10}}, '
        '"io": {{"tps": 1.0, "bread": 5.0}}, "filesystems": [{{"filesystem": "/", "MBfsfree": 5.0}}], '
        '"disk": [{{"disk-device": "sda", "tps": 1.0, "rkB": 1e19, "wkB": 2.0}}]}}'
    )
    read = Read(
        "sadf",
        '{"sysstat": {"hosts": [{"nodename": "n1", "sysname": "Linux", "release": "5.0", '
        f'"number-of-cpus": 8, "file-date": "2026-03-02", "statistics": '
        f"[{statistic.format(at=10)}, {statistic.format(at=20)}]}}]}}}}",
    )
    assert read.gain("device.sda.written_bytes") == 2 * 1024 * 20
    reasons = " ".join(read.reasons())
    assert "io (2)" in reasons
    assert "filesystems (2)" in reasons
    assert "2 figures of n1 are beyond all measure" in reasons
