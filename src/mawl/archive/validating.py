"""What the rules say of a subject, together."""

from __future__ import annotations

import msgspec

from mawl.archive.manifest import Division, SubmitterStatement
from mawl.archive.rules.every import EVERY, INTACT
from mawl.archive.rules.rule import Ruling, ruling
from mawl.archive.subject import ValidationSubject


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
