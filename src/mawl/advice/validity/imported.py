"""What rules report for an imported run: mawl did not measure it, and no option of mawl would fix it.

What no file can tell is unmeasured with its reason, so that an import is never publishable by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured

Said = Sequence[Finding | Unmeasured]


def no_file_says(
    rule: str, reason: str, severity: Severity = "preliminary"
) -> Callable[[RunView], list[Unmeasured]]:
    """The check of a rule whose figure is in no file."""
    return lambda _: [Unmeasured(rule=rule, severity=severity, reason=reason)]


def with_cure(said: Said, cure: str) -> Said:
    """The same with another fix."""
    return [msgspec.structs.replace(one, cure=cure) if isinstance(one, Finding) else one for one in said]


def with_reason(said: Said, reason: str, reading: RunView) -> Said:
    """The same with another reason of what is unmeasured; where there are samples, it was not recorded."""
    why = reading.why_not_drawn or reason
    return [msgspec.structs.replace(one, reason=why) if isinstance(one, Unmeasured) else one for one in said]
