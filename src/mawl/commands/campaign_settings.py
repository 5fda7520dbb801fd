"""Asks before the commands that change an arm's setting run, and undoes the changes at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from mawl.base.errors import InterruptedRunError, MawlError
from mawl.base.printable import printable
from mawl.campaigns.arm_setting import ArmSettings, new_record, undo_sentence
from mawl.campaigns.process import without_settings
from mawl.campaigns.series import held
from mawl.campaigns.setting_guard import guarded
from mawl.commands.campaign_continue import this_machine
from mawl.records.model.campaign import Arm, Campaign, ChangedSetting, SettingRecord
from mawl.records.store.campaign import CAMPAIGN, SETTINGS, is_conducted, read_campaign, read_settings


def agree(record: Campaign, *, yes: bool) -> None:
    """Show the commands of all arms; at a terminal also ask, unless ``yes``.

    Raises ``InterruptedRunError`` where the user does not want them.
    """
    changing = [arm for arm in record.arms if arm.setting is not None]
    if not changing:
        return
    for arm in changing:
        for line in commands_of(arm):
            _say(line)
    if not yes and sys.stdin.isatty() and not _confirm():
        raise InterruptedRunError("nothing was run, and nothing was changed")


def commands_of(arm: Arm) -> list[str]:
    setting = arm.setting
    assert setting is not None, "the caller looked"
    commands = {"set": setting.before, "read back": setting.check, "undo": setting.after}
    expected = "" if setting.expect is None else f", expected {setting.expect!r}"
    return [
        f"arm {arm.name} ({arm.title or arm.workload}): {setting.name}{expected}",
        *(f"  {what}: {printable(text, '')}" for what, text in commands.items() if text is not None),
    ]


@contextmanager
def settings_of(folder: Path, record: Campaign) -> Iterator[ArmSettings | None]:
    """What makes and reads the arms' settings in the block; all is undone at its end, however it ends.

    What an earlier process of the campaign left changed is undone first.  Raises
    ``NotUndoneError`` where a setting is not what it was; where the
    block itself failed, that is said and the block's error raised.
    """
    if all(arm.setting is None for arm in record.arms):
        yield None
        return
    made = read_settings(folder) or new_record(record)
    _check_agreed(made, record, folder)
    settings = ArmSettings(folder, made, _say, without_settings(os.environ), record.arms)
    holder = settings.take_over()
    changes = any(arm.setting is not None and arm.setting.before is not None for arm in record.arms)
    with guarded(folder, holder) if changes else nullcontext():
        settings.undo()
        try:
            yield settings
        except BaseException:
            try:
                settings.undo()
            except (MawlError, OSError) as left:
                _say(str(left))
            raise
        settings.undo()


def _check_agreed(made: SettingRecord, record: Campaign, folder: Path) -> None:
    """MawlError where what is to be undone has other commands than the campaign, which were shown."""
    changed = made.changed
    if changed is None:
        return
    if made.directory != record.directory:
        differing = "directories, so mawl runs no command in either"
    elif all((arm.name, arm.setting) != (changed.arm, changed.setting) for arm in record.arms):
        differing = f"commands for arm {changed.arm}, so mawl runs neither"
    else:
        return
    raise MawlError(
        f"{SETTINGS} and {CAMPAIGN} name other {differing}",
        where=str(folder),
        why="one of these files was changed",
        cure=f"undo {changed.setting.name} by hand, then remove {SETTINGS}",
    )


def undo_left_in(
    runs: Path, *, yes: bool, dry_run: bool, done: Callable[[str], None], left: Callable[[str], None]
) -> None:
    """Undo what campaigns in a directory left changed; where the user does not agree, say what to undo.

    A folder that was made by another user or on another machine is only named: its commands are not run.
    """
    for file in sorted(runs.glob(f"*/{SETTINGS}")):
        try:
            _undo_in(file.parent, yes=yes, dry_run=dry_run, done=done, left=left)
        except MawlError as error:
            left(str(error))


def _undo_in(
    folder: Path, *, yes: bool, dry_run: bool, done: Callable[[str], None], left: Callable[[str], None]
) -> None:
    record = read_settings(folder)
    if folder.is_symlink() or record is None or record.changed is None or is_conducted(folder):
        return
    sentence = undo_sentence(record.changed, folder)
    _check_agreed(record, read_campaign(folder), folder)
    if record.machine != this_machine().name or (folder / SETTINGS).stat().st_uid != os.geteuid():
        left(f"{sentence}; it was recorded on another machine or by another user")
        return
    if dry_run or not (yes or (sys.stdin.isatty() and _confirm_undo(record.changed, sentence))):
        left(sentence)
        return
    try:
        with held(folder, patience=0.0):
            now = read_settings(folder)
            if now is None or now.changed != record.changed:
                return  # another process undid it meanwhile, and may have changed it again
            ArmSettings(folder, now, _say, without_settings(os.environ)).undo()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        left(f"{sentence}; mawl could not undo it now: {error.filename or folder}: {why}")
        return
    done(f"the change of {record.changed.setting.name} by arm {record.changed.arm} of {folder}")


def _confirm_undo(changed: ChangedSetting, sentence: str) -> bool:
    _say(sentence)
    _say(f"  undo: {printable(str(changed.setting.after))}\n  read back: {printable(changed.setting.check)}")
    return _confirm()


def _confirm() -> bool:
    print("Run these commands? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(line: str) -> None:
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)
