"""Needs of beds: which a bed has, and that each is tried, found lacking with its reason, and left nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
from mawl.lab import devices, needs
from mawl.lab.bed import Cap, load_bed
from mawl.lab.devices import command
from mawl.lab.needs import EVERY, check, needs_of
from mawl.lab.state import (
    BedState,
    VolumeState,
    ZramState,
    boot_id,
    held,
    known_beds,
    read_state,
    state_file,
    write_state,
)
from mawl.measure.processes import started_ticks


def test_a_bed_needs_what_its_volumes_need() -> None:
    hybrid = load_bed("hybrid")
    assert needs_of(hybrid, hybrid.volumes) == [
        *("root", "fio", "loop", "ext4", "cap", "writeback limit", "memory group", "disk model")
    ]
    flash = [volume for volume in hybrid.volumes if volume.name == "flash"]
    assert "disk model" not in needs_of(hybrid, flash)


def test_every_need_has_a_trial() -> None:
    assert tuple(needs._TRIALS) == EVERY


def test_without_root_nothing_else_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mawl.lab.needs.os.geteuid", lambda: 1000)
    found = check(EVERY, tmp_path / "state")
    reasons = {one.name: one.reason for one in found}
    del reasons["fio"]
    assert reasons == dict.fromkeys(
        [name for name in EVERY if name != "fio"], "devices, mounts and caps are root's; run it with sudo"
    )
    assert not (tmp_path / "state").exists()


def test_what_a_trial_meets_is_the_reason_and_its_traces_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(scratch: needs.Scratch) -> str | None:
        (scratch.folder / "trace").write_text("")
        raise UnsuitableMachineError("losetup failed", why="no free device")

    monkeypatch.setattr("mawl.lab.needs.os.geteuid", lambda: 0)
    monkeypatch.setitem(needs._TRIALS, "loop", refused)
    monkeypatch.setitem(needs._TRIALS, "fio", lambda _: None)
    found = {one.name: one.reason for one in check(("fio", "loop"), tmp_path)}
    assert found["fio"] is None
    assert found["loop"] == "losetup failed: no free device"
    assert known_beds(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir() if not path.name.endswith(".lock")] == []


def test_missing_programs_come_with_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "find", lambda program: None if program == "mkfs.xfs" else program)
    assert needs._lacking("losetup", "mkfs.xfs") == "mkfs.xfs not found; install xfsprogs"
    assert needs._lacking("losetup") is None


def test_what_a_program_said_is_told_without_its_runs_of_blanks() -> None:
    said = "echo 'mount: refused;       see   the manual' >&2; exit 1"
    with pytest.raises(UnsuitableMachineError, match="sh failed: mount: refused; see the manual;"):
        command(("sh", "-c", said), "mark")


def state(directory: Path) -> BedState:
    return BedState(
        bed="small",
        boot_id=boot_id(),
        owner_pid=os.getpid(),
        owner_started_ticks=started_ticks(os.getpid()) or 0,
        directory=str(directory / "small"),
        images=str(directory / "images"),
        volumes=[VolumeState(name="z", place="p", zram=ZramState(number=3))],
    )


def test_what_is_written_is_read_and_listed(tmp_path: Path) -> None:
    write_state(tmp_path, state(tmp_path))
    assert read_state(tmp_path, "small") == state(tmp_path)
    assert known_beds(tmp_path) == ["small"]
    assert read_state(tmp_path, "other") is None


def test_a_damaged_or_newer_state_is_one_sentence(tmp_path: Path) -> None:
    state_file(tmp_path, "small").write_text("{")
    with pytest.raises(UnsuitableMachineError, match="is no state of a bed"):
        read_state(tmp_path, "small")
    newer = state(tmp_path)
    newer.format_version = 99
    write_state(tmp_path, newer)
    with pytest.raises(UnsuitableMachineError, match="has version 99"):
        read_state(tmp_path, "small")


def test_a_bed_is_held_once(tmp_path: Path) -> None:
    with held(tmp_path, "small"):
        with pytest.raises(UsageError, match="in use by another mawl lab"), held(tmp_path, "small"):
            raise AssertionError("held twice")
        with held(tmp_path, "other"):
            pass
    with held(tmp_path, "small"):
        pass


def test_the_start_of_a_process_that_is_gone_is_not_known() -> None:
    own = started_ticks(os.getpid())
    assert own is not None and own > 0
    assert started_ticks(2**22 + 1) is None


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
