"""The pages of the rules of ``mawl validate``: what each shows, and what it cannot show."""

from __future__ import annotations

from mawl.advice.judge import RULES as VALIDITY
from mawl.archive.publication import EVERY
from mawl.archive.subject import ValidationRule
from mawl.records.model.thresholds import THRESHOLDS, thresholds_of
from mawl.reports.judgement import shown
from tools import papers_judged
from tools.markdown import table

FOLDER = "rules"
"""Where the page of each rule is, below the page of all."""
SHARED = {"reach": "answer.least_reach_ratio", "frequency": "validity.drift.fewest_windows"}
"""Thresholds of rules that other rules or answers use, too, and that have their names from there."""


def page_of(rule: ValidationRule) -> str:
    """The name of a rule's page: ``v06-pages``."""
    return f"{rule.label.lower()}-{rule.name}"


def rules_page() -> list[str]:
    """All rules with their pages, and what the papers say of them."""
    rows = [(f"[{rule.label}]({FOLDER}/{page_of(rule)}.md)", rule.name, rule.title) for rule in EVERY]
    return [
        "# Rules of validate",
        "",
        "`mawl validate` asks these rules of a pack, a run or a campaign, in this order.",
        "A subject is accepted if every rule is passed or not asked. A number is never used again.",
        "The page of a rule says what it shows, what it cannot show, and which thresholds decide it.",
        "[What a validator can prove](../design/archive.md) says what all rules together cannot show.",
        "",
        *table(("rule", "name", "title"), rows),
        *papers_judged.section(),
    ]


def rule_page(rule: ValidationRule) -> list[str]:
    """One rule, with the thresholds that decide it and what the papers say of it."""
    lines = [f"# {rule.label} {rule.name}", "", f"{rule.title}.", ""]
    lines += [f"**Shows:** {rule.shows}", "", f"**Does not show:** {rule.limits}", ""]
    decides = thresholds_of([f"validity.{rule.name}"]) if rule.name in VALIDITY else []
    if rule.name in SHARED:
        decides = [*decides, THRESHOLDS[SHARED[rule.name]]]
    if decides:
        rows = [(f"`{one.name}`", shown(one.value, one.unit), one.meaning) for one in decides]
        lines += table(("threshold", "value", "meaning"), rows)
    said = papers_judged.words_of(rule)
    if said:
        lines += ["## What the papers say", "", *table(("paper", "state", "what it says"), said)]
    return [*lines, "[All rules](../rules.md)"]
