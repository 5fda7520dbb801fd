"""sar, sadf, iostat, mpstat and vmstat: recorded by the tools, and by hand where that is hard to get.

Reports of iostat: a clock that does not go on costs a report, and says so.
"""

from __future__ import annotations

import itertools
import math

import pytest

from mawl.importers.formats.sysstat_reports import Report, SysstatDoubt
from mawl.importers.formats.sysstat_text import read_tables
from mawl.importers.import_files import IMPORTERS
from mawl.records.model.series_metrics import registry_name
from tests.importers.recordings import RECORDED, Read, recorded

KIND_OF = {path.name: "nmon" if path.suffix == ".nmon" else path.stem for path in RECORDED.iterdir()}
WRITTEN = 306184 * 1024  # KB/s of the second in which 300 MiB were written, as sadf has it


@pytest.mark.parametrize("name", sorted(KIND_OF))
def test_each_recorded_file_is_taken_for_what_it_is(name: str) -> None:
    first = recorded(name)[:65536]
    sure = {kind: importer.recognises(first, "unnamed") for kind, importer in IMPORTERS.items()}
    best = max(sure, key=lambda kind: sure[kind])
    assert (best, sure[best] >= 0.8) == (KIND_OF[name], True)


@pytest.mark.parametrize("name", sorted(KIND_OF))
def test_each_recorded_file_has_only_series_of_the_registry(name: str) -> None:
    read = Read(KIND_OF[name], recorded(name))
    assert read.series
    assert [series for series in read.series if registry_name(series) is None] == []


def test_one_recording_in_three_forms_is_the_same() -> None:
    text, semicolons, json = (
        Read(k, recorded(n)) for k, n in (("sar", "sar.txt"), ("sadf", "sadf.txt"), ("sadf", "sadf.json"))
    )
    assert text.series == json.series
    processors = {name for name in json.series if name.startswith("host.cpu_")}
    # sadf -d does not count the processors: their shares are those of one
    for name in processors:
        assert 2 * semicolons.gain(name) == pytest.approx(json.gain(name)), name
        del semicolons.series[name]
    pages = {"host.swap_read_bytes", "host.swap_written_bytes"}
    assert {name: p for name, p in json.series.items() if name not in processors | pages} == semicolons.series
    assert semicolons.context.cores.unknown == {"vm"}
    assert (json.context.zone_known, text.context.zone_known) == (True, False)


def test_what_was_written_is_in_every_tools_recording() -> None:
    for name in ("sar.txt", "sadf.txt", "sadf.json"):
        assert Read(KIND_OF[name], recorded(name)).gain("device.vda.written_bytes") == WRITTEN, name
    for name in ("iostat.txt", "iostat.json"):
        read = Read("iostat", recorded(name))
        assert read.gain("device.vda.written_bytes") == 300 * 2**20, name
        assert read.gain("device.vda.writes") == 600.0, name
        assert read.gain("device.vda.write_seconds") == pytest.approx(600 * 0.72e-3), name
    assert Read("vmstat", recorded("vmstat.txt")).gain("host.page_outs_bytes") == 297984 * 1024


def test_processors_are_seconds_of_all_of_them() -> None:
    for kind, name in (("sar", "sar.txt"), ("mpstat", "mpstat.txt"), ("iostat", "iostat.txt")):
        read = Read(kind, recorded(name))
        at = [point[0] for point in read.points("host.cpu_idle_seconds")]
        names = [series for series in read.series if series.startswith("host.cpu_")]
        whole = sum(read.gain(series) for series in names)
        assert whole == pytest.approx(2 * (at[-1] - at[0]), rel=0.001), name
        assert read.nodes["vm"].logical_cpus == 2


def test_pressure_memory_and_networks_of_sar() -> None:
    read = Read("sar", recorded("sar.txt"))
    assert read.gain("host.pressure_io_some_seconds") == pytest.approx(0.1852)
    assert read.points("host.memory_available_bytes")[0][1] == 24260460 * 1024
    assert read.gain("network.eth0.received_bytes") >= 0


SAR = """Linux 5.14.0 (db1.example) \t20/11/2026 \t_ppc64le_\t(64 CPU)

11:50:00 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle
11:55:00 PM     all     25,00      0,00     10,00      5,00      0,00     60,00
12:00:00 AM     all     50,00      0,00     10,00      5,00      0,00     35,00
Moyenne :       all     37,50      0,00     10,00      5,00      0,00     47,50

12:02:00 AM  LINUX RESTART\t(32 CPU)

12:04:00 AM     CPU     %user     %nice   %system   %iowait    %steal     %idle
12:09:00 AM     all     10,00      0,00     10,00      5,00      0,00     75,00
"""


def test_sar_on_a_clock_of_twelve_hours_with_commas_over_midnight_and_a_restart() -> None:
    read = Read("sar", SAR)
    points = read.series["host.cpu_user_seconds"]
    known = read.points("host.cpu_user_seconds")
    gains = [after[1] - before[1] for before, after in itertools.pairwise(known)]
    assert gains == pytest.approx([0.25 * 64 * 300, 0.5 * 64 * 300, 0.0, 0.1 * 32 * 300])
    steps = [after[0] - before[0] for before, after in itertools.pairwise(known)]
    assert steps == [300, 300, 240, 300]
    assert [at for at, value in points if math.isnan(value)][1:] == [known[2][0] + 120]


OLD_IOSTAT = """Linux 2.6.32 (old) \t11/20/2026 \t_x86_64_\t(8 CPU)

11/20/2026 10:00:00 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          10.00    0.00    5.00   10.00    0.00   75.00

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00  999.00  999.00  9999.00  9999.00    10.00     9.00    9.00   9.00  99.00

11/20/2026 10:00:10 AM
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          20.00    0.00    5.00   10.00    0.00   65.00

Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00  100.00   50.00  2000.00  1000.00    20.00     3.00   20.00   5.00  75.00
"""


def test_iostat_of_old_versions_has_the_same_figures_under_other_names() -> None:
    read = Read("iostat", OLD_IOSTAT)
    truth = {
        "reads": 1000.0,
        "writes": 500.0,
        "requests": 1500.0,
        "read_bytes": 2000 * 512 * 10,
        "written_bytes": 1000 * 512 * 10,
        "request_seconds": 150 * 0.020 * 10,
        "queue_seconds": 30.0,
        "busy_seconds": 7.5,
    }
    assert {figure: read.gain(f"device.sda.{figure}") for figure in truth} == pytest.approx(truth)
    assert "device.sda.read_seconds" not in read.series  # one await for both directions
    assert read.gain("host.cpu_user_seconds") == pytest.approx(0.2 * 8 * 10)


def test_iostat_in_megabytes_and_without_details() -> None:
    text = OLD_IOSTAT.replace("rsec/s   wsec/s", "rMB/s   wMB/s")
    assert Read("iostat", text).gain("device.sda.read_bytes") == 2000 * 2**20 * 10
    plain = (
        "Linux 6.1 (n) \t2026-11-20 \t_x86_64_\t(8 CPU)\n\n2026-11-20T10:00:00+0100\n"
        "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
        "sda               9.00        90.00        90.00         0.00        900        900          0\n\n"
        "2026-11-20T10:00:10+0100\n"
        "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
        "sda              10.00       100.00       200.00         0.00       1000       2000          0\n\n"
    )
    read = Read("iostat", plain)
    assert read.gain("device.sda.read_bytes") == 100 * 1024 * 10
    assert read.gain("device.sda.requests") == 100.0
    assert read.context.zone_known is True


def test_reports_without_times_are_refused_with_the_cure() -> None:
    untimed = "\n".join(line for line in OLD_IOSTAT.splitlines() if "AM" not in line) + "\n"
    read = Read("iostat", untimed)
    assert read.series == {}
    assert any("iostat -t" in reason for reason in read.reasons())
    lines = recorded("vmstat.txt").decode().splitlines()
    bare = "\n".join(line[:82] for line in lines) + "\n"
    assert any("vmstat -t" in reason for reason in Read("vmstat", bare).reasons())
    timeless = recorded("iostat.json").decode().replace('"timestamp"', '"time"')
    assert any("iostat -t" in reason for reason in Read("iostat", timeless).reasons())


def test_a_date_that_only_the_locale_tells_is_said() -> None:
    read = Read("iostat", OLD_IOSTAT.replace("11/20/2026", "11/12/2026"))
    assert sum("month/day/year" in reason for reason in read.reasons()) == 1


def test_figures_in_front_of_their_headings_and_short_lines_are_told() -> None:
    text = SAR.replace("25,00      0,00", "25,00")
    read = Read("sar", text)
    assert any("figures, where the heading has" in reason for reason in read.reasons())
    assert read.gain("host.cpu_user_seconds") == pytest.approx((0.5 * 64 + 0.1 * 32) * 300)
    assert "figures before the heading of their table" in Read("sar", "12:00:00 all 1.0\n").reasons()


def test_a_report_whose_time_was_lost_costs_its_own_interval_and_the_next() -> None:
    """Where an interval begins is lost with the line that ends the one before."""
    lines = recorded("sar.txt").decode().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if line.startswith("23:14:18") and "vda" in line)
    damaged = Read("sar", "".join([*lines[:place], "2x:14:18" + lines[place][8:], *lines[place + 1 :]]))
    whole = Read("sar", "".join(lines))
    name = "device.vda.requests"
    gains = dict(whole.points(name))
    assert [at for at, _ in damaged.points(name)] == [at for at in gains if at != min(gains) + 2]
    assert any(math.isnan(value) for _, value in damaged.series[name][1:])

    text = OLD_IOSTAT + OLD_IOSTAT[OLD_IOSTAT.index("11/20/2026 10:00:10") :].replace(
        "10:00:10 AM", "garbled"
    )
    read = Read("iostat", text)
    assert read.gain("device.sda.reads") == 1000.0
    assert "a report without a time is left out" in read.reasons()
    again = text + OLD_IOSTAT[OLD_IOSTAT.index("11/20/2026 10:00:10") :].replace("10:00:10", "10:00:30")
    assert Read("iostat", again).gain("device.sda.reads") == 1000.0

    body = recorded("vmstat.txt").decode().splitlines(keepends=True)
    read = Read("vmstat", "".join([*body[:3], "garbage\n", *body[4:]]))
    assert read.gain("host.page_outs_bytes") == 0.0


def test_a_json_document_that_is_cut_has_the_statistics_that_are_whole() -> None:
    whole = Read("sadf", recorded("sadf.json"))
    data = recorded("sadf.json")
    cut = Read("sadf", data[: data.rindex(b'"timestamp"') + 40])
    assert cut.points("host.context_switches") == whole.points("host.context_switches")[:-1]
    assert any("ends within a statistic" in reason for reason in cut.reasons())


def test_text_around_json_and_several_documents_are_read() -> None:
    data = recorded("iostat.json").decode()
    later = data.replace("23:14:", "23:15:")
    read = Read("iostat", f"$ iostat -o JSON\n{data}\nagain:\n{later}")
    assert len(read.points("device.vda.reads")) == 6
    assert read.gain("device.vda.writes") == pytest.approx(2 * 600.0)


BANNER = "Linux 6.1.0 (bench1) \t03/02/2026 \t_x86_64_\t(2 CPU)"
REPORT = """
{at}
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
          {user}    0.00    1.00    0.00    0.00   89.00
"""


def read(*reports: tuple[str, float]) -> tuple[list[float], list[str]]:
    """Times of the reports that are kept, and the reasons of those that are not."""
    text = BANNER + "\n" + "".join(REPORT.format(at=at, user=user) for at, user in reports)
    found = list(read_tables(enumerate(text.splitlines(), start=1)))
    times = [one.at for one in found if isinstance(one, Report)]
    return times, [one.reason for one in found if isinstance(one, SysstatDoubt)]


def test_a_report_with_the_time_of_the_one_before_is_left_out() -> None:
    at = ("2026-03-02T10:00:00+0000", "2026-03-02T10:00:05+0000", "2026-03-02T10:00:10+0000")
    times, reasons = read((at[0], 10.0), (at[1], 10.0), (at[1], 20.0), (at[2], 10.0))
    assert len(times) == len(set(times)) == 3
    assert reasons[0] == "the clock did not go on: the report is left out"
