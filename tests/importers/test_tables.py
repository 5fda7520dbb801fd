"""Tables of hosts: a user's map, what presets lack, and a table that nobody knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.commands.main import main
from mawl.importers.formats.table_map import computed, parse
from mawl.importers.formats.tables import folded
from mawl.importers.import_files import IMPORTERS, detected
from mawl.importers.tables import HostTables, load_map, preset, presets, prometheus_query, table_reason
from tests.fakes.model_host import BEGAN
from tests.importers.recordings import Read

MAP = """
of = "host"
{more}
time = "when"
{zone}
[figures]
{figures}
"""


def read(tmp_path: Path, text: str, figures: str, more: str = "", zone: str = 'timezone = "UTC"') -> Read:
    """A file under a map, as the kind ``table``."""
    (tmp_path / "map.toml").write_text(MAP.format(figures=figures, more=more, zone=zone))
    held = HostTables("table", load_map(tmp_path / "map.toml"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(IMPORTERS, "table", held)
        return Read("table", text, "shop.csv")


def test_columns_by_name_and_by_expression(tmp_path: Path) -> None:
    text = "when;disk a in;disk a out;misses;blocks\n"
    text += "".join(f"2025-11-20 11:00:{second:02d};{second};1,5;7;8\n" for second in (0, 10, 20))
    figures = """
read_bytes_per_second = { columns = "disk (?P<item>.) in", unit = "MiB/s" }
written_bytes_per_second = { columns = "disk (?P<item>.) out", unit = "kB/s" }
page_ins_bytes_per_second = { expression = "(`misses` + blocks / 2 - 1) * 4", unit = "KiB/s" }
runnable = { columns = "blocks", unit = "1" }
"""
    found = read(tmp_path, text, figures, 'separator = ";"\ndecimal = ","', 'timezone = "Europe/Berlin"')
    assert found.reasons() == []
    assert found.points("device.a.read_bytes")[0] == (BEGAN, 0.0)
    assert found.gain("device.a.read_bytes") == (10 + 20) * 10 * 2**20
    assert found.gain("device.a.written_bytes") == pytest.approx(1500 * 20)
    assert found.gain("host.page_ins_bytes") == 10 * 4 * 1024 * 20
    assert found.points("host.runnable")[-1] == (BEGAN + 20, 8.0)


def test_rows_of_devices_counters_and_amounts(tmp_path: Path) -> None:
    text = "when\tdisk\tread\tdone\n"
    for number, total in enumerate((100, 160, 40, 100)):
        at = BEGAN + 10 * number
        text += f"{at:.0f}\tsda\t{total}\t5\n{at:.0f}\tsdb\t\t5\n"
    figures = """
read_bytes_per_second = { columns = "read", unit = "B", kind = "counter" }
reads_per_second = { columns = "done", unit = "1", kind = "interval" }
"""
    found = read(tmp_path, text, figures, 'separator = "tab"\ndevice = "disk"\ntime_format = "epoch"', "")
    assert found.gain("device.sda.read_bytes") == 60 + 60, "a counter that fell began again"
    assert "device.sdb.read_bytes" not in found.series, "a missing cell is no 0"
    assert found.gain("device.sdb.reads") == 15


def test_lines_of_json(tmp_path: Path) -> None:
    lines = [
        json.dumps({"when": BEGAN * 1000 + 5000 * n, "cpu": {"user": 30, "idle": 70}, "note": None})
        for n in range(3)
    ]
    figures = """
cpu_user = { columns = 'cpu\\.user', unit = "percent" }
cpu_idle = { columns = 'cpu\\.idle', unit = "percent" }
cpus = { expression = "2 * 2", unit = "1" }
"""
    more = 'rows = "json"\ntime_format = "epoch-ms"'
    found = read(tmp_path, "\n".join([*lines, "{"]) + "\n", figures, more, "")
    assert found.gain("host.cpu_user_seconds") == pytest.approx(0.3 * 4 * 10)
    assert found.nodes["shop"].logical_cpus == 4
    assert len(found.reasons()) == 1 and "no object of JSON" in found.reasons()[0]


def test_rows_that_were_lost_do_not_stretch_a_rate(tmp_path: Path) -> None:
    text = "when,x\n" + "".join(f"{BEGAN + at:.0f},7\n" for at in (0, 10, 20, 600, 610))
    found = read(
        tmp_path,
        text,
        'context_switches_per_second = { columns = "x", unit = "1/s" }',
        'time_format = "epoch"',
        "",
    )
    assert found.gain("host.context_switches") == 7 * 40


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 - 4 - 2", 2.0),
        ("`a b` / c.d", 5.0),
        ("1 / (2 - 2)", None),
    ],
)
def test_an_expression(text: str, value: float | None) -> None:
    assert computed(parse(text), {"a b": 10.0, "c.d": 2.0}.__getitem__) == value


@pytest.mark.parametrize(
    "text", ["", "1 +", "a b", "(1", "1)", "f(1)", "a ** 2", "__import__('os')", "1" * 20 + "e"]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|bracket|early"):
        parse(text)


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        ('cpu_user = { unit = "percent" }', "expected either columns or an expression"),
        ('cpu_user = { expression = "1 +", unit = "percent" }', "it ends too early"),
        ('cpu_usr = { columns = "a", unit = "percent" }', "no such figure"),
        ('cpu_user = { columns = "a", unit = "KiB" }', "KiB is not one of"),
    ],
)
def test_a_wrong_map_of_a_host(tmp_path: Path, figure: str, reason: str) -> None:
    with pytest.raises(InvalidFileError, match=reason):
        read(tmp_path, "", figure)


def test_every_preset_is_a_checked_map_and_its_words_mean_one_thing() -> None:
    from mawl.importers.formats.table_map import checked

    for name in presets():
        held = checked(preset(name), name)
        for own in held.words.values():
            said = [word for english, words in own.items() for word in {*map(folded, (english, *words))}]
            assert len(said) == len(set(said))


def test_raw_counters_of_pmrep_are_no_rates() -> None:
    text = 'Time,"disk.dev.read_bytes[sda]","mem.util.free"\n'
    text += "".join(f"2025-11-20 10:00:0{n},{2000296380 + n},5\n" for n in range(4))
    found = Read("pmrep", text)
    assert not [name for name in found.series if name.startswith("device.")]
    assert found.points("host.memory_free_bytes")
    assert found.reasons() == ["its first row has rates: these are raw counters (-r); record rates"]


def _metric_data(label: str, seconds: int = 60) -> dict[str, object]:
    times = [f"2025-11-20T10:0{n * seconds // 60}:00+00:00" for n in range(2)]
    return {"Id": "m", "Label": label, "Timestamps": times, "Values": [6000.0, 600.0]}


def test_only_sums_of_cloudwatch_are_amounts() -> None:
    document = {
        "MetricDataResults": [
            _metric_data("vol-1 VolumeReadBytes Sum"),
            _metric_data("vol-1 VolumeWriteBytes"),
        ]
    }
    found = Read("cloudwatch", json.dumps(document))
    assert found.points("device.vol-1.read_bytes") == [
        (BEGAN, 0.0),
        (BEGAN + 60, 6000.0),
        (BEGAN + 120, 6600.0),
    ]
    assert "device.vol-1.written_bytes" not in found.series
    assert any("VolumeWriteBytes" in reason and "Sum" in reason for reason in found.reasons())


def test_periods_of_two_lengths_are_not_mixed() -> None:
    document = {
        "MetricDataResults": [
            _metric_data("vol-1 VolumeReadBytes Sum"),
            _metric_data("vol-1 VolumeWriteBytes Sum", seconds=300),
        ]
    }
    found = Read("cloudwatch", json.dumps(document))
    assert found.gain("device.vol-1.read_bytes") == 6600
    assert "device.vol-1.written_bytes" not in found.series
    assert any("300 s apart, those of others 60 s" in reason for reason in found.reasons())


def test_an_answer_of_another_kind_of_query_says_so() -> None:
    found = Read(
        "prometheus", json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}})
    )
    assert "ask query_range" in found.reasons()[0]


def test_the_query_asks_for_what_the_preset_reads() -> None:
    import re

    pattern = re.search(r'=~"(.*)"', prometheus_query())
    assert pattern is not None
    for figure in preset("prometheus").figures.values():
        name = re.match(r"[a-zA-Z_]+", str(figure.columns))
        assert name is not None and re.fullmatch(pattern[1], name[0]), name


def test_a_table_that_nobody_knows_gets_the_sentence_how_to_write_a_map() -> None:
    reason = table_reason(b"Zeit;Platte;Lesen MB/s\n2025-11-20 10:00:00;sda;5\n")
    assert reason is not None and "with the columns Zeit, Platte, Lesen MB/s: write a map" in reason
    assert table_reason(b"Dear all,\nsee you at 10, or at 11.\n") is None
    assert detected(b"Zeit;Platte;Lesen MB/s\n2025-11-20 10:00:00;sda;5\n", "x.csv") is None


def test_import_of_a_table_with_a_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.csv").write_text(
        "when,sda\n" + "".join(f"2025-11-20T10:00:{n:02d}Z,3\n" for n in range(0, 60, 10))
    )
    Path("map.toml").write_text(
        'of = "host"\ntime = "when"\n[figures]\n'
        'read_bytes_per_second = { columns = "(?P<item>sda)", unit = "MB/s" }\n'
    )
    assert main(["import", "shop.csv", "--array-map", "map.toml", "--output", "run", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["files"] == 1 and summary["skipped"] == []
    with pytest.raises(UsageError):
        from mawl.importers.import_files import ImportRequest, import_files

        import_files(ImportRequest(paths=["shop.csv"], folder=tmp_path / "other", run_id="x"))


def test_import_of_an_answer_of_prometheus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["import", "--prometheus-query"]) == 0
    assert "node_disk_io_now" in capsys.readouterr().out
    metric = {"__name__": "node_disk_read_bytes_total", "device": "sda", "instance": "db1:9100"}
    points = [[BEGAN + 15 * n, str(1000 * n)] for n in range(5)]
    document = {
        "status": "success",
        "data": {"resultType": "matrix", "result": [{"metric": metric, "values": points}]},
    }
    Path("node.json").write_text(json.dumps(document))
    assert main(["import", "--prometheus", "node.json", "--output", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] >= 5
    assert main(["import"]) != 0


AZURE = """"TimeGenerated [UTC]",Resource,MetricName,Total,Average,UnitName
"{0}",VM1,Disk Read Bytes,6000,3000,Bytes
"{0}",VM1,Percentage CPU,,12.5,Percent
"{1}",VM1,Disk Read Bytes,600,300,Bytes
"{1}",VM1,Disk Read Operations/Sec,,2.5,CountPerSecond
"""


@pytest.mark.parametrize(
    "times",
    [
        ("11/20/2025, 10:00:00.000 AM", "11/20/2025, 10:01:00.000 AM"),
        ("2025-11-20T10:00:00Z", "2025-11-20T10:01:00Z"),
    ],
)
def test_the_table_of_azure_monitor(times: tuple[str, str]) -> None:
    text = AZURE.format(*times)
    assert detected(text.encode(), "x.csv") is IMPORTERS["azure-csv"]
    found = Read("azure-csv", text)
    points = [(BEGAN, 0.0), (BEGAN + 60, 6000.0), (BEGAN + 120, 6600.0)]
    assert found.points("device.all.read_bytes") == points
    assert found.gain("device.all.reads") == pytest.approx(150)
    assert found.reasons() == ["says how busy the processors were, and not their user and system time"]


def test_statistics_of_cloudwatch_in_any_order() -> None:
    datapoints = [
        {"Timestamp": f"2025-11-20T10:0{n}:00Z", "Sum": 6000.0 / n, "Unit": "Bytes"} for n in (2, 1, 3)
    ]
    document = {"Label": "VolumeReadBytes", "Datapoints": datapoints}
    assert detected(json.dumps(document, indent=4).encode(), "x.json") is IMPORTERS["cloudwatch"]
    found = Read("cloudwatch", json.dumps(document))
    assert [value for _, value in found.points("device.all.read_bytes")] == [0, 6000, 9000, 11000]
    assert found.points("device.all.read_bytes")[0][0] == BEGAN + 60


def test_an_answer_of_prometheus_with_gaps_and_a_restart() -> None:
    values = ["100", "200", "NaN", "300", "50", "90"]
    points = [[BEGAN + 15 * n, value] for n, value in enumerate(values) if n != 1]
    metric = {
        "__name__": "node_disk_written_bytes_total",
        "instance": "db1:9100",
        "device": "sda",
        "zone": "a",
    }
    other = {"__name__": "up", "instance": "db1:9100"}
    document = {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [
                {"metric": metric, "values": points},
                {"metric": other, "values": [[BEGAN + 15 * n, "1"] for n in range(6)]},
            ],
        },
    }
    text = json.dumps(document, indent=1)
    assert detected(text.encode(), "x") is IMPORTERS["prometheus"]
    found = Read("prometheus", text)
    assert found.gain("device.sda.written_bytes") == 40, "only between two known values that did not fall"
    assert "db1" in found.nodes


def test_a_typeperf_that_begins_with_an_empty_line_and_has_no_known_counter() -> None:
    text = '\r\n"(PDH-CSV 4.0)","\\\\pc\\Paging File(_Total)\\% Usage"\r\n'
    text += '"09/22/2026 21:42:32.824","0.5"\r\nExiting\r\n'
    assert detected(text.encode(), "x.csv") is IMPORTERS["perfmon"]
    (reason,) = Read("perfmon", text).reasons()
    assert "Paging File(_Total)" in reason and "--array-map" in reason


def test_dstat_without_times_takes_start_and_interval() -> None:
    from mawl.importers.formats.sysstat_reports import Untimed

    text = '"Dstat 0.7.2 CSV output"\n"Host:","a",,,,"User:","u"\n\n"dsk/total",,"interrupts"\n'
    text += '"read","writ","12"\n1,1,1\n5,7,0\n5,7,0\n'
    assert "say --start and --interval" in Read("dstat", text).reasons()[0]
    found = Read("dstat", text, untimed=Untimed(BEGAN, 0.0, 10.0))
    assert found.gain("device.total.read_bytes") == 100 and found.gain("device.total.written_bytes") == 140
    assert "a" in found.nodes


@pytest.mark.parametrize(
    ("tool", "options", "read"),
    [
        ("dool 1.3.4", "-td", 80),
        ("dool 1.3.4", "-td --bytes", 640),
        ("dool 1.2.0", "-td", 640),
        ("Dstat 0.7.4", "-td", 640),
    ],
)
def test_bits_of_dool_are_no_bytes(tool: str, options: str, read: float) -> None:
    text = f'"{tool} CSV output"\n"Host:","a",,,,"User:","u"\n'
    text += f'"Cmdline:","dool {options}",,,,"Date:","20 Nov 2025 10:00:00 UTC"\n'
    text += '"epoch","dsk/sda",,"memory usage"\n"epoch","dsk/sda:read","dsk/sda:writ","free"\n'
    text += "".join(f"{BEGAN + 8 * n:.0f},80,0,64\n" for n in range(2))
    found = Read("dstat", text)
    assert found.gain("device.sda.read_bytes") == read
    assert found.points("host.memory_free_bytes")[-1][1] == 64
