"""The page of the rules of ``mawl validate``: what each shows, and what it cannot show."""

from __future__ import annotations

from mawl.advice.judge import RULES as VALIDITY
from mawl.archive.publication import EVERY
from mawl.archive.subject import ValidationRule
from mawl.records.model.thresholds import THRESHOLDS, thresholds_of
from mawl.reports.judgement import shown
from tools import papers_judged
from tools.markdown import table

SHARED = {"reach": "answer.least_reach_ratio", "frequency": "validity.drift.fewest_windows"}
"""Thresholds of rules that other rules or answers use, too, and that have their names from there."""


def rules_page() -> list[str]:
    """All rules with what each shows and which thresholds decide it, and what the papers say of them."""
    rows = [
        (f"[{rule.label}](#{_head(rule).replace(' ', '-').lower()})", rule.name, rule.title) for rule in EVERY
    ]
    return [
        "# Rules of validate",
        "",
        "`mawl validate` asks these rules of a pack, a run or a campaign, in this order.",
        "A subject is accepted if every rule is passed or not asked. A number is never used again.",
        "[What a validator can prove](../design/archive.md) says what all rules together cannot show.",
        "",
        *table(("rule", "name", "title"), rows),
        *(line for rule in EVERY for line in _rule(rule)),
        *papers_judged.section(),
    ]


def _head(rule: ValidationRule) -> str:
    return f"{rule.label} {rule.name}"


def _rule(rule: ValidationRule) -> list[str]:
    """One rule, with the thresholds that decide it."""
    lines = [f"## {_head(rule)}", "", f"{rule.title}.", ""]
    lines += [f"**Shows:** {rule.shows}", "", f"**Does not show:** {rule.limits}", ""]
    decides = thresholds_of([f"validity.{rule.name}"]) if rule.name in VALIDITY else []
    if rule.name in SHARED:
        decides = [*decides, THRESHOLDS[SHARED[rule.name]]]
    rows = [(f"`{one.name}`", shown(one.value, one.unit), one.meaning) for one in decides]
    return lines + (table(("threshold", "value", "meaning"), rows) if rows else [])
