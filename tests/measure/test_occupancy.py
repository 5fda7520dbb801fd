"""The space that the files of a run take, and how often it is looked at."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mawl.measure.occupancy import MOST_COST_RATIO, Occupancy, allocated_bytes


def test_it_is_what_the_file_system_holds(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/one", "a/b/two"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "a" / "hole").touch()
    (tmp_path / "a" / "link").symlink_to("/")
    assert 2 * 2**20 <= allocated_bytes(tmp_path) < 2.1 * 2**20
    assert allocated_bytes(tmp_path / "none") == 0


def test_each_volume_has_its_series(tmp_path: Path) -> None:
    for name, size in (("v1", 8192), ("v2", 0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * size)
    looking = Occupancy([tmp_path / "v1", tmp_path / "v2"])
    assert looking.series(100.0) == {"volume.1.used_bytes": 8192.0, "volume.2.used_bytes": 0.0}
    assert Occupancy([]).series(100.0) == {}


def test_dear_looks_are_rare(tmp_path: Path) -> None:
    ticks = iter([0.0, 0.1, 5.0, 5.0001, 6.0, 6.0001])
    looking = Occupancy([tmp_path], clock=lambda: next(ticks))
    assert looking.series(10.0)
    pause = 0.1 / MOST_COST_RATIO
    assert looking.series(10.0 + pause - 1.0) == {}
    assert looking.series(10.0 + pause + 1.0)
    assert looking.series(10.0 + pause + 2.0) == {}
    assert looking.series(10.0 + pause + 3.0), "a cheap look is followed by one two seconds later"


def test_a_walk_that_takes_long_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def hanging(_: Path) -> int:
        assert go_on.wait(30)
        return 4096

    monkeypatch.setattr("mawl.measure.occupancy.allocated_bytes", hanging)
    looking = Occupancy([tmp_path])
    assert looking.series(1.0) == {}
    assert looking.series(2.0) == {}
    go_on.set()
    monkeypatch.setattr("mawl.measure.occupancy.PATIENCE_SECONDS", 30)
    assert looking.series(3.0) == {"volume.1.used_bytes": 4096.0}
