"""What a rule is, and what it says of a pack or run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from mawl.archive.subject import ValidationSubject
from mawl.errors import MawlError

State = Literal["passed", "failed", "not known", "not asked"]
"""``not asked``: the rule is about packs, or about something that this one does not have."""


WITHOUT_RUNS = frozenset({1, 2, 3, 27})
"""Rules about the files of a subject, which say the same where a run cannot be read."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a rule found; ``known`` is False where it could not look."""

    where: str
    sentence: str
    cure: str
    known: bool = True


class ValidationRule(msgspec.Struct, frozen=True, kw_only=True):
    """``number`` never changes and is never used again; ``shows`` is what a pass shows, ``limits`` what not.

    ``check`` yields faults; None says that the rule is not asked of such a subject.
    """

    number: int
    name: str
    title: str
    shows: str
    limits: str
    check: Callable[[ValidationSubject], Iterable[Fault] | None]

    @property
    def label(self) -> str:
        """``V04``, as reports and pages call the rule."""
        return f"V{self.number:02}"


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a rule."""

    rule: str
    name: str
    title: str
    state: State
    faults: list[Fault] = []


def ruling(rule: ValidationRule, subject: ValidationSubject) -> Ruling:
    """Ask a rule."""
    try:
        found = rule.check(subject)
        faults = [] if found is None else list(found)
    except MawlError as error:  # a table that cannot be read, which V01 need not have read
        cure = "copy it again from where it was made"
        found = faults = [Fault(where=subject.name, sentence=str(error), cure=cure)]
    if found is not None and not faults and rule.number not in WITHOUT_RUNS:
        faults = [_not_read(name) for name in subject.unreadable]
    state: State = "passed"
    if found is None:
        state = "not asked"
    elif faults:
        state = "failed" if any(fault.known for fault in faults) else "not known"
    return Ruling(rule=rule.label, name=rule.name, title=rule.title, state=state, faults=faults)


def _not_read(run: str) -> Fault:
    return Fault(
        where=run,
        sentence="the run cannot be read, so the rule is not known",
        cure="mend what V01 found, then validate again",
        known=False,
    )
