"""Caps and writeback limits, on folders that stand in for the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.lab import devices
from mawl.lab.bed import Cap


@pytest.fixture
def blkio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(devices, "BLKIO", tmp_path)
    return tmp_path


def test_a_cap_is_a_budget_for_each_direction(blkio: Path) -> None:
    rules = devices.cap_rules(Cap(bytes_per_second="100MB", requests_per_second=500))
    assert {Path(file).name: value for file, value in rules.items()} == {
        "blkio.throttle.read_bps_device": "100000000",
        "blkio.throttle.write_bps_device": "100000000",
        "blkio.throttle.read_iops_device": "500",
        "blkio.throttle.write_iops_device": "500",
    }


def test_only_a_rule_that_still_is_ours_is_cleared(blkio: Path) -> None:
    ours, changed = (blkio / f"blkio.throttle.{way}_bps_device" for way in ("read", "write"))
    ours.write_text("7:3 1000\n8:0 5\n")
    changed.write_text("7:3 2000\n")
    devices.clear_rules("7:3", {str(ours): "1000", str(changed): "1000"})
    assert ours.read_text() == "7:3 0"
    assert changed.read_text() == "7:3 2000\n"


def test_the_rules_of_a_device_are_found(blkio: Path) -> None:
    (blkio / "blkio.throttle.read_bps_device").write_text("7:3 1000\n7:30 5\n")
    assert devices.rules_of("7:3") == ["blkio.throttle.read_bps_device: 1000"]
    assert devices.rules_of("7:4") == []


def test_a_kernel_that_refuses_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnsuitableMachineError, match="refuses a limit: no such file or directory"):
        devices.set_rules("7:3", {str(tmp_path / "absent" / "rule"): "1"})


def test_writeback_limits_are_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "BDI", tmp_path)
    bdi = tmp_path / "7:3"
    bdi.mkdir()
    for name, value in (("strict_limit", "0\n"), ("max_ratio", "100\n"), ("max_bytes", "0\n")):
        (bdi / name).write_text(value)
    (bdi / "read_ahead_kb").write_text("128\n")
    before = devices.writeback_limits("7:3")
    devices.limit_writeback("7:3", 2**24)
    devices.set_read_ahead("7:3", 4096)
    assert (bdi / "read_ahead_kb").read_text() == "4"
    assert ((bdi / "strict_limit").read_text(), (bdi / "max_bytes").read_text()) == ("1", "16777216")
    devices.restore_writeback("7:3", before)
    assert (bdi / "read_ahead_kb").read_text() == "128"
    assert ((bdi / "strict_limit").read_text(), (bdi / "max_ratio").read_text()) == ("0", "100")
