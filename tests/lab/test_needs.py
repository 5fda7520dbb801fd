"""Needs of beds: which a bed has, and that each is tried, found lacking with its reason, and left nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError
from mawl.lab import needs
from mawl.lab.bed import load_bed
from mawl.lab.devices import command
from mawl.lab.needs import EVERY, check, needs_of
from mawl.lab.state import known_beds


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
