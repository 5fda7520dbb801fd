"""A campaign: its record (``campaign.json``), the changed settings (``settings.json``), and its figures.

Points in time are seconds since the epoch here.  ``campaign.json`` has them as ISO 8601 text (UTC),
``settings.json`` as these numbers.  See docs/design/campaigns.md and docs/design/arm-settings.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mawl.records.definitions import count
from mawl.records.spec.campaign import ArmSetting
from mawl.records.spec.run_spec import RunSpec
from mawl.records.spec.task import RunOutcome

SETTING_FORMAT_VERSION = "1.0"
"""Of ``settings.json``."""

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
        said = (
            command
            for command in self.commands
            if (command.arm, command.role) == (arm, "original") and command.answered
        )
        return next((one.reading for one in said), None)


class SettingRead(msgspec.Struct, frozen=True, kw_only=True):
    """A setting in the record of a run: what ``check`` said before the run, and again at its end."""

    name: str
    read: str
    changed: bool
    """Whether the campaign made it so; otherwise it was only checked."""


PAGE = "docs/design/campaigns.md"
SMT = "docs/design/threads.md, Modes as an experiment"
ARM_SETTINGS = "docs/design/arm-settings.md"
STATUS = "docs/design/validity.md, Status"
ORDER, SPREAD, KNEE, SCALING = (
    f"{PAGE}, {heading}" for heading in ("Order", "Spread", "The knee", "Scaling over nodes")
)

CAMPAIGN_FORMAT_VERSION = "2.1"
"""History of ``campaign.json``

  1.0  first: arms have words of ``mawl run``, the campaign words and settings that all runs share
  2.0  each arm has the whole spec of its runs, the campaign the spec that they vary; a campaign of format 1
       is read and reported, and not continued
  2.1  an arm may have a setting outside mawl, and a run's place in its campaign what was read of it;
       the kind smt
"""

CampaignKind = Literal["repeat", "ab", "find-sessions", "scaling", "search", "smt"]
SlotState = Literal["planned", "running", "finished", "refused"]
CampaignOutcome = Literal["running", "completed", "failed", "interrupted"]


class CampaignPart(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a run in its campaign; ``position`` counts from 1, and 0 is the warm-up run.

    ``settings`` is what was read of settings around this run, where an arm of the campaign changes one.
    """

    name: str
    kind: CampaignKind
    arm: str
    position: int
    settings: list[SettingRead] = []


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """What is run: ``spec`` is all of it, None in a campaign of format 1.

    ``size`` is what a series varies, where it varies a number: sessions, nodes, or threads of a core.
    ``setting`` is what it changes, or checks, outside mawl.
    """

    name: str
    workload: str
    spec: RunSpec | None = None
    title: str = ""
    size: int | None = None
    setting: ArmSetting | None = None


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an arm, planned or made; ``folder`` is relative to the campaign's.

    ``refused``: the machine cannot start it, ``reason`` says why.  ``interrupted`` are the folders of
    attempts that were killed or stopped and then made again.
    """

    position: Annotated[
        int,
        count(
            "Place of the run in the order of the campaign, from 1; 0 is the warm-up run, which counts "
            "in no figure.",
            ORDER,
        ),
    ]
    arm: str
    state: SlotState = "planned"
    folder: str | None = None
    run_id: str | None = None
    outcome: RunOutcome | None = None
    reason: str | None = None
    interrupted: list[str] = []


class CampaignMachine(msgspec.Struct, frozen=True, kw_only=True):
    """Where a campaign began; it goes on only there."""

    name: str | None = None
    cpu_model: str | None = None
    cores: Annotated[
        int | None, count("Logical processors of the machine where the campaign began.", ORDER)
    ] = None


class SessionSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of ``--find-sessions``: numbers of sessions, and the runs that settle a number at the knee."""

    first: int
    most: int
    runs_each: int


class Campaign(msgspec.Struct, frozen=True, kw_only=True):
    """Identity, question, arms and slots of a campaign, and what its runs are started with.

    ``spec`` is what the arms vary, None in a campaign of format 1; ``directory`` the working directory in
    which each run is started.
    """

    name: str
    kind: CampaignKind
    created_at: float
    outcome: CampaignOutcome
    mawl_version: str
    machine: CampaignMachine
    directory: str
    arms: list[Arm]
    slots: list[Slot]
    warm_up: Slot | None = None
    """A run of the first arm before all others, at position 0: it is kept, and counts in no figure."""
    format_version: str = CAMPAIGN_FORMAT_VERSION
    ended_at: float | None = None
    reason: str | None = None
    """Why it did not complete."""
    spec: RunSpec | None = None
    search: SessionSearch | None = None
    remarks: list[str] = []

    def arm(self, name: str) -> Arm:
        """An arm by its name; KeyError where there is none."""
        return {arm.name: arm for arm in self.arms}[name]
