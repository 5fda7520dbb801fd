"""Rules and decisions behind an answer, in rows."""

from __future__ import annotations

from mawl.model.qualification import QualificationAnswer, QualificationChoice
from mawl.units import counted_noun

MET = {True: "yes", False: "NOT MET", None: "not known"}


def rules_rows(answer: QualificationAnswer) -> list[tuple[str, str, str, str]]:
    """Rule, what was found, what is required, and whether that is met; those that are not met come first."""
    order = (False, None, True)
    rules = sorted(answer.rules, key=lambda rule: order.index(rule.met))
    return [(rule.name, rule.value, rule.bound, MET[rule.met]) for rule in rules]


def rules_sentence(answer: QualificationAnswer) -> str:
    """How many rules are not met, and which."""
    failed = [rule.name for rule in answer.rules if rule.met is False]
    unknown = [rule.name for rule in answer.rules if rule.met is None]
    every = counted_noun(len(answer.rules), "rule")
    said = f"{len(failed)} of {every} not met: {', '.join(failed)}" if failed else f"None of {every} failed"
    return f"{said}; not known: {', '.join(unknown)}." if unknown else f"{said}."


def decision_rows(choice: QualificationChoice | None) -> list[tuple[str, str, str]]:
    """What mawl decided by itself, and why."""
    return [] if choice is None else [(one.what, one.value, one.why) for one in choice.decisions]
