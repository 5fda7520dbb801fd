"""What a campaign's record of settings says: what each arm changed or checked, and what was read."""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.arm_setting import ChangedSetting, SettingRecord
from mawl.model.campaign import Arm, Campaign

SettingState = Literal["only checked", "not changed yet", "changed", "undone", "not undone"]


class ArmSettingFound(msgspec.Struct, frozen=True, kw_only=True):
    """The setting of an arm.

    ``original`` is what ``check`` said before the first change; ``read`` has each different answer around
    finished runs once.  ``reads`` counts the answers that were as the arm asks for, ``differing`` the others.
    """

    arm: str
    title: str
    name: str
    before: str | None
    check: str
    after: str | None
    expect: str | None
    original: str | None
    read: list[str]
    reads: int
    differing: int
    state: SettingState


def arm_settings(record: Campaign, made: SettingRecord | None, *, conducted: bool) -> list[ArmSettingFound]:
    """The settings of the arms that have one; ``conducted``: a living process has the campaign."""
    return [_of(arm, made, conducted) for arm in record.arms if arm.setting is not None]


def _of(arm: Arm, made: SettingRecord | None, conducted: bool) -> ArmSettingFound:
    setting = arm.setting
    assert setting is not None, "the caller looked"
    commands = [one for one in made.commands if one.arm == arm.name] if made is not None else []
    reads = [one for one in commands if one.role in ("took", "kept") and one.answered]
    good = [one for one in reads if one.reason is None]
    original = made.original(arm.name) if made is not None else None
    return ArmSettingFound(
        arm=arm.name,
        title=arm.title,
        name=setting.name,
        before=setting.before,
        check=setting.check,
        after=setting.after,
        expect=setting.expect,
        original=original.words() if original is not None else None,
        read=list(dict.fromkeys(one.reading.words() for one in reads)),
        reads=len(good),
        differing=len(reads) - len(good),
        state=_state(arm, made, bool(commands), conducted),
    )


def _state(arm: Arm, made: SettingRecord | None, touched: bool, conducted: bool) -> SettingState:
    if arm.setting is None or arm.setting.before is None:
        return "only checked"
    if made is not None and made.changed is not None and made.changed.arm == arm.name:
        return "changed" if conducted else "not undone"
    began = made is not None and any((one.arm, one.role) == (arm.name, "before") for one in made.commands)
    return "undone" if touched and began else "not changed yet"


def left_changed(made: SettingRecord | None, *, conducted: bool) -> ChangedSetting | None:
    """The change that may still be in force although the campaign's process has ended; None without any."""
    return made.changed if made is not None and not conducted else None
