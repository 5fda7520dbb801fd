"""Statistics of arrays in each layout that is exported, with known truth; damaged and hostile ones.

Exports of arrays in two versions of each layout, whole and damaged: the truth, or no value.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from mawl.base.errors import InvalidFileError, UsageError
from mawl.importers.arrays import joined, read_arrays
from mawl.importers.tables import array_presets, load_map
from mawl.records.model.node import ArrayInterval, ArrayStatistics

AT = 1_425_376_860.0  # 2015-03-03T10:01:00Z
ROLES = '[roles]\ndata = "sasdata.*"\nwork = "saswork.*"\n'

HEAD = (
    "time,volume,read MB/s,write MB/s,read IOPS,write IOPS,read latency ms,write latency ms,"
    "cache hits %,saved %"
)
PLAIN = f"""{HEAD}
2015-03-03 10:00:00,sasdata01,100,0,400,0,5,0,80,66
2015-03-03 10:01:00,sasdata01,120.5,1,482,4,8.5,0.5,81,66
"""
XIV_GROUPS = [
    f"{way} {hit} {size}"
    for way in ("Read", "Write")
    for hit in ("Hit", "Miss")
    for size in ("Large", "Small")
]
XIV_HEAD: list[str | int] = [
    "Time",
    *(f"{group} - {what}" for group in XIV_GROUPS for what in ("IOps", "Latency", "Throughput")),
]
XIV_READS = [300, 1000, 102400, 0, 0, 0, 100, 9000, 2048, 0, 0, 0]
XIV_WRITES = [50, 500, 1024, 0, 0, 0, 50, 1500, 1024, 0, 0, 0]
XIV_ROWS: list[list[str | int]] = [
    XIV_HEAD,
    ["2015-03-03 10:00:00", *[0] * 24],
    ["2015-03-03 10:01:00", *XIV_READS, *XIV_WRITES],
]
XIV = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in XIV_ROWS)
SYSTEM = """sample_time,stat_name,stat_value
150303100000,vdisk_r_mb,100
150303100100,vdisk_r_mb,200
150303100100,vdisk_r_ms,3
150303100100,cpu_pc,40
"""
CONTROL = (
    """Performance export of Spectrum Control

"""
    + ",".join(
        [
            *("Time", "Volume", "Read I/O Rate (overall) (ops/s)", "Write I/O Rate (overall) (ops/s)"),
            *("Read Data Rate (MiB/s)", "Write Data Rate (MiB/s)"),
            *("Read Response Time (ms/op)", "Write Response Time (ms/op)"),
        ]
    )
    + """
2015-03-03 10:00:00,saswork01,10,20,1,2,3,4
2015-03-03 10:01:00,saswork01,11,21,1.5,2.5,3.5,4.5
"""
)


def counters(minute: int, reads: int, blocks: int, milliseconds: int, node: str = "node1") -> str:
    return (
        f'<?xml version="1.0"?>\n<diskStatsColl xmlns="http://ibm.com/x" id="{node}" '
        f'timestamp="2015-03-03 12:{minute:02d}:00" timezone="GMT+2:00">\n'
        f'<vdsk id="sasdata01" ro="{reads}" wo="0" rb="{blocks}" wb="0" rl="{milliseconds}" wl="0"/>\n'
        "</diskStatsColl>\n"
    )


def read(
    tmp_path: Path, preset: str, files: dict[str, str], more: str = "", roles: str = ROLES
) -> ArrayStatistics:
    (tmp_path / "map.toml").write_text(f'preset = "{preset}"\n{more}\n{roles}')
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return read_arrays([tmp_path / name for name in files], load_map(tmp_path / "map.toml"))


def last(found: ArrayStatistics) -> ArrayInterval:
    (volume,) = found.volumes
    assert volume.intervals[-1].at == AT and volume.intervals[-1].seconds == 60
    return volume.intervals[-1]


def test_every_preset_is_read() -> None:
    assert set(array_presets()) == {
        "plain",
        "xiv",
        "spectrum-virtualize",
        "lssystemstats",
        "spectrum-control",
    }


def test_a_plain_table(tmp_path: Path) -> None:
    found = read(tmp_path, "plain", {"a.csv": PLAIN})
    one = last(found)
    assert (one.read_bytes_per_second, one.written_bytes_per_second) == (120.5e6, 1e6)
    assert (one.reads_per_second, one.read_latency_seconds, one.write_latency_seconds) == (
        482,
        0.0085,
        0.0005,
    )
    assert (one.hit_ratio, one.saved_ratio) == (0.81, 0.66)
    assert found.volumes[0].role == "data" and len(found.volumes[0].intervals) == 2


def test_xiv_adds_hits_and_misses_and_weights_latency_by_requests(tmp_path: Path) -> None:
    found = read(tmp_path, "xiv", {"stats_vol_sasdata01.csv": XIV})
    one = last(found)
    assert found.volumes[0].name == "sasdata01" and found.volumes[0].role == "data"
    assert one.read_bytes_per_second == (102400 + 2048) * 1024
    assert one.written_bytes_per_second == 2048 * 1024
    assert (one.reads_per_second, one.writes_per_second) == (400, 100)
    assert one.read_latency_seconds == pytest.approx((300 * 0.001 + 100 * 0.009) / 400)
    assert one.write_latency_seconds == pytest.approx((50 * 0.0005 + 50 * 0.0015) / 100)
    assert found.volumes[0].intervals[0].read_latency_seconds is None, "no request, no latency"


def test_counters_of_spectrum_virtualize_become_rates(tmp_path: Path) -> None:
    files = {
        "Nv_stats_1": counters(0, 1000, 2**20, 5000),
        "Nv_stats_2": counters(1, 7000, 2**20 + 120000, 35000),
        "Nv_stats_3": counters(2, 100, 100, 100),
    }
    one = last(read(tmp_path, "spectrum-virtualize", files))
    assert one.reads_per_second == 100 and one.read_bytes_per_second == 120000 * 512 / 60
    assert one.read_latency_seconds == pytest.approx(0.005)
    assert one.write_latency_seconds is None


def test_lssystemstats_is_the_whole_array(tmp_path: Path) -> None:
    found = read(tmp_path, "lssystemstats", {"h.csv": SYSTEM}, roles='[roles]\ndata = ".*"\n')
    one = last(found)
    assert (one.read_bytes_per_second, one.read_latency_seconds) == (200 * 2**20, 0.003)
    assert found.volumes[0].name == "" and found.volumes[0].role == "data"


def test_spectrum_control_has_lines_before_its_heading(tmp_path: Path) -> None:
    one = last(read(tmp_path, "spectrum-control", {"c.csv": CONTROL}))
    assert (one.read_bytes_per_second, one.written_bytes_per_second) == (1.5 * 2**20, 2.5 * 2**20)
    assert one.reads_per_second == 11 and one.write_latency_seconds == pytest.approx(0.0045)


def test_zones_separators_and_columns_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(
        'array = "A"\nseparator = ";"\ntimezone = "Europe/Berlin"\ntime = "Zeit"\ninterval_seconds = 60\n'
        '[figures]\nread_bytes_per_second = { columns = "Lesen", unit = "KiB/s" }\n'
    )
    (tmp_path / "x.csv").write_text("Zeit;Lesen\n2015-03-03 11:01:00;1024\n2015-03-03 11:02:00;1.024,5\n")
    found = read_arrays([tmp_path / "x.csv"], load_map(tmp_path / "map.toml"))
    assert last(found).read_bytes_per_second == 2**20
    assert found.files[0].skipped == 1, "a decimal comma is no number"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('preset = "xvi"', "key preset: 'xvi' is not one of atop, azure"),
        ('preset = "plain"\ncolums = 1', "colums: unknown"),
        (
            'preset = "plain"\n[figures]\nread = { columns = "a", unit = "MB/s" }',
            "key figures.read: no such figure",
        ),
        (
            '[figures]\nhit_ratio = { columns = "a", unit = "MB/s" }',
            "figures.hit_ratio.unit: MB/s is not one of",
        ),
        (
            '[figures]\nhit_ratio = { columns = "(", unit = "ratio" }',
            "figures.hit_ratio.columns: not a regular",
        ),
        ('array = "a"', "key figures: no figure is mapped"),
        ('preset = "plain"\n[roles]\ndta = "x"', "key roles.dta: no such role"),
    ],
)
def test_a_wrong_map_is_refused_with_its_key(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(InvalidFileError, match=reason.replace("(", r"\(")):
        load_map(tmp_path / "map.toml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no heading with a column time"),
        ("a,b\n1,2\n", "no heading with a column time"),
        (PLAIN.splitlines()[0] + "\n03/04/15 10:00:00,a,1,1,1,1,1,1,1,1\n", "no time: 03/04/15"),
        (PLAIN.splitlines()[0] + "\n2015-03-03 10:00:00,a,1\n", "3 columns, expected 10"),
        (PLAIN.splitlines()[0] + "\n2015-03-03 10:00:00,a,x,x,x,x,x,x,x,x\n", "no number in the columns"),
        (PLAIN.splitlines()[0] + "\n2015-03-03 10:00:00,a,1,1,1,1,1,1,1,1", "the file ends within it"),
    ],
)
def test_a_file_that_says_nothing_is_one_sentence_with_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(UsageError, match="no array statistics in 1 file") as caught:
        read(tmp_path, "plain", {"a.csv": text}, "interval_seconds = 60")
    assert reason in str(caught.value)


def test_xml_with_entities_is_not_expanded(tmp_path: Path) -> None:
    text = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a timestamp="2015-03-03 10:00:00">&b;</a>'
    with pytest.raises(UsageError, match="declarations of types or entities"):
        read(tmp_path, "spectrum-virtualize", {"Nv_stats_1": text})


def test_a_damaged_table_says_nothing_that_is_not_in_it(tmp_path: Path) -> None:
    """Cut, with lines gone or twice, with noise: each figure is one of those of the whole table."""
    rows = [
        f"2015-03-03 10:{minute:02d}:00,sasdata0{number},{minute + 100 * number},1,{minute + 7},4,8,1,81,66"
        for minute in range(20)
        for number in (1, 2)
    ]
    whole = PLAIN.splitlines()[0] + "\n" + "\n".join(rows) + "\n"
    truth = {
        (volume.name, one.at): one.read_bytes_per_second
        for volume in read(tmp_path, "plain", {"a.csv": whole}).volumes
        for one in volume.intervals
    }
    chance = random.Random(1)
    for _ in range(60):
        lines = whole.splitlines(keepends=True)
        kind = chance.randrange(4)
        if kind == 0:
            text = whole[: chance.randrange(len(whole))]
        elif kind == 1:
            del lines[chance.randrange(len(lines))]
            text = "".join(lines)
        elif kind == 2:
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            text = "".join(lines)
        else:
            place = chance.randrange(len(whole))
            text = whole[:place] + chance.choice(('"', "\0", "x", "\n", ";")) + whole[place:]
        try:
            found = read(tmp_path, "plain", {"a.csv": text})
        except UsageError:
            continue
        for volume in found.volumes:
            for one in volume.intervals:
                value = one.read_bytes_per_second
                expected = truth.get((volume.name, one.at))
                assert None in (value, expected) or value == expected
                assert one.seconds <= 60 * 20


def test_a_volume_that_is_attached_again_is_replaced(tmp_path: Path) -> None:
    first = read(tmp_path, "plain", {"a.csv": PLAIN})
    second = read(tmp_path, "plain", {"a.csv": PLAIN.replace("120.5", "7")})
    other = read(tmp_path, "plain", {"a.csv": PLAIN}, 'array = "B"')
    assert joined(None, first) is first
    (volume,) = joined(first, second).volumes
    assert volume.intervals[-1].read_bytes_per_second == 7e6
    assert [one.array for one in joined(first, other).volumes] == ["array", "B"]


ALL = '[roles]\ndata = ".*"\n'
SEEDS = 40
FIGURES = (
    "read_bytes_per_second", "written_bytes_per_second", "reads_per_second", "writes_per_second",
    "read_latency_seconds", "write_latency_seconds", "hit_ratio", "saved_ratio",
)  # fmt: skip


class Export(NamedTuple):
    """Files of one export; ``truth`` is what the last interval of ``volume`` has, and no other figure."""

    name: str
    preset: str
    files: dict[str, str]
    volume: str
    truth: dict[str, float]
    more: str = ""


def modern(minute: int, reads: int, blocks: int, milliseconds: int) -> str:
    """A file of counters as later versions write it: units named, elements in each volume."""
    return (
        '<?xml version="1.0" encoding="utf-8" ?>\n'
        '<diskStatsColl xmlns="http://ibm.com/storage/management/performance/api/2003/04/diskStats" '
        'scope="node" id="node2" cluster="sas" sizeUnits="512B" timeUnits="msec" contains="virtualDisks" '
        f'timestamp="2015-03-03 02:{minute:02d}:00" timezone="GMT-8:00">\n'
        f'<vdsk idx="0" ctr="5" ctw="6" id="sasdata01" ro="{reads}" wo="{reads}" wou="0" rb="{blocks}" '
        f'wb="{2 * blocks}" rl="{milliseconds}" wl="{milliseconds}" rlw="7" xl="0">\n'
        '<ca rh="9" d="0" ft="0" wt="0" fw="0" wh="0" ri="11" wi="12" r="0"/>\n'
        '<cpy idx="0"><ca p="0" rh="0" ri="3"/></cpy></vdsk>\n</diskStatsColl>\n'
    )


XIV_OLD = (
    "Read Hit Very large - IOps,Read Hit Very large - Latency,Read Hit Very large - Throughput,"
    "Write Hit Very large - IOps,Write Hit Very large - Latency,Write Hit Very large - Throughput,"
    "Read Memory Hit Very large - IOps,Read Memory Hit Very large - Latency,"
    "Read Memory Hit Very large - Throughput,Time\n"
    "1,1,1,1,1,1,1,1,1,2015-03-03 10:00:00\n"
    "200,2500,204800,100,700,51200,150,900,153600,2015-03-03 10:01:00\n"
)
"""In the order that a published script reads: behind the requests those that memory served, then the time."""
SYSTEM_DECIMAL = """sample_time,stat_name,stat_value
150303100000,vdisk_r_mb,1
150303100100,vdisk_r_mb,150.25
150303100100,vdisk_w_mb,75.5
150303100100,vdisk_w_io,302
150303100100,vdisk_w_ms,0.315
150303100100,vdisk_r_mb_peak,999
"""
PLAIN_PART = """time;read IOPS;volume;read MB/s
2015-03-03T10:00:00Z;10;sasdata01;1.5
2015-03-03T10:01:00Z;20;sasdata01;2.5
"""
CONTROL_OLD = """Volume,Timestamp,Read I/O Rate (overall),Read Data Rate,Read Response Time,Other
sasdata01,2015-03-03 10:00:00,1,2,3,4
sasdata01,2015-03-03 10:01:00,11,1.5,3.5,9
"""

EXPORTS = (
    Export("plain", "plain", {"a.csv": PLAIN}, "sasdata01", {
        "read_bytes_per_second": 120.5e6, "written_bytes_per_second": 1e6, "reads_per_second": 482,
        "writes_per_second": 4, "read_latency_seconds": 0.0085, "write_latency_seconds": 0.0005,
        "hit_ratio": 0.81, "saved_ratio": 0.66,
    }),
    Export("plain, some columns in another order", "plain", {"a.csv": PLAIN_PART}, "sasdata01",
           {"read_bytes_per_second": 2.5e6, "reads_per_second": 20}, 'separator = ";"'),
    Export("xiv", "xiv", {"stats_vol_sasdata01.csv": XIV}, "sasdata01", {
        "read_bytes_per_second": 104448 * 1024, "written_bytes_per_second": 2048 * 1024,
        "reads_per_second": 400, "writes_per_second": 100, "read_latency_seconds": 0.003,
        "write_latency_seconds": 0.001,
    }),
    Export("xiv, very large requests alone", "xiv", {"vol_sasdata01.csv": XIV_OLD}, "sasdata01", {
        "read_bytes_per_second": 204800 * 1024, "written_bytes_per_second": 51200 * 1024,
        "reads_per_second": 200, "writes_per_second": 100, "read_latency_seconds": 0.0025,
        "write_latency_seconds": 0.0007,
    }),
    Export("spectrum-virtualize", "spectrum-virtualize", {
        "Nv_stats_1": counters(0, 1000, 2**20, 5000), "Nv_stats_2": counters(1, 7000, 2**20 + 120000, 35000),
    }, "sasdata01", {
        "reads_per_second": 100, "writes_per_second": 0, "read_bytes_per_second": 120000 * 512 / 60,
        "written_bytes_per_second": 0, "read_latency_seconds": 0.005,
    }),
    Export("spectrum-virtualize 8", "spectrum-virtualize", {
        "Nv_stats_a": modern(0, 10, 1000, 50), "Nv_stats_b": modern(1, 610, 61000, 1250),
    }, "sasdata01", {
        "reads_per_second": 10, "writes_per_second": 10, "read_bytes_per_second": 512000,
        "written_bytes_per_second": 1024000, "read_latency_seconds": 0.002, "write_latency_seconds": 0.002,
    }),
    Export("lssystemstats", "lssystemstats", {"h.csv": SYSTEM}, "",
           {"read_bytes_per_second": 200 * 2**20, "read_latency_seconds": 0.003}),
    Export("lssystemstats with decimals", "lssystemstats", {"h.csv": SYSTEM_DECIMAL}, "", {
        "read_bytes_per_second": 150.25 * 2**20, "written_bytes_per_second": 75.5 * 2**20,
        "writes_per_second": 302, "write_latency_seconds": 0.000315,
    }),
    Export("spectrum-control", "spectrum-control", {"c.csv": CONTROL}, "saswork01", {
        "reads_per_second": 11, "writes_per_second": 21, "read_bytes_per_second": 1.5 * 2**20,
        "written_bytes_per_second": 2.5 * 2**20, "read_latency_seconds": 0.0035,
        "write_latency_seconds": 0.0045,
    }),
    Export("spectrum-control, older headings", "spectrum-control", {"c.csv": CONTROL_OLD}, "sasdata01", {
        "reads_per_second": 11, "read_bytes_per_second": 1.5 * 2**20, "read_latency_seconds": 0.0035,
    }),
)  # fmt: skip

Values = dict[tuple[str, float, str], float]


def values(tmp_path: Path, export: Export, files: dict[str, str]) -> Values:
    """Every figure that is known: volume, time and name."""
    return {
        (volume.name, one.at, figure): value
        for volume in read(tmp_path, export.preset, files, export.more, ALL).volumes
        for one in volume.intervals
        for figure in FIGURES
        if (value := getattr(one, figure)) is not None
    }


@pytest.mark.parametrize("export", EXPORTS, ids=lambda one: one.name)
def test_an_export_has_these_figures_and_no_others(tmp_path: Path, export: Export) -> None:
    found = values(tmp_path, export, export.files)
    last = {
        figure: value for (volume, at, figure), value in found.items() if (volume, at) == (export.volume, AT)
    }
    assert last == pytest.approx(export.truth)


def test_every_preset_is_there_in_two_versions() -> None:
    presets = [one.preset for one in EXPORTS]
    assert {name: presets.count(name) for name in presets} == dict.fromkeys(
        ("plain", "xiv", "spectrum-virtualize", "lssystemstats", "spectrum-control"), 2
    )


def damaged(text: str, kind: str, chance: random.Random) -> str:
    lines = text.split("\n")
    if kind == "cut":
        return "\n".join([*lines[: chance.randrange(len(lines))], ""])
    if kind == "columns":
        mark = ";" if ";" in lines[0] else ","
        width = max(line.count(mark) for line in lines)
        one, other = chance.randrange(width + 1), chance.randrange(width + 1)
        return "\n".join(exchanged(line, mark, one, other) for line in lines)
    if kind == "heads":
        place = next(at for at, line in enumerate(lines) if "ime" in line)
        words = lines[place].split(" ")
        lines[place] = " ".join("Wert" if chance.random() < 0.3 else word for word in words)
        return "\n".join(lines)
    content = bytearray(text.encode())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return content.decode("utf-8", "replace")


def exchanged(line: str, mark: str, one: int, other: int) -> str:
    cells = line.split(mark)
    if max(one, other) < len(cells):
        cells[one], cells[other] = cells[other], cells[one]
    return mark.join(cells)


def may_say_another(export: Export, original: str, text: str) -> bool:
    """Whether a flipped bit is in a row of a table, in a digit of XML, or in the head of XML."""
    old = original.split("\n")
    changed = " ".join(line for line in text.split("\n") if line not in old)
    if export.preset != "spectrum-virtualize":
        return any(map(str.isdigit, changed))
    return "<diskStatsColl" in changed or re.sub(r"\D", "", text) != re.sub(r"\D", "", original)


@pytest.mark.parametrize(
    ("export", "kind"),
    [
        pytest.param(export, kind, id=f"{export.name}-{kind}")
        for export in EXPORTS
        for kind in ("cut", "columns", "heads", "bits")
        if (export.preset, kind) != ("spectrum-virtualize", "columns")  # XML has none
    ],
)
def test_a_damaged_export_has_true_figures_or_fewer(tmp_path: Path, export: Export, kind: str) -> None:
    truth = values(tmp_path, export, export.files)
    judged = 0
    for seed in range(SEEDS):
        chance = random.Random(f"{export.name} {kind} {seed}")
        name = chance.choice(sorted(export.files))
        text = damaged(export.files[name], kind, chance)
        if kind == "bits" and may_say_another(export, export.files[name], text):
            continue
        judged += 1
        try:
            found = values(tmp_path, export, {**export.files, name: text})
        except UsageError:
            continue
        for key, value in found.items():
            assert truth.get(key) == pytest.approx(value), (seed, key, text)
    assert judged > 0
