"""``settings.json`` of a campaign: what its arms changed outside mawl, and which commands ran for that
(docs/design/arm-settings.md).

``started_at`` is in seconds since the epoch.

History of the format
  1.0  first
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.spec.arm_setting import ArmSetting

SETTING_FORMAT_VERSION = "1.0"

CANNOT_RUN = (126, 127)
"""Exit status of a shell that may not execute a command, or does not find it."""

CommandRole = Literal["original", "before", "took", "kept", "after", "undone"]
"""Why a command ran: ``before`` and ``after`` change; the others read back with ``check``: before the change,
after it, at the end of a run, and after the change was undone."""


class CheckReading(msgspec.Struct, frozen=True, kw_only=True):
    """What ``check`` said: its exit status (None: it was stopped), and what it printed, without blanks
    around."""

    exit_status: int | None
    printed: str

    def words(self) -> str:
        """What it said, for a sentence."""
        if self.exit_status == 0:
            return repr(self.printed) if self.printed else "exit status 0"
        ended = "no end in time" if self.exit_status is None else f"exit status {self.exit_status}"
        return f"{self.printed!r} and {ended}" if self.printed else ended


class SettingCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that ran, or that was running when its process died (``seconds`` is then None).

    ``run`` is the folder of the run for which ``check`` read back; ``output`` the file with all that the
    command printed, relative to the campaign's folder; ``printed`` is the beginning of that.
    """

    number: int
    role: CommandRole
    arm: str
    command: str
    output: str
    started_at: float
    run: str | None = None
    seconds: float | None = None
    exit_status: int | None = None
    printed: str = ""
    reason: str | None = None
    """Why it did not end by itself."""

    @property
    def answered(self) -> bool:
        """Whether it ended by itself, as a command that the shell could run."""
        return self.exit_status is not None and self.exit_status not in CANNOT_RUN

    @property
    def reading(self) -> CheckReading:
        """Of a command that is a ``check``."""
        return CheckReading(exit_status=self.exit_status, printed=self.printed)


class ChangedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A change that is in force, or may be: recorded before ``before`` runs, taken out once it is undone."""

    arm: str
    setting: ArmSetting
    original: CheckReading
    """Before the change."""
    took: CheckReading | None = None
    """After it; None until that was read."""


class SettingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """``settings.json`` of a campaign.

    ``holder`` is drawn anew by each process that conducts it; ``mark`` once, to find its commands by.
    """

    campaign: str
    machine: str | None
    directory: str
    mark: str
    holder: str = ""
    format_version: str = SETTING_FORMAT_VERSION
    changed: ChangedSetting | None = None
    commands: list[SettingCommand] = []

    def original(self, arm: str) -> CheckReading | None:
        """What ``check`` of an arm said before the first change of the campaign."""
        said = (one for one in self.commands if (one.arm, one.role) == (arm, "original") and one.answered)
        return next((one.reading for one in said), None)


class SettingRead(msgspec.Struct, frozen=True, kw_only=True):
    """A setting in the record of a run: what ``check`` said before the run, and again at its end."""

    name: str
    read: str
    changed: bool
    """Whether the campaign made it so; otherwise it was only checked."""
