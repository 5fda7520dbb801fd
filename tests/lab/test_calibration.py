"""Calibration: what is expected of a volume, and refusal with the figures where it is not as expected."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
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

    def __init__(self, *_: object, layout_seconds: float = 0.0) -> None:
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
    assert "--ramp_time=500ms" in asked and "--runtime=3" in asked


class Distant:
    """A disk behind a way of 0.9 ms: stands in for fio."""

    def __init__(self, *_: object, layout_seconds: float = 0.0) -> None:
        self._random = [1.0 / (ACCESS_SECONDS + 0.0009), 1.0 / ACCESS_SECONDS]

    def rate(self, _: str) -> float:
        return 50e6

    def random_reads(self) -> float:
        return self._random.pop(0)


class Remote(Distant):
    """The way takes half of what a seek does."""

    def random_reads(self) -> float:
        return 1.0 / (2.0 * ACCESS_SECONDS)


SPINNING = VolumeSpec(
    name="slow", size="1GiB", disk=DiskModel(model="spinning", bytes_per_second="50MB", seek_seconds=0.006)
)
ACCESS_SECONDS = 1.0 / SPINNING.disk.random_requests_per_second if SPINNING.disk is not None else 0.0


def test_the_way_to_a_modelled_disk_is_taken_off_its_seeks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "Fio", Distant)
    monkeypatch.setattr(calibration.BufferedFile, "write", lambda _: 50e6)
    monkeypatch.setattr(calibration.BufferedFile, "read", lambda _: 50e6)
    place = tmp_path / "slow"
    place.mkdir()
    found = {one.what: one for one in calibrate(SPINNING, place, "none", "")}
    assert found["direct random read"].path_seconds == pytest.approx(0.0009)
    assert found["direct read"].path_seconds is None
    written = int.from_bytes((tmp_path / "slow.path").read_bytes(), sys.byteorder)
    assert written == pytest.approx(900000, abs=1)
    assert calibration.sentence(found["direct random read"]).endswith(
        "(+0.0 %), 900 us of way to the model taken off each seek"
    )


def test_a_way_that_is_no_small_part_of_a_seek_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "Fio", Remote)
    place = tmp_path / "slow"
    place.mkdir()
    with pytest.raises(UnsuitableMachineError, match="cannot be modelled so"):
        calibrate(SPINNING, place, "none", "")
    assert not (tmp_path / "slow.path").exists()


@pytest.mark.parametrize(("given", "right"), [(3 * 2**20, True), (0, False)])
def test_a_buffered_write_is_what_the_device_was_given_and_no_more_may_be_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: int, right: bool
) -> None:
    told = iter([2**20, 2**20 + given])
    monkeypatch.setattr(calibration, "_written_bytes", lambda _: next(told))
    monkeypatch.setattr(calibration.BufferedFile, "_write", lambda *_: 5 * 2**20)
    file = calibration.BufferedFile(tmp_path / "file", 2**20, "loop0", 2 * 2**20)
    if right:
        assert file.write() > 0.0
    else:
        with pytest.raises(
            UnsuitableMachineError, match=r"of 5.24 MB in .* it was given 0 B, and at most 2.10 MB"
        ):
            file.write()
