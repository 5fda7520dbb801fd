"""All rules applied to a subject, and their outcome as text and as checks for CI."""

from __future__ import annotations

import msgspec

from mawl.advice.conditions import ConditionCheck
from mawl.advice.conditions import State as CheckState
from mawl.archive.manifest import Division, SubmitterStatement
from mawl.archive.publication import EVERY, INTACT
from mawl.archive.subject import Ruling, State, ValidationSubject, ruling
from mawl.base.printable import printable
from mawl.base.units import counted_noun
from mawl.reports.layout import LINE_WIDTH, wrapped


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """``accepted``: every rule that is asked was passed.  ``intact``: those of V01 to V07 were.

    ``division`` and ``statement`` are those of a pack, None for a folder.
    """

    subject: str
    accepted: bool
    intact: bool
    division: Division | None
    statement: SubmitterStatement | None
    runs: list[str]
    rulings: list[Ruling]


def validate(subject: ValidationSubject) -> Validation:
    """Ask every rule."""
    rulings = [ruling(rule, subject) for rule in EVERY]
    met = [one.state in ("passed", "not asked") for one in rulings]
    intact = [is_met for rule, is_met in zip(EVERY, met, strict=True) if rule.number in INTACT]
    manifest = None if subject.pack is None else subject.pack.manifest
    readable = bool(subject.runs)
    return Validation(
        subject=subject.name,
        accepted=all(met) and readable,
        intact=all(intact) and readable,
        division=None if manifest is None else manifest.division,
        statement=None if manifest is None else manifest.statement,
        runs=list(subject.folders),
        rulings=rulings,
    )


MOST_FAULTS = 5
CHECKS: dict[State, CheckState] = {
    "passed": "not met",
    "not asked": "not met",
    "failed": "failed",
    "not known": "not known",
}


def render(validation: Validation, width: int = LINE_WIDTH) -> str:
    """A line for each rule, what it found, and the answer, in lines of ``width``."""
    lines = [*wrapped(_head(validation), width, "  "), ""]
    for one in validation.rulings:
        lines += wrapped(f"{one.rule}  {one.state:<9}  {one.title}", width, " " * 16)
        told = [
            f"{printable(fault.where)}: {printable(fault.sentence)}" for fault in one.faults[:MOST_FAULTS]
        ]
        if len(one.faults) > MOST_FAULTS:
            told.append(f"and {len(one.faults) - MOST_FAULTS} more")
        told += [f"fix: {cure}" for cure in dict.fromkeys(fault.cure for fault in one.faults)]
        lines += [line for text in told for line in wrapped(f"       {text}", width, " " * 9)]
    answer = (line for text in _answer(validation) for line in wrapped(text, width, "  "))
    return "\n".join([*lines, "", *answer]) + "\n"


def checks_of(validation: Validation) -> list[ConditionCheck]:
    """Each rule as a check of ``--junit``."""
    return [
        ConditionCheck(
            name=f"{one.rule} {one.name}",
            subject=validation.subject,
            state=CHECKS[one.state],
            sentence=_sentence(one),
        )
        for one in validation.rulings
    ]


def _sentence(one: Ruling) -> str:
    if not one.faults:
        return f"{one.title}: {one.state}"
    return "; ".join(f"{fault.where}: {fault.sentence}" for fault in one.faults[:MOST_FAULTS])


def _head(validation: Validation) -> str:
    runs = counted_noun(len(validation.runs), "run")
    division = "" if validation.division is None else f", {validation.division} division"
    submitter = validation.statement.submitter if validation.statement is not None else ""
    said = f", submitted by {printable(submitter)}" if submitter else ""
    return f"{printable(validation.subject)}: {runs}{division}{said}"


def _answer(validation: Validation) -> list[str]:
    failed = [one.rule for one in validation.rulings if one.state == "failed"]
    unknown = [one.rule for one in validation.rulings if one.state == "not known"]
    if validation.accepted:
        return ["accepted: every rule is met"]
    parts = [
        f"{name} {', '.join(rules)}" for name, rules in (("failed", failed), ("not known", unknown)) if rules
    ]
    kept = (
        "its figures are those of its tables, and are not fit to publish"
        if validation.intact
        else "its figures cannot be relied on"
    )
    return [f"not accepted: {'; '.join(parts) or 'no run could be read'}", kept]
