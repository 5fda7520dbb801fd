"""A rule of validity, and what it says of an imported run: mawl did not measure it.

No option of mawl fixes a finding of an import.  What no file can tell is unmeasured with its reason, so that
an import is never publishable by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured

RuleResults = Sequence[Finding | Unmeasured]
Check = Callable[[RunView], RuleResults]


class ValidityRule(NamedTuple):
    """A rule: what it says of a measured run, and of one that was imported; nothing where it is met."""

    name: str
    check: Check
    check_import: Check


def no_file_says(rule: str, reason: str, severity: Severity = "preliminary") -> Check:
    """The check of a rule whose figure is in no file."""
    return lambda _: [Unmeasured(rule=rule, severity=severity, reason=reason)]


def with_cure(said: RuleResults, cure: str) -> RuleResults:
    """The same with another fix."""
    return [msgspec.structs.replace(one, cure=cure) if isinstance(one, Finding) else one for one in said]


def with_reason(said: RuleResults, reason: str, reading: RunView) -> RuleResults:
    """The same with another reason of what is unmeasured; where there are samples, it was not recorded."""
    why = reading.why_not_drawn or reason
    return [msgspec.structs.replace(one, reason=why) if isinstance(one, Unmeasured) else one for one in said]
