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
    text_metric("tune.unread.*.file", "File of a collection that told nothing.", COLLECTION),
    text_metric("tune.unread.*.reason", "Why.", COLLECTION),
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
