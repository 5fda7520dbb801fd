"""A rule of validity, and what it says of an imported run: mawl did not measure it.

No option of mawl fixes a finding of an import.  What no file can tell is unmeasured with its reason, so that
an import is never publishable by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured


class Breach(NamedTuple):
    """What a run does not keep, and how to change that."""

    sentence: str
    cure: str
    severity: Severity = "preliminary"


class Unknown(NamedTuple):
    """Why it is not known whether a run keeps a rule."""

    reason: str
    severity: Severity = "preliminary"


Claims = Sequence[Breach | Unknown]
Check = Callable[[RunView], Claims]


class ValidityRule(NamedTuple):
    """A rule: what it says of a measured run, and of one that was imported; nothing where it is met.

    Its thresholds are those of ``validity.NAME``.  ``in_files`` is the check of an import, or the reason why
    no file of one can tell.
    """

    name: str
    check: Check
    in_files: Check | Unknown

    def results(self, view: RunView, *, imported: bool = False) -> list[Finding | Unmeasured]:
        """Findings and what is not known, with the name of the rule."""
        if not imported:
            claims = self.check(view)
        else:
            claims = [self.in_files] if isinstance(self.in_files, Unknown) else self.in_files(view)
        return [
            Unmeasured(rule=self.name, severity=claim.severity, reason=claim.reason)
            if isinstance(claim, Unknown)
            else Finding(rule=self.name, severity=claim.severity, sentence=claim.sentence, cure=claim.cure)
            for claim in claims
        ]


def in_recordings(check: Check, reason: str, cure: str | None = None) -> Check:
    """The same check of an import, with another reason of what is not known and another fix.

    If there are samples, what is not known was not recorded.
    """

    def checked(view: RunView) -> Claims:
        return [
            claim._replace(reason=view.why_not_drawn or reason)
            if isinstance(claim, Unknown)
            else claim._replace(cure=cure or claim.cure)
            for claim in check(view)
        ]

    return checked
