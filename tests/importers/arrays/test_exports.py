"""Exports of arrays in two versions of each layout, whole and damaged: the truth, or no value."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from mawl.base.errors import UsageError
from tests.importers.arrays.test_join import AT, CONTROL, PLAIN, SYSTEM, XIV, counters, read

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
