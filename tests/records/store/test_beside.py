"""Probes, memory peaks and times alone are read as they were written, and only under the same conditions."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from mawl.base.errors import UnreadableRunError
from mawl.records.model.run import AloneRun
from mawl.records.store import open_run
from mawl.records.store.side_files import (
    PEAK_FOLDER,
    SOLO_FOLDER,
    Condition,
    Peak,
    Solo,
    file_for,
    probe_of,
    read_peak,
    read_probe,
    read_solo,
    write_peak,
    write_probe,
    write_solo,
)
from tests.fakes.probes import disk, probe
from tests.fakes.stored_run import facts, write_run

PEAK_CONDITIONS: dict[str, Condition] = {
    "scale": 0.005,
    "option_memsize_bytes": 2**27,
    "libraries": ["numpy 2"],
}
PEAK = Peak(
    program="wide_sort",
    private_bytes=300 * 2**20,
    ready_bytes=200 * 2**20,
    jobs=2,
    run_id="r",
    conditions=PEAK_CONDITIONS,
)


def test_a_peak_is_found_under_its_conditions_only(tmp_path: Path) -> None:
    write_peak(tmp_path, PEAK)
    assert read_peak(tmp_path, "wide_sort", PEAK_CONDITIONS) == PEAK
    assert read_peak(tmp_path, "wide_sort", {**PEAK_CONDITIONS, "scale": 0.05}) is None
    assert read_peak(tmp_path, "forecasting", PEAK_CONDITIONS) is None


@pytest.mark.parametrize(
    "changed", [{"private_bytes": 0}, {"ready_bytes": 0}, {"jobs": 0}, {"program": "forecasting"}]
)
def test_a_file_that_holds_no_peak_is_left_out(tmp_path: Path, changed: dict[str, object]) -> None:
    write_peak(tmp_path, PEAK)
    damaged = msgspec.structs.replace(PEAK, **changed)
    file_for(tmp_path / PEAK_FOLDER, "wide_sort", PEAK_CONDITIONS).write_bytes(msgspec.json.encode(damaged))
    assert read_peak(tmp_path, "wide_sort", PEAK_CONDITIONS) is None


def test_what_is_no_json_is_left_out(tmp_path: Path) -> None:
    write_peak(tmp_path, PEAK)
    file_for(tmp_path / PEAK_FOLDER, "wide_sort", PEAK_CONDITIONS).write_bytes(b"[" * 2000)
    assert read_peak(tmp_path, "wide_sort", PEAK_CONDITIONS) is None


SOLO_CONDITIONS: dict[str, Condition] = {
    "scale": 0.05,
    "work": ["one", "two"],
    "cpus": None,
    "mawl_version": "1",
}


def kept(runs: Path) -> Solo:
    times = [AloneRun(run_id=f"r{number}", real_time_seconds=12.5 + number) for number in range(3)]
    solo = Solo(program="wide_sort", runs=times, conditions=SOLO_CONDITIONS)
    write_solo(runs, solo)
    return solo


def test_a_time_is_found_again_whatever_the_order_of_its_conditions(tmp_path: Path) -> None:
    solo = kept(tmp_path)
    assert read_solo(tmp_path, "wide_sort", dict(reversed(SOLO_CONDITIONS.items()))) == solo


@pytest.mark.parametrize("changed", [{"scale": 0.1}, {"work": ["one"]}, {"cpus": ["0"]}, {"more": 1}])
def test_what_changed_is_measured_anew(tmp_path: Path, changed: dict[str, Condition]) -> None:
    kept(tmp_path)
    assert read_solo(tmp_path, "wide_sort", SOLO_CONDITIONS | changed) is None
    assert read_solo(tmp_path, "census_load", SOLO_CONDITIONS) is None


@pytest.mark.parametrize("content", [b"", b"{}", b'{"program": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_no_time(tmp_path: Path, content: bytes) -> None:
    kept(tmp_path)
    file_for(tmp_path / SOLO_FOLDER, "wide_sort", SOLO_CONDITIONS).write_bytes(content)
    assert read_solo(tmp_path, "wide_sort", SOLO_CONDITIONS) is None


def test_a_file_under_another_ones_name_is_no_time(tmp_path: Path) -> None:
    kept(tmp_path)
    other = SOLO_CONDITIONS | {"scale": 1.0}
    file_for(tmp_path / SOLO_FOLDER, "wide_sort", SOLO_CONDITIONS).rename(
        file_for(tmp_path / SOLO_FOLDER, "wide_sort", other)
    )
    assert read_solo(tmp_path, "wide_sort", other) is None


def test_a_probe_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_probe(tmp_path / "probe.json", probe(disk()))
    assert read_probe(tmp_path / "probe.json") == probe(disk())


def test_times_are_iso_in_the_file_and_seconds_of_older_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    write_probe(path, probe(disk()))
    plain = json.loads(path.read_text())
    assert plain["created_at"].endswith("Z")
    path.write_text(json.dumps({**plain, "created_at": probe().created_at, "format_version": "1.0"}))
    assert read_probe(path).created_at == probe().created_at


@pytest.mark.parametrize("rate", [-1.0, 1e30])
def test_a_rate_that_cannot_be_is_refused_by_its_key(tmp_path: Path, rate: float) -> None:
    path = tmp_path / "probe.json"
    write_probe(path, probe(disk()))
    plain = json.loads(path.read_text())
    plain["targets"][0]["tests"][0]["read"]["bytes_per_second"] = rate
    path.write_text(json.dumps(plain))
    with pytest.raises(UnreadableRunError, match=r"probe.json: is not .*tests\[0\].read.bytes_per_second"):
        read_probe(path)


@pytest.mark.parametrize("at", [1e30, -1e30, "99999-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_a_time_outside_the_calendar_is_refused(tmp_path: Path, at: object) -> None:
    path = tmp_path / "probe.json"
    write_probe(path, probe(disk()))
    path.write_text(json.dumps({**json.loads(path.read_text()), "created_at": at}))
    with pytest.raises(UnreadableRunError, match=r"probe.json: is not what mawl probe writes"):
        read_probe(path)


@pytest.mark.parametrize(
    ("key", "value"), [("request_bytes", 0), ("streams", -1), ("read_share_ratio", 1.5), ("cpu_seconds", -1)]
)
def test_a_figure_of_a_test_that_cannot_be_is_refused_by_its_key(
    tmp_path: Path, key: str, value: float
) -> None:
    path = tmp_path / "probe.json"
    write_probe(path, probe(disk()))
    plain = json.loads(path.read_text())
    plain["targets"][0]["tests"][0][key] = value
    path.write_text(json.dumps(plain))
    with pytest.raises(UnreadableRunError, match=rf"probe.json: is not .*tests\[0\].{key}"):
        read_probe(path)


def test_a_run_has_its_probe_or_none(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    assert open_run(tmp_path / "run").probe is None
    write_probe(tmp_path / "run" / "probe.json", probe(disk()))
    assert open_run(tmp_path / "run").probe == probe(disk())
    assert probe_of(tmp_path) is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not what mawl probe writes"),
        (b'{"format_version": "1.0"}', "missing required field `created_at`"),
        (b"[" * 100000, "is not what mawl probe writes"),
    ],
)
def test_what_is_no_probe_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UnreadableRunError, match=sentence):
        read_probe(tmp_path / "x")


def test_a_newer_version_is_refused_and_a_missing_file_told(tmp_path: Path) -> None:
    write_probe(tmp_path / "x", probe(disk()))
    newer = {**json.loads((tmp_path / "x").read_text()), "format_version": "2.0"}
    (tmp_path / "x").write_text(json.dumps(newer))
    with pytest.raises(UnreadableRunError, match=r"has format version 2.0, newer than this mawl's 1.2"):
        read_probe(tmp_path / "x")
    with pytest.raises(UnreadableRunError, match="no such file or directory; name the file"):
        read_probe(tmp_path / "y")
