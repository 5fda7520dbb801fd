"""The page of the rules of ``mawl validate``: what each shows, and what it cannot show."""

from __future__ import annotations

from mawl.advice.validity.status import RULES as VALIDITY
from mawl.archive.rules.every import EVERY
from mawl.model.thresholds import thresholds_of
from mawl.reporters.thresholds import shown
from tools import papers_judged
from tools.markdown import table


def rules_page() -> list[str]:
    """A section for each rule, with the thresholds that decide it."""
    lines = [
        "# Rules of validate",
        "",
        "`mawl validate` asks these rules of a pack, a run or a campaign, in this order.",
        "A subject is accepted if every rule is passed or not asked. A number is never used again.",
        "[What a validator can prove](../design/archive.md) says what all rules together cannot show.",
        "",
        *table(
            ("rule", "name", "title"),
            [(f"[{rule.label}](#{rule.label.lower()}-{rule.name})", rule.name, rule.title) for rule in EVERY],
        ),
    ]
    for rule in EVERY:
        lines += [f"## {rule.label} {rule.name}", "", f"{rule.title}.", ""]
        lines += [f"**Shows:** {rule.shows}", "", f"**Does not show:** {rule.limits}", ""]
        decides = thresholds_of([f"validity.{rule.name}"]) if rule.name in VALIDITY else []
        if decides:
            rows = [(f"`{one.name}`", shown(one.value, one.unit), one.meaning) for one in decides]
            lines += table(("threshold", "value", "meaning"), rows)
    return [*lines, *papers_judged.section()]
