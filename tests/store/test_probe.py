"""``probe.json``: whole or not at all, and refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mawl.errors import UnreadableRunError
from mawl.store import open_run
from mawl.store.probe import probe_of, read_probe, write_probe
from tests.fakes.probes import disk, probe
from tests.fakes.stored_run import facts, write_run


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
    with pytest.raises(UnreadableRunError, match=r"has format version 2.0, newer than this mawl's 1.1"):
        read_probe(tmp_path / "x")
    with pytest.raises(UnreadableRunError, match="no such file or directory; name the file"):
        read_probe(tmp_path / "y")
