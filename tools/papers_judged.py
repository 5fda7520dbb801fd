"""The papers whose results mawl ships, compared with the rules of ``mawl validate``.

``papers_judged.toml`` has what each paper says about a rule, and whether it meets the rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from mawl.archive.publication import EVERY
from mawl.archive.qualification import QUALIFICATION_RULES
from mawl.archive.subject import ValidationRule
from mawl.records.model.published import papers
from mawl.records.spec import toml
from tools.markdown import table

OF_RUNS = tuple(rule for rule in EVERY if rule not in QUALIFICATION_RULES)

WORDS = Path(__file__).with_suffix(".toml")
SILENT = "not said"


class PaperRuling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper says about a rule (``words``), and whether that meets the rule (``state``)."""

    state: Literal["met", "not met", "not said"]
    words: str


PaperRulings = dict[str, dict[str, PaperRuling]]


def papers_judged() -> PaperRulings:
    """Paper to rule to what it says."""
    return toml.load(WORDS, PaperRulings)


def _sentence(key: str, rulings: dict[str, PaperRuling], rules: list[ValidationRule]) -> str:
    """How many rules a paper meets by what it says, and which."""
    meets = [rule.label for rule in rules if rule.name in rulings and rulings[rule.name].state == "met"]
    fails = [rule.label for rule in rules if rule.name in rulings and rulings[rule.name].state == "not met"]
    silent = len(OF_RUNS) - len(meets) - len(fails)
    met = f"{len(meets)} of {len(OF_RUNS)} rules" + (f" ({', '.join(meets)})" if meets else "")
    return f"- `{key}` meets {met}, does not meet {', '.join(fails)}, and does not say enough for {silent}."


def section() -> list[str]:
    """The papers by rule, and the words behind each."""
    judged = papers_judged()
    keys = [paper.source.key for paper in papers()]
    named = {rule for rulings in judged.values() for rule in rulings}
    rules = [rule for rule in OF_RUNS if rule.name in named]
    rows = [
        (
            f"{rule.label} {rule.name}",
            *(judged[key][rule.name].state if rule.name in judged[key] else SILENT for key in keys),
        )
        for rule in rules
    ]
    silent = ", ".join(rule.name for rule in OF_RUNS if rule.name not in named)
    words = [
        (f"`{key}`", f"{rule.label} {rule.name}", judged[key][rule.name].words)
        for key in keys
        for rule in rules
        if rule.name in judged[key]
    ]
    return [
        "## The published papers",
        "",
        "This table compares the papers behind `mawl published` with the rules, by what the papers say.",
        "They were written for other readers and before these rules.",
        "No paper is accepted, because none publishes the data that its figures were computed from.",
        "`not said` means that the paper gives no information, or too little to decide.",
        "",
        *table(("rule", *(f"`{key}`" for key in keys)), rows),
        *(_sentence(key, judged[key], rules) for key in keys),
        "",
        f"The papers say nothing about the other rules: {silent}.",
        "",
        *table(("paper", "rule", "what it says"), words),
    ]
