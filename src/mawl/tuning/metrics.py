"""Definitions of the figures of ``mawl tune check --json``; their names begin with ``tune.`` here."""

from __future__ import annotations

from mawl.definitions.metric import (
    Metric,
    count_metric,
    flag_metric,
    object_metric,
    ratio_metric,
    text_metric,
)

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
