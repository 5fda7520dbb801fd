"""``settings.json`` comes back as it was written, and says what is wrong with it otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mawl.errors import UnreadableRunError
from mawl.model.arm_setting import ChangedSetting, CheckReading, SettingCommand, SettingRecord
from mawl.spec.arm_setting import ArmSetting
from mawl.store.arm_settings import SETTINGS, read_settings, write_settings

RECORD = SettingRecord(
    campaign="c",
    machine="bench1",
    directory="/",
    mark="m",
    holder="h",
    changed=ChangedSetting(
        arm="b",
        setting=ArmSetting(name="mode", check="cat mode", before="b", after="a", expect="4"),
        original=CheckReading(exit_status=0, printed="8"),
    ),
    commands=[
        SettingCommand(
            number=1,
            role="original",
            arm="b",
            command="cat mode",
            output="settings/001-original.log",
            started_at=1.5,
            seconds=0.5,
            exit_status=0,
            printed="8",
        )
    ],
)


def test_the_record_comes_back(tmp_path: Path) -> None:
    assert read_settings(tmp_path) is None
    write_settings(tmp_path, RECORD)
    assert read_settings(tmp_path) == RECORD


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "truncated"),
        (b"[]", "Expected `object`"),
        (b"[" * 10_000, "too deep"),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "changed": {}}',
            "missing required field",
        ),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "format_version": "2.0"}',
            "newer than",
        ),
        (
            b'{"campaign": "c", "machine": null, "directory": "/", "mark": "m", "changed": {"arm": "b", '
            b'"original": '
            b'{"exit_status": 0, "printed": ""}, "setting": {"name": "m", "check": "a", "before": "b"}}}',
            "after required, because before is there",
        ),
    ],
)
def test_what_is_wrong_is_said(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_bytes(content)
    with pytest.raises(UnreadableRunError) as error:
        read_settings(tmp_path)
    assert reason in str(error.value) and "undo by hand" in str(error.value)


def test_a_record_cut_anywhere_is_refused(tmp_path: Path) -> None:
    write_settings(tmp_path, RECORD)
    whole = (tmp_path / SETTINGS).read_bytes().rstrip()
    for length in range(0, len(whole), 7):
        (tmp_path / SETTINGS).write_bytes(whole[:length])
        with pytest.raises(UnreadableRunError):
            read_settings(tmp_path)


def test_neither_a_link_nor_a_pipe_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    write_settings(tmp_path, RECORD)
    (folder / SETTINGS).symlink_to(tmp_path / SETTINGS)
    with pytest.raises(UnreadableRunError):
        read_settings(folder)
    (folder / SETTINGS).unlink()
    os.mkfifo(folder / SETTINGS)
    with pytest.raises(UnreadableRunError):
        read_settings(folder)
