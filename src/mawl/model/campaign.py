"""What ``campaign.json`` holds: several runs made to answer one question (docs/design/campaigns.md).

Points in time are seconds since the epoch here and ISO 8601 (UTC) in the file.

History of the format
  1.0  first: arms have words of ``mawl run``, the campaign words and settings that all runs share
  2.0  each arm has the whole spec of its runs, the campaign the spec that they vary; a campaign of format 1
       is read and reported, and not continued
  2.1  an arm may have a setting outside mawl, and a run's place in its campaign what was read of it;
       the kind smt
"""

from __future__ import annotations

from typing import Literal

import msgspec

from mawl.model.arm_setting import SettingRead
from mawl.spec.answer import RunOutcome
from mawl.spec.arm_setting import ArmSetting
from mawl.spec.record import RunSpec

CAMPAIGN_FORMAT_VERSION = "2.1"

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

    position: int
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
    cores: int | None = None


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
