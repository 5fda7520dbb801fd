"""Records of tuning: profiles with their settings, the result of a check, and the definitions of its figures.

The profiles are in ``mawl/tuning/profiles``, one TOML file each (docs/design/tuning.md);
``tuning.profile_files`` reads and checks them.  Values are in the unit that ``unit`` names;
``printed`` is what the source prints and its command takes, where that is not the same text.  Names of
figures of ``mawl tune check --json`` begin with ``tune.`` here.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from mawl.records.definitions import Metric, block, count, flag, listing, share, text
from mawl.records.model.fields import metrics_of
from mawl.records.model.published import Citation

PAGE = "docs/design/tuning.md"
CHECK = f"{PAGE}, The check"
COLLECTION = f"{PAGE}, Collections"
PROFILES = f"{PAGE}, Profiles"

Value = bool | int | float | str
Unit = Literal["bytes", "pages", "count", "ratio", "percent", "seconds", "bits per second", "code", "text"]
Relieved = Literal["storage", "cpu", "memory", "network"]
"""The limits of a verdict (``limit.losses``) that a setting can relieve."""
Rule = Literal["equal", "at least", "at most", "one of", "advice"]
"""How a current value is compared; ``advice`` is a sentence that no value can be compared with."""
Kind = Literal["changed", "left at default", "observed", "advice"]
"""``left at default``: the source names it and did not change it; ``observed``: nobody can set it."""
Platform = Literal["linux", "aix", "spectrum scale", "storage", "any"]
Text = Annotated[str, Meta(min_length=1, max_length=600)]

UNIT_RANGES: dict[Unit, tuple[float, float]] = {
    "bytes": (0, 2**63),
    "pages": (0, 2**53),
    "count": (-1, 2**63),
    "ratio": (0, 1),
    "percent": (0, 200),
    "seconds": (0, 10**9),
    "bits per second": (0, 10**13),
    "code": (-1, 2**31),
}
"""What a value of a unit can be at all; ``range`` of a setting narrows it.  A percentage goes to 200 for
vm.swappiness alone, a count to -1 where that stands for no limit."""


class SettingEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting of a file.  What is None comes from its group.

    ``figure`` is its name in the inventory where that is another; ``bounded_by`` the figure beyond which
    the subject cannot go: a value that reaches it is as recommended.
    """

    name: Text
    recommended: Value | list[Value] | None = None
    default: Value | None = None
    printed: Text | None = None
    default_printed: Text | None = None
    unit: Unit | None = None
    range: tuple[float, float] | None = None
    figure: Text | None = None
    bounded_by: Text | None = None
    rule: Rule | None = None
    when: dict[str, Value | list[Value]] | None = None
    condition: Text | None = None
    why: Text | None = None
    read: Text | None = None
    change: Text | None = None
    persist: Text | None = None
    relieves: list[Relieved] | None = None
    source: Text | None = None
    section: Text | None = None


class SettingGroup(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that are read, changed and cited alike.

    ``family`` is that of the inventory (``records.model.series_metrics``) or of the AIX command whose
    output an import or a collection holds; None for what mawl cannot read.  The settings are for subjects
    with the figures of ``when``, and not for those with one of ``unless``.  ``kept`` are settings that the
    source names with their value and did not change; ``observed`` those that nobody can set.
    """

    name: Text
    read: Text
    source: Text
    section: Text
    subject: str = ""
    family: Text | None = None
    subjects: Text | None = None
    why: Text | None = None
    condition: Text | None = None
    when: dict[str, Value | list[Value]] = {}
    unless: dict[str, Value | list[Value]] = {}
    change: Text | None = None
    persist: Text | None = None
    relieves: list[Relieved] = []
    unit: Unit = "count"
    rule: Rule = "equal"
    settings: list[SettingEntry] = []
    kept: dict[str, Value] = {}
    kept_units: dict[str, Unit] = {}
    observed: list[str] = []


class ProfileFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of ``mawl/tuning/profiles``.

    ``checked``: ``mawl tune check`` uses it without being told to; with ``network_storage`` only where a
    role lies on a file system of another machine.  ``release`` is a pattern of the SAS release in a log:
    where that is known it decides, and ``checked`` where it is not.
    """

    title: Text
    platform: Platform
    groups: list[SettingGroup]
    checked: bool = False
    network_storage: bool = False
    release: Text | None = None
    condition: Text | None = None
    sources: list[Citation] = []


class SettingSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where an entry stands: the key of a published paper or of the profile's citation, and the section."""

    key: str
    section: str


class TuningSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with everything its group says of it, too.

    ``subject`` tells entries of one name apart (a tier, a storage); ``figure`` is its name in the
    inventory; ``subjects`` is a pattern of what it is of (devices, adapters), None for any.
    """

    name: str
    profile: str
    group: str
    subject: str
    kind: Kind
    unit: Unit
    default: Value | None
    recommended: Value | list[Value] | None
    printed: str | None
    default_printed: str | None
    rule: Rule
    range: tuple[float, float] | None
    condition: str | None
    when: dict[str, Value | list[Value]]
    unless: dict[str, Value | list[Value]]
    why: str | None
    read: str
    change: str | None
    persist: str | None
    relieves: list[Relieved]
    family: str | None
    figure: str
    bounded_by: str | None
    subjects: str | None
    source: SettingSource


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A profile with its settings in the order of the file."""

    name: str
    title: str
    platform: Platform
    checked: bool
    network_storage: bool
    release: str | None
    condition: str | None
    sources: list[Citation]
    settings: list[TuningSetting]


State = Literal["differs", "not known", "not collected", "as recommended", "for you to judge"]


class FileUnread(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a collection, or a part of one, from which nothing was read, and why."""

    file: Annotated[str, text("A file, or a part of one, from which nothing was read.", COLLECTION)]
    reason: Annotated[str, text("Why nothing was read from it.", COLLECTION)]


class CheckedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A recommended setting and the current one (``tune.settings``); ``tier`` is its entry's ``subject``."""

    node: Annotated[str, text("Node.", CHECK)]
    subject: Annotated[str, text("Device, mount, interface; empty for the machine.", CHECK)]
    state: Annotated[
        State,
        text(
            "differs, not known, not collected (both with reason), as recommended, or for you to judge.",
            CHECK,
        ),
    ]
    current: Annotated[Value | None, block("What is set, in the unit of the row; null if not known.", CHECK)]
    is_default: Annotated[bool | None, flag("Whether current is default; null if either is not.", CHECK)]
    weight_ratio: Annotated[
        float | None,
        share(
            "Largest limit.losses of what the setting relieves: more of the jobs' time it cannot save.", CHECK
        ),
    ]
    reason: Annotated[str | None, text("Why current is null.", CHECK)]
    name: Annotated[str, text("Name, as the profile has it.", PROFILES)]
    profile: Annotated[str, text("Profile.", PROFILES)]
    group: Annotated[str, text("Group within it.", PROFILES)]
    kind: Annotated[Kind, text("changed, left at default, observed or advice.", PROFILES)]
    unit: Annotated[Unit, text("Unit of current, default and recommended.", PROFILES)]
    default: Annotated[Value | None, block("Value if nothing is changed; null if not printed.", PROFILES)]
    default_printed: Annotated[str | None, text("default as the source prints it, if otherwise.", PROFILES)]
    recommended: Annotated[
        Value | list[Value] | None, block("Value that is recommended, or a list of them.", PROFILES)
    ]
    printed: Annotated[str | None, text("recommended as its command takes it, if otherwise.", PROFILES)]
    rule: Annotated[Rule, text("equal, at least, at most, one of, or advice.", PROFILES)]
    condition: Annotated[str | None, text("When it holds.", PROFILES)]
    why: Annotated[str | None, text("What it does for such a workload.", PROFILES)]
    relieves: Annotated[list[Relieved], listing("Limits of a verdict that it can relieve.", PROFILES)]
    source: Annotated[SettingSource, block("Key of the citation, and section.", PROFILES)]
    tier: Annotated[str, text("What distinguishes entries of one name: a tier, a storage.", PROFILES)]
    figure: Annotated[str, text("Its name in the inventory.", PROFILES)]
    read: Annotated[str | None, text("Where it is read.", PROFILES)]
    change: Annotated[str | None, text("Command that changes it until the next start.", PROFILES)]
    persist: Annotated[str | None, text("What makes it last.", PROFILES)]


class SettingsCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Settings compared with what is recommended: ``tune.`` in docs/reference/metrics.md."""

    run_id: Annotated[
        str | None, text("The run whose settings were compared; null for this machine now.", CHECK)
    ]
    collected: Annotated[
        bool, flag("Whether the settings are from files of what commands printed.", COLLECTION)
    ]
    platform: Annotated[Platform, text("Whose settings they are: linux, aix or spectrum scale.", CHECK)]
    verdict: Annotated[str | None, text("What limited the run (limit.verdict); null without one.", CHECK)]
    nodes: Annotated[list[str], listing("Names of the nodes with an inventory.", CHECK)]
    profiles: Annotated[list[str], listing("Names of the profiles that were compared.", CHECK)]
    release: Annotated[
        str | None,
        text("SAS release in the logs; null: not known, and advice of SAS 9.4 is assumed.", CHECK),
    ]
    counts: dict[str, Annotated[int, count("Rows with this state.", CHECK)]]
    unread: list[FileUnread]
    settings: list[CheckedSetting]


TUNING_METRICS: tuple[Metric, ...] = metrics_of(SettingsCheck, ("tune",))
