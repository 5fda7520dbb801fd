"""What a campaign agrees with its user: to run the commands of its arms, and where it may continue."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mawl.base.errors import InterruptedRunError, MawlError, UsageError
from mawl.base.printable import printable
from mawl.base.units import counted_noun
from mawl.campaigns.arm_setting import ArmSettings, new_record, undo_sentence
from mawl.campaigns.process import without_settings
from mawl.campaigns.series import held
from mawl.campaigns.setting_guard import guarded
from mawl.commands.reporting import short_path
from mawl.measure.machine import read_machine
from mawl.records.model.campaign import Arm, Campaign, CampaignMachine, ChangedSetting, SettingRecord
from mawl.records.model.qualification import Qualification
from mawl.records.store.campaign import CAMPAIGN, SETTINGS, is_conducted, read_campaign, read_settings
from mawl.version import __version__

if TYPE_CHECKING:
    from mawl.campaigns.series import Series


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


def this_machine() -> CampaignMachine:
    """What tells this machine from another."""
    machine = read_machine()
    return CampaignMachine(name=machine.name, cpu_model=machine.cpu_model, cores=machine.cores)


def check_place(record: Campaign | Qualification, folder: Path) -> None:
    """UsageError where a campaign was begun by an older mawl, on another machine, or in a directory that
    is gone."""
    if isinstance(record, Campaign) and record.spec is None:
        raise UsageError(
            "was begun by an older mawl, and this one cannot go on with it",
            where=str(folder),
            why=f"its record (format {record.format_version}) does not hold all options of its runs",
            cure=f"go on with mawl {record.mawl_version}, or begin a new one; mawl report reads this one",
        )
    here = this_machine()
    if isinstance(record, Campaign) and any(arm.setting is not None for arm in record.arms):
        # A setting that is still changed may have switched cores off.
        here = msgspec.structs.replace(here, cores=record.machine.cores)
    if here != record.machine:
        raise UsageError(
            "was begun on another machine",
            where=str(folder),
            why=f"it was {_words(record.machine)}, this is {_words(here)}",
            cure="continue it there, or begin a new one here",
        )
    if not Path(record.directory).is_dir():
        raise UsageError("the directory it was begun in is gone", where=record.directory)


def note_version(series: Series) -> None:
    """A remark in the record of a campaign that another version of mawl began."""
    record = series.record
    if record.mawl_version != __version__:
        remark = f"begun with mawl {record.mawl_version}, continued with {__version__}"
        series.note(remarks=[*record.remarks, remark], mawl_version=__version__)


@contextmanager
def saying_how_to_go_on(series: Series, command: str) -> Iterator[str]:
    """What goes on with the campaign, by ``command`` (``mawl run``); an interrupt in the block ends with it.

    Raises ``InterruptedRunError`` instead of KeyboardInterrupt.
    """
    again = f"{command} --continue {shlex.quote(short_path(series.folder))}"
    try:
        yield again
    except (KeyboardInterrupt, InterruptedRunError) as error:
        why = str(error) if isinstance(error, InterruptedRunError) else None
        done = sum(slot.state == "finished" for slot in series.record.slots)
        kept = f"interrupted; {counted_noun(done, 'finished run')} kept"
        raise InterruptedRunError(kept, why=why, cure=f"{again} goes on") from None


def _words(machine: CampaignMachine) -> str:
    return f"{machine.name or 'unnamed'} ({machine.cpu_model or 'unknown processor'}, {machine.cores} cores)"
