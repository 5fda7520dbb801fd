"""Changes the setting of an arm, reads it back around each run, and undoes it.

``settings.json`` is written ahead of every command.  It says that a setting may be changed before ``before``
begins, until ``after`` has ended and ``check`` reads what it read at first.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from mawl.base.errors import MawlError
from mawl.base.process import die_with_parent
from mawl.measure.processes import descendants, kill_marked, signal_all, uninterrupted
from mawl.records.model.campaign import (
    Arm,
    Campaign,
    ChangedSetting,
    CheckReading,
    CommandRole,
    SettingCommand,
    SettingRead,
    SettingRecord,
)
from mawl.records.spec.campaign import ArmSetting
from mawl.records.store.campaign import OUTPUTS, write_settings

MARK = "MAWL_SETTING_COMMAND"
"""The variable by which a command is found after mawl was killed: the campaign's mark and its number."""

GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL for a command that takes too long."""

LOOK_SECONDS = 0.05
"""Between two looks at how much a command has printed."""

PRINTED_CHARACTERS = 4000
LARGEST_OUTPUT_BYTES = 2**20


class CommandEnd(NamedTuple):
    """How a command ended; ``exit_status`` as a shell has it, None with the reason where it was stopped."""

    seconds: float
    exit_status: int | None
    printed: str
    reason: str | None


def run_command(
    command: str,
    output: Path,
    seconds: float,
    mark: str,
    directory: str,
    environment: Mapping[str, str],
    *,
    in_memory: bool = False,
) -> CommandEnd:
    """Run a command to its end, or to the end of its time.

    It runs in a separate session, so Ctrl-C does not reach it; an interrupt here stops it and is raised
    again.  ``output`` gets what it prints, errors as well, of which only the beginning takes room.  With
    ``in_memory`` that is written when the command has ended, and only if there is room: what is undone is
    undone on a full disk, too.
    """
    parent, began = os.getpid(), time.monotonic()
    with os.fdopen(os.memfd_create("output"), "w+b") if in_memory else output.open("w+b") as file:
        process: subprocess.Popen[bytes] | None = None
        reason = None
        try:
            with uninterrupted():
                process = subprocess.Popen(
                    ["/bin/sh", "-c", command],
                    cwd=directory,
                    env={**environment, MARK: mark},
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=lambda: die_with_parent(parent, signal.SIGKILL),
                )
            status = _wait(process, began + seconds, file.fileno())
        except OSError as error:
            if process is not None:
                stop(process, mark)
                raise
            why = (error.strerror or str(error)).lower()
            return CommandEnd(time.monotonic() - began, None, "", f"it could not start in {directory}: {why}")
        except BaseException:
            if process is not None:
                stop(process, mark)
            raise
        if status is None:
            stop(process, mark)
            reason = f"it was stopped after {seconds:g} s"
            if process.returncode is None:
                reason += f", and its process {process.pid} did not end"
        elif status < 0:
            status, reason = 128 - status, f"it was ended by {_signal_name(-status)}"
        _shorten(file.fileno())
        file.seek(0)
        content = file.read(LARGEST_OUTPUT_BYTES)
    if in_memory:
        with contextlib.suppress(OSError):
            output.write_bytes(content)
    printed = content.decode(errors="replace").strip()[:PRINTED_CHARACTERS]
    return CommandEnd(time.monotonic() - began, status, printed, reason)


def _wait(process: subprocess.Popen[bytes], ends: float, output: int) -> int | None:
    """The exit status of a command, None at the end of its time; its output is kept short meanwhile."""
    while (left := ends - time.monotonic()) > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=min(left, LOOK_SECONDS))
        _shorten(output)
    return process.poll()


def _shorten(output: int) -> None:
    """Free what lies behind the beginning of an output: its writer goes on behind a hole."""
    if os.fstat(output).st_size > LARGEST_OUTPUT_BYTES:
        os.ftruncate(output, LARGEST_OUTPUT_BYTES)


def _signal_name(number: int) -> str:
    """``SIGTERM``; most of the real-time signals have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def stop(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a command and all that it started, as far as mawl may: nobody waits for one that does not end."""
    below = [process.pid, *descendants(process.pid)]
    signal_all(below, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE_SECONDS)
    signal_all(below, signal.SIGKILL)
    kill_marked(MARK, mark)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=GRACE_SECONDS)


class NotUndoneError(MawlError):
    """A setting is not what it was before the campaign changed it; the sentence says what to undo."""


class ArmSettings:
    """Changes and reads settings for a campaign whose lock the caller holds."""

    def __init__(
        self,
        folder: Path,
        record: SettingRecord,
        say: Callable[[str], None],
        environment: Mapping[str, str],
        arms: Sequence[Arm] = (),
    ) -> None:
        """``arms`` are those of the campaign; who only undoes needs none."""
        self.folder, self.record = folder, record
        self._arms = arms
        self._say, self._environment = say, environment
        self._undoing = False

    def take_over(self) -> str:
        """Become who conducts: a guard of a process before this one has nothing more to do."""
        self._note(holder=secrets.token_hex(8))
        return self.record.holder

    def make(self, arm: Arm, run: str) -> None:
        """The setting is what an arm asks for, and read back, before a run of it begins.

        Raises MawlError where the change did not take, or where it is not known what the setting was.
        """
        changed = self.record.changed
        if changed is not None and changed.arm != arm.name:
            self.undo()
        setting = arm.setting
        if setting is not None and setting.before is not None and self.record.changed is None:
            self._change(arm, setting)
        self._hold(arm, "took", run)

    def keep(self, arm: Arm, run: str) -> None:
        self._hold(arm, "kept", run)

    def kept(self, arm: Arm, run: str) -> bool:
        """Whether every setting that concerns a run was read back at its end, and was as it should be."""
        kept = {command.command for command in self._commands(run, "kept") if command.reason is None}
        return all(setting.check in kept for _, setting in self._concerning(arm))

    def read(self, arm: Arm, run: str) -> list[SettingRead]:
        if not self.kept(arm, run):
            return []
        printed = {command.command: command.reading.words() for command in self._commands(run, "kept")}
        own = arm.setting is not None and arm.setting.before is not None
        return [
            SettingRead(name=setting.name, read=printed[setting.check], changed=own)
            for _, setting in self._concerning(arm)
        ]

    def _commands(self, run: str, role: CommandRole) -> list[SettingCommand]:
        return [
            command
            for command in self.record.commands
            if (command.run, command.role) == (run, role) and command.answered
        ]

    def _concerning(self, arm: Arm) -> list[tuple[Arm, ArmSetting]]:
        """The setting of an arm; for an arm without one those that other arms change, with these arms."""
        if arm.setting is not None:
            return [(arm, arm.setting)]
        return [
            (other, other.setting)
            for other in self._arms
            if other.setting is not None and other.setting.before is not None
        ]

    def undo(self) -> None:
        """Undo what is changed, if anything is; interrupts wait for that.

        Raises ``NotUndoneError`` where the setting is not what it was.
        """
        changed = self.record.changed
        if changed is None:
            return
        setting, arm = changed.setting, changed.arm
        assert setting.after is not None, "what changes a setting also undoes it"
        with uninterrupted(), self._at_any_cost():
            self._end_unfinished()
            told_apart = changed.took is not None and changed.took != changed.original
            if told_apart and self._tried_to_undo():
                found = self._run("undone", arm, setting.check, setting.seconds)
                if found.reading == changed.original:
                    self._note(changed=None)
                    return
            self._say(f"undoing {setting.name} of arm {arm}: {setting.after}")
            undone = self._run("after", arm, setting.after, setting.seconds)
            found = self._run("undone", arm, setting.check, setting.seconds)
            if found.reading == changed.original and (undone.exit_status == 0 or told_apart):
                self._note(changed=None)
                return
        raise NotUndoneError(
            not_undone(changed, undone, found.reading),
            where=str(self.folder),
            cure=f"undo it by hand, then: mawl clean --yes --runs {shlex.quote(str(self.folder.parent))}",
        )

    def _change(self, arm: Arm, setting: ArmSetting) -> None:
        assert setting.before is not None, "the caller looked"
        original = self._original(arm, setting)
        first = self.record.original(arm.name)
        if first != original:
            raise MawlError(
                f"arm {arm.name}: {setting.name} reads {original.words()}, and read "
                f"{first.words() if first else 'nothing'} when the campaign began",
                why="something else changed it meanwhile, so the arms would not be comparable",
                cure="set it back, then continue the campaign",
            )
        self._note(changed=ChangedSetting(arm=arm.name, setting=setting, original=original))
        self._say(f"setting {setting.name} for arm {arm.name}: {setting.before}")
        made = self._run("before", arm.name, setting.before, setting.seconds)
        if made.exit_status != 0:
            raise MawlError(
                f"arm {arm.name}: the command that changes {setting.name} failed",
                where=setting.before,
                why=_end_words(made),
                cure=f"{self.folder / made.output} has what it printed",
            )

    def _original(self, arm: Arm, setting: ArmSetting) -> CheckReading:
        found = self._run("original", arm.name, setting.check, setting.seconds)
        _need_answer(arm, setting, found)
        return found.reading

    def _hold(self, arm: Arm, role: CommandRole, run: str) -> None:
        for owner, setting in self._concerning(arm):
            expected = None
            if owner is not arm:
                expected = self.record.original(owner.name) or self._original(owner, setting)
            found = self._run(role, arm.name, setting.check, setting.seconds, run)
            _need_answer(arm, setting, found)
            changed = self.record.changed
            if changed is not None and role == "took":
                self._note(changed=msgspec.structs.replace(changed, took=found.reading))
            if found.reading == expected or (expected is None and as_asked(setting, found.reading)):
                continue
            reason = f"it reads {found.reading.words()}"
            if expected is not None:
                reason += f", and read {expected.words()} when the campaign began"
            elif setting.expect is not None:
                reason += f", expected {setting.expect!r}"
            self._replace_last(reason=reason)
            raise MawlError(
                f"arm {arm.name}: {setting.name} {_fault(arm, role, run)}", where=setting.check, why=reason
            )

    def _tried_to_undo(self) -> bool:
        roles = [command.role for command in self.record.commands if command.seconds is not None]
        return "after" in roles[len(roles) - roles[::-1].index("before") :] if "before" in roles else False

    def _end_unfinished(self) -> None:
        last = self.record.commands[-1] if self.record.commands else None
        if last is not None and last.seconds is None:
            kill_marked(MARK, self._mark(last.number))
            self._replace_last(seconds=time.time() - last.started_at, reason="mawl was killed meanwhile")

    def _run(
        self, role: CommandRole, arm: str, command: str, seconds: float, run: str | None = None
    ) -> SettingCommand:
        """Run a command; the record has it before it begins and when it has ended."""
        number = len(self.record.commands) + 1
        output = f"{OUTPUTS}/{number:03}-{role}.log"
        if not self._undoing:
            (self.folder / OUTPUTS).mkdir(exist_ok=True)
        begun = SettingCommand(
            number=number, role=role, arm=arm, command=command, output=output, started_at=time.time(), run=run
        )
        self._note(commands=[*self.record.commands, begun])
        try:
            ended = run_command(
                command,
                self.folder / output,
                seconds,
                self._mark(number),
                self.record.directory,
                self._environment,
                in_memory=self._undoing,
            )
        except KeyboardInterrupt:
            self._replace_last(seconds=time.time() - begun.started_at, reason="it was interrupted")
            raise
        return self._replace_last(**ended._asdict())

    def _mark(self, number: int) -> str:
        return f"{self.record.mark}-{number}"

    def _replace_last(self, **changes: object) -> SettingCommand:
        *others, last = self.record.commands
        last = msgspec.structs.replace(last, **changes)
        self._note(commands=[*others, last])
        return last

    def _note(self, **changes: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)
        try:
            write_settings(self.folder, self.record)
        except OSError as error:
            if not self._undoing:
                raise
            self._say(f"settings.json is not up to date: {(error.strerror or str(error)).lower()}")

    @contextlib.contextmanager
    def _at_any_cost(self) -> Iterator[None]:
        """In the block a record that cannot be written stops nothing."""
        self._undoing = True
        try:
            yield
        finally:
            self._undoing = False


def new_record(campaign: Campaign) -> SettingRecord:
    """The record of a campaign whose arms have changed nothing yet."""
    return SettingRecord(
        campaign=campaign.name,
        machine=campaign.machine.name,
        directory=campaign.directory,
        mark=secrets.token_hex(8),
    )


def as_asked(setting: ArmSetting, reading: CheckReading) -> bool:
    return reading.exit_status == 0 and setting.expect in (None, reading.printed)


def not_undone(changed: ChangedSetting, undone: SettingCommand, found: CheckReading) -> str:
    setting, before = changed.setting, changed.original
    after = f"{setting.after!r} ended with {_end_words(undone)}"
    if found == before:
        return (
            f"it is not known whether {setting.name} is what it was before arm {changed.arm}: it reads "
            f"{found.words()} as before, and {after}"
        )
    return (
        f"{setting.name} is not what it was before arm {changed.arm} changed it: it reads {found.words()} "
        f"and read {before.words()} before; {after}"
    )


def undo_sentence(changed: ChangedSetting, folder: Path) -> str:
    """One sentence: what a campaign whose process is gone left changed, and how to undo it."""
    setting = changed.setting
    return (
        f"{folder}: arm {changed.arm} changed {setting.name}, and it may still be changed (it read "
        f"{changed.original.words()} before); undo it with {setting.after!r}, or with "
        f"mawl clean --yes --runs {shlex.quote(str(folder.parent))}"
    )


def _fault(arm: Arm, role: CommandRole, run: str) -> str:
    if role == "kept":
        return f"was no longer as the arm asks for when run {run} ended, so that run does not count"
    changes = arm.setting is not None and arm.setting.before is not None
    return "did not take" if changes else "is not as the arm asks for"


def _need_answer(arm: Arm, setting: ArmSetting, command: SettingCommand) -> None:
    if not command.answered:
        raise MawlError(
            f"arm {arm.name}: {setting.name} cannot be read back",
            where=setting.check,
            why=_end_words(command),
        )


def _end_words(command: SettingCommand) -> str:
    outcome = command.reason or f"exit status {command.exit_status}"
    first = command.printed.splitlines()[0] if command.printed else ""
    return f"{outcome}: {first[:200]}" if first else outcome
