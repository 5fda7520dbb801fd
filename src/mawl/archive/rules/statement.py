"""V27 statement: the maker says who they are and what a buyer would order."""

from __future__ import annotations

from mawl.archive.layout import MANIFEST
from mawl.archive.manifest import WANTED
from mawl.archive.rules.rule import Fault, ValidationRule
from mawl.archive.subject import ValidationSubject


def _check(subject: ValidationSubject) -> list[Fault] | None:
    if subject.pack is None:
        return None
    statement = subject.pack.manifest.statement
    empty = [name for name in WANTED if not getattr(statement, name).strip()]
    if not empty:
        return []
    sentence = f"the statement says nothing of {', '.join(empty)}"
    cure = "fill in a file and pack with --statement FILE.toml"
    return [Fault(where=MANIFEST, sentence=sentence, cure=cure)]


RULE = ValidationRule(
    number=27,
    name="statement",
    title="The statement of the maker is complete",
    shows=f"The statement has {', '.join(WANTED)}.",
    limits="Whether the statement is true.",
    check=_check,
)
