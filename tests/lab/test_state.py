"""The state file: whole, versioned, and held by one process at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.base.errors import UnsuitableMachineError, UsageError
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
