"""``mawl attach`` and ``mawl import --array-map``: an array beside the host, in every report."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mawl.commands.main import main
from mawl.records.store import open_run
from tests.fakes.command_line import Verbs
from tests.fakes.recorded_host import BEGAN, aix_recording

HEAD = (
    "time,volume,read MB/s,write MB/s,read IOPS,write IOPS,read latency ms,write latency ms,"
    "cache hits %,saved %"
)


def table(minutes: range) -> str:
    rows = [HEAD]
    for minute in minutes:
        at = datetime.fromtimestamp(BEGAN + 60 * minute, UTC).strftime("%Y-%m-%d %H:%M:%S")
        rows += [f"{at},sasdata0{number},1.5,0.5,100,100,1,3,90,50" for number in (1, 2)]
    return "\n".join(rows) + "\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "aix1.nmon").write_text("".join(aix_recording(4, 10)))
    (tmp_path / "array.csv").write_text(table(range(1, 12)))
    (tmp_path / "map.toml").write_text('preset = "plain"\narray = "XIV"\n[roles]\ndata = "sasdata.*"\n')
    return tmp_path


ROLES = ["--role", "data=hdisk[12]", "--role", "work=hdisk3"]


def arrays(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["report", "latest", "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["arrays"]
    return found


def test_an_array_is_imported_with_the_host_and_stands_beside_it(
    place: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "aix1.nmon", "array.csv", "--array-map", "map.toml", *ROLES]) == 0
    (data,) = arrays(capsys)["by_role"].values()
    assert data["array"] == {
        "mean_bytes_per_second": 4e6,
        "peak_bytes_per_second": 4e6,
        "peak_read_bytes_per_second": 3e6,
        "peak_written_bytes_per_second": 1e6,
        "mean_latency_seconds": pytest.approx(0.002),
        "peak_latency_seconds": pytest.approx(0.002),
    }
    assert data["host"]["mean_bytes_per_second"] == pytest.approx(9 * 1024)
    assert data["beyond_array_seconds"] == pytest.approx(data["host"]["mean_latency_seconds"] - 0.002)
    assert (data["volumes"], data["covered_ratio"], data["hit_ratio"], data["saved_ratio"]) == (
        2,
        1,
        0.9,
        0.5,
    )
    volumes = arrays(capsys)["volumes"]
    assert [(one["array"], one["volume"], one["role"], one["saved_ratio"]) for one in volumes] == [
        ("XIV", f"sasdata0{number}", "data", 0.5) for number in (1, 2)
    ]
    told = [" ".join(line.split()) for line in verbs.out("report", "latest", "--all").splitlines()]
    assert "XIV sasdata01 data 1.50 MB/s 500 kB/s 50 %" in told
    page = verbs.out("report", "latest", "--format", "html")
    assert "Throughput at the array" in page and "Latency at the array" in page
    for words in (["--all"], ["--format", "markdown"], ["--format", "html"]):
        shown = verbs.out("report", "latest", *words)
        assert "which these figures do not tell apart" in " ".join(shown.split()), words


def test_an_array_is_attached_to_a_finished_run(
    place: Path, verbs: Verbs, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "aix1.nmon", *ROLES]) == 0
    before = {path.name: path.read_bytes() for path in Path("runs/latest").iterdir() if path.is_file()}
    assert arrays(capsys) is None
    assert "Latency at the array" not in verbs.out("report", "latest", "--format", "html")
    out = verbs.out("attach", "latest", "array.csv", "--array-map", "map.toml")
    assert "file      array.csv: 22 rows" in out and "data      2 volumes (sasdata01, sasdata02)" in out
    assert arrays(capsys)["by_role"]["data"]["array"]["mean_bytes_per_second"] == 4e6
    after = {path.name: path.read_bytes() for path in Path("runs/latest").iterdir() if path.is_file()}
    assert {name for name in after if after[name] != before.get(name)} == {"arrays.json"}
    page = Path("runs/latest/report.html")
    page.write_text("the page without the array")
    assert main(["attach", "latest", "array.csv", "--array-map", "map.toml"]) == 0
    assert "Latency at the array" in page.read_text()


def test_a_damaged_file_is_a_reason_and_the_report_goes_on(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "aix1.nmon", "array.csv", "--array-map", "map.toml", *ROLES]) == 0
    path = open_run("latest", Path("runs")).path / "arrays.json"
    for content in (
        b"",
        b"{",
        path.read_bytes().replace(b"1500000.0", b"-1"),
        b'{"files":[],"volumes":[]}' * 2,
    ):
        path.write_bytes(content)
        assert arrays(capsys) is None
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert arrays(capsys) is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["import", "aix1.nmon", "--array-map", "map.toml"], "no named file fits *.csv"),
        (["import", "array.csv", "--array-map", "map.toml"], "only files of an array are named"),
        (["attach", "absent", "array.csv", "--array-map", "map.toml"], "absent"),
    ],
)
def test_wrong_use_is_one_sentence(place: Path, words: list[str], reason: str, verbs: Verbs) -> None:
    assert reason in verbs.err(*words, status=2)
