"""The rules of ``mawl validate`` held against the papers whose results mawl ships: a table from their words.

``papers_judged.toml`` has the words, and what they say to a rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from mawl.archive.rules.every import EVERY
from mawl.config.published import papers
from mawl.spec import toml
from tools.markdown import table

WORDS = Path(__file__).with_suffix(".toml")
SILENT = "not said"


class PaperRuling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a paper's ``words`` say to a rule."""

    state: Literal["met", "not met", "not said"]
    words: str


PaperRulings = dict[str, dict[str, PaperRuling]]


def papers_judged() -> PaperRulings:
    """Paper to rule to what it says."""
    return toml.load(WORDS, PaperRulings)


def section() -> list[str]:
    """The papers by rule, and the words behind each."""
    judged = papers_judged()
    keys = [paper.source.key for paper in papers()]
    named = {rule for rulings in judged.values() for rule in rulings}
    rules = [rule for rule in EVERY if rule.name in named]
    rows = [
        (
            f"{rule.label} {rule.name}",
            *(judged[key][rule.name].state if rule.name in judged[key] else SILENT for key in keys),
        )
        for rule in rules
    ]
    silent = ", ".join(rule.name for rule in EVERY if rule.name not in named)
    words = [
        (f"`{key}`", f"{rule.label} {rule.name}", judged[key][rule.name].words)
        for key in keys
        for rule in rules
        if rule.name in judged[key]
    ]
    return [
        "## The published papers",
        "",
        "What the papers behind `mawl published` say of themselves, held against the rules.",
        "They were written for other readers and before these rules.",
        "None is accepted, because none publishes what its figures were computed from.",
        "`not said` is no reproach: the paper says nothing of it, or too little to tell.",
        "",
        *table(("rule", *(f"`{key}`" for key in keys)), rows),
        f"None of them says anything to the other rules: {silent}.",
        "",
        *table(("paper", "rule", "what it says"), words),
    ]
