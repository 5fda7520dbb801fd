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

from mawl.records.definitions import (
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    ratio_metric,
    text_metric,
)
from mawl.records.model.published import Citation

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
    role lies on a file system of another machine.
    """

    title: Text
    platform: Platform
    groups: list[SettingGroup]
    checked: bool = False
    network_storage: bool = False
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
    condition: str | None
    sources: list[Citation]
    settings: list[TuningSetting]


State = Literal["differs", "not known", "not collected", "as recommended", "for you to judge"]


class FileUnread(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a collection, or a part of one, from which nothing was read, and why."""

    file: str
    reason: str


class SettingFound(msgspec.Struct, frozen=True, kw_only=True):
    """A recommended setting and the current one (``tune.settings``); ``tier`` is its entry's ``subject``."""

    node: str
    subject: str
    state: State
    current: Value | None
    is_default: bool | None
    weight_ratio: float | None
    reason: str | None
    name: str
    profile: str
    group: str
    kind: Kind
    unit: Unit
    default: Value | None
    default_printed: str | None
    recommended: Value | list[Value] | None
    printed: str | None
    rule: Rule
    condition: str | None
    why: str | None
    relieves: list[Relieved]
    source: SettingSource
    tier: str
    figure: str
    read: str | None
    change: str | None
    persist: str | None


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Settings compared with what is recommended: ``tune.`` in docs/reference/metrics.md."""

    run_id: str | None
    collected: bool
    platform: Platform
    verdict: str | None
    nodes: list[str]
    profiles: list[str]
    counts: dict[str, int]
    unread: list[FileUnread]
    settings: list[SettingFound]


PAGE = "docs/design/tuning.md"
CHECK = f"{PAGE}, The check"
COLLECTION = f"{PAGE}, Collections"
PROFILES = f"{PAGE}, Profiles"
_ROW = "tune.settings.*."

TUNING_METRICS: tuple[Metric, ...] = (
    text_metric("tune.run_id", "The run whose settings were compared; null for this machine now.", CHECK),
    flag_metric(
        "tune.collected", "Whether the settings are from files of what commands printed.", COLLECTION
    ),
    text_metric("tune.platform", "Whose settings they are: linux, aix or spectrum scale.", CHECK),
    text_metric("tune.verdict", "What limited the run (limit.verdict); null without one.", CHECK),
    Metric("tune.nodes", "-", "list", "Names of the nodes with an inventory.", CHECK),
    Metric("tune.profiles", "-", "list", "Names of the profiles that were compared.", CHECK),
    *(
        count_metric(f"tune.counts.{state}", f"Rows whose state is {state.replace('_', ' ')}.", CHECK)
        for state in ("differs", "not_known", "not_collected", "as_recommended", "for_you_to_judge")
    ),
    text_metric("tune.unread.*.file", "A file, or a part of one, from which nothing was read.", COLLECTION),
    text_metric("tune.unread.*.reason", "Why nothing was read from it.", COLLECTION),
    text_metric(f"{_ROW}node", "Node.", CHECK),
    text_metric(f"{_ROW}subject", "Device, mount, interface; empty for the machine.", CHECK),
    text_metric(
        f"{_ROW}state",
        "differs, not known, not collected (both with reason), as recommended, or for you to judge.",
        CHECK,
    ),
    Metric(f"{_ROW}current", "-", "object", "What is set, in the unit of the row; null if not known.", CHECK),
    flag_metric(f"{_ROW}is_default", "Whether current is default; null if either is not.", CHECK),
    ratio_metric(
        f"{_ROW}weight_ratio",
        "Largest limit.losses of what the setting relieves: more of the jobs' time it cannot save.",
        CHECK,
    ),
    text_metric(f"{_ROW}reason", "Why current is null.", CHECK),
    text_metric(f"{_ROW}name", "Name, as the profile has it.", PROFILES),
    text_metric(f"{_ROW}profile", "Profile.", PROFILES),
    text_metric(f"{_ROW}group", "Group within it.", PROFILES),
    text_metric(f"{_ROW}tier", "What distinguishes entries of one name: a tier, a storage.", PROFILES),
    text_metric(f"{_ROW}figure", "Its name in the inventory.", PROFILES),
    text_metric(f"{_ROW}kind", "changed, left at default, observed or advice.", PROFILES),
    text_metric(f"{_ROW}unit", "Unit of current, default and recommended.", PROFILES),
    object_metric(f"{_ROW}default", "Value if nothing is changed; null if not printed.", PROFILES),
    text_metric(f"{_ROW}default_printed", "default as the source prints it, if otherwise.", PROFILES),
    object_metric(f"{_ROW}recommended", "Value that is recommended, or a list of them.", PROFILES),
    text_metric(f"{_ROW}printed", "recommended as its command takes it, if otherwise.", PROFILES),
    text_metric(f"{_ROW}rule", "equal, at least, at most, one of, or advice.", PROFILES),
    text_metric(f"{_ROW}condition", "When it holds.", PROFILES),
    text_metric(f"{_ROW}why", "What it does for such a workload.", PROFILES),
    Metric(f"{_ROW}relieves", "-", "list", "Limits of a verdict that it can relieve.", PROFILES),
    object_metric(f"{_ROW}source", "Key of the citation, and section.", PROFILES),
    text_metric(f"{_ROW}read", "Where it is read.", PROFILES),
    text_metric(f"{_ROW}change", "Command that changes it until the next start.", PROFILES),
    text_metric(f"{_ROW}persist", "What makes it last.", PROFILES),
)

BEFORE_AFTER = f"{PAGE}, Before and after"
_CHANGE = "changes.settings.*."

CHANGE_METRICS: tuple[Metric, ...] = (
    text_metric("changes.before", "The older settings: a run, or files.", BEFORE_AFTER),
    text_metric("changes.after", "The newer settings: a run, or files.", BEFORE_AFTER),
    Metric("changes.nodes", "-", "list", "Names of the nodes of both sides.", BEFORE_AFTER),
    Metric("changes.profiles", "-", "list", "Names of the profiles that were compared.", BEFORE_AFTER),
    *(
        count_metric(f"changes.counts.{one}", f"Rows whose outcome is {one.replace('_', ' ')}.", BEFORE_AFTER)
        for one in ("changed", "left", "not_checked")
    ),
    text_metric(f"{_CHANGE}node", "Node.", BEFORE_AFTER),
    text_metric(f"{_CHANGE}subject", "Device, mount, interface; empty for the machine.", BEFORE_AFTER),
    text_metric(f"{_CHANGE}name", "Name, as the profile has it; else family and figure.", BEFORE_AFTER),
    text_metric(f"{_CHANGE}outcome", "changed, left, or not checked.", BEFORE_AFTER),
    object_metric(f"{_CHANGE}before", "Older value; null if not known.", BEFORE_AFTER),
    object_metric(f"{_CHANGE}after", "Newer value; null if not known.", BEFORE_AFTER),
    text_metric(f"{_CHANGE}reason", "Why a value is null, for each side.", BEFORE_AFTER),
    text_metric(f"{_CHANGE}state", "tune.settings.*.state of the newer value.", BEFORE_AFTER),
    *(
        Metric(f"{_CHANGE}{name}", metric.unit, metric.type, f"As tune.settings.*.{name}.", BEFORE_AFTER)
        for metric in TUNING_METRICS
        for name in ("unit", "default", "recommended", "rule", "printed", "why", "profile", "tier", "source")
        if metric.name == f"{_ROW}{name}"
    ),
)
"""Definitions of the figures of ``mawl tune compare --json``; their names begin with ``changes.`` here."""
