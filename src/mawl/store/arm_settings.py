"""``settings.json`` of a campaign: written whole or not at all, checked when read."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.errors import UnreadableRunError
from mawl.model.arm_setting import SETTING_FORMAT_VERSION, SettingRecord
from mawl.store.files import read_bounded, replace_file
from mawl.store.layout import major
from mawl.store.plain import decoded

SETTINGS = "settings.json"
OUTPUTS = "settings"
"""The folder with what each command printed."""


def write_settings(folder: Path, record: SettingRecord) -> None:
    """Replace the record; raises OSError."""
    replace_file(folder / SETTINGS, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")


def read_settings(folder: Path) -> SettingRecord | None:
    """The record; None where no arm of the campaign had a setting.

    Raises :class:`~mawl.errors.UnreadableRunError` naming the file and what is wrong with it.
    """
    path = folder / SETTINGS
    if not path.exists():
        return None
    try:
        plain = decoded(read_bounded(path, "name the folder of a campaign", inside=folder))
        record = msgspec.convert(plain, SettingRecord)
        if major(record.format_version) > major(SETTING_FORMAT_VERSION):
            raise ValueError(f"it is of format {record.format_version[:40]}, newer than this mawl's")
        problem = record.changed.setting.problem() if record.changed is not None else None
        if problem is not None:
            raise ValueError(f"{problem[0]} {problem[1]} - at `$.changed.setting`")
    except ValueError as error:
        raise UnreadableRunError(
            "is no record of changed settings",
            where=str(path),
            why=str(error),
            cure="campaign.json has the commands of each arm: undo by hand what may still be changed",
        ) from None
    return record
