"""Calibration: what is expected of a volume, and refusal with the figures where it is not as expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.errors import UnsuitableMachineError
from mawl.lab import calibration
from mawl.lab.bed import Cap, DiskModel, VolumeSpec
from mawl.lab.calibration import calibrate, expected_rate, expected_requests

CAPPED = VolumeSpec(name="flash", size="1GiB", cap=Cap(bytes_per_second="100MB"))


def test_what_is_expected_of_a_cap_and_of_a_disk() -> None:
    assert expected_rate(CAPPED) == 100e6
    assert expected_requests(CAPPED) is None
    few = VolumeSpec(name="few", size="1GiB", cap=Cap(bytes_per_second="100MB", requests_per_second=100))
    assert expected_rate(few) == 100 * 262144
    assert expected_requests(few) == 100.0
    disk = VolumeSpec(name="d", size="1GiB", disk=DiskModel(model="spinning", bytes_per_second="50MB"))
    assert expected_rate(disk) == 50e6


def test_a_volume_without_limits_has_nothing_to_be_held_against(tmp_path: Path) -> None:
    assert calibrate(VolumeSpec(name="free", size="1GiB"), tmp_path, "none", "") == []


class Fast:
    """A device that cannot be slow: stands in for fio."""

    rates: tuple[float, ...] = (106e6, 106e6, 106e6)

    def __init__(self, *_: object) -> None:
        self._left = list(self.rates)

    def rate(self, _: str) -> float:
        return self._left.pop(0)


class Settling(Fast):
    """Disturbed once: the median of 120, 104 and 96 is within 5 %."""

    rates = (120e6, 104e6, 96e6, 101e6)


class Wandering(Fast):
    """Once within 5 % in three."""

    rates = (120e6, 101e6, 110e6)


def test_a_volume_that_is_off_is_refused_with_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "Fio", Fast)
    with pytest.raises(UnsuitableMachineError) as caught:
        calibrate(CAPPED, tmp_path, "none", "")
    assert "flash, direct write: 106 MB/s, expected 100 MB/s (+6.0 %)" in str(caught.value)
    assert list(tmp_path.iterdir()) == [], "its files are gone"


def test_a_disturbed_measurement_is_made_again_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "Fio", Settling)
    monkeypatch.setattr(calibration.BufferedFile, "write", lambda _: 100e6)
    monkeypatch.setattr(calibration.BufferedFile, "read", lambda _: 101e6)
    found = calibrate(CAPPED, tmp_path, "none", "")
    assert [(one.what, one.tries) for one in found] == [
        ("direct write", 3),
        ("direct read", 1),
        ("buffered write", 1),
        ("buffered read", 1),
    ]
    assert found[0].off_ratio == pytest.approx(0.04)
    assert found[-1].off_ratio == pytest.approx(0.01)


def test_one_good_measurement_of_three_is_not_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "Fio", Wandering)
    with pytest.raises(UnsuitableMachineError, match=r"110 MB/s, expected 100 MB/s \(\+10\.0 %\)"):
        calibrate(CAPPED, tmp_path, "none", "")


def test_fio_leaves_out_the_ramp_which_it_would_cut_to_none_in_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def command(words: list[str], _: str) -> str:
        asked.extend(words)
        return '{"jobs": [{"read": {"bw_bytes": 1.0}}]}'

    monkeypatch.setattr(calibration, "command", command)
    assert calibration.Fio(tmp_path / "file", 2**20, "").rate("read") == 1.0
    assert "--ramp_time=500ms" in asked and "--runtime=2" in asked
