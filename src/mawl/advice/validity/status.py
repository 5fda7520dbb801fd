"""The status of a run from what the rules found: publishable, preliminary or invalid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from mawl.advice.validity import (
    clock,
    competition,
    coverage,
    drift,
    duration,
    frequency,
    jobs,
    overhead,
    reach,
    repeats,
    residency,
    sampling,
    scale,
    simulated,
    space,
    steal,
    swap,
    writeback,
)
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Severity, Unmeasured, Validity

Status = Literal["publishable", "preliminary", "invalid"]


class ValidityRule(Protocol):
    """A module of this package: what it says of a measured run, and of one that was imported."""

    NAME: str

    def check(self, reading: RunView, /) -> Sequence[Finding | Unmeasured]:
        """What the rule finds in a measured run; nothing where it is met."""

    def check_import(self, reading: RunView, /) -> Sequence[Finding | Unmeasured]:
        """The same of an imported run."""


_RULES: tuple[ValidityRule, ...] = (
    jobs,
    reach,
    scale,
    duration,
    repeats,
    residency,
    competition,
    writeback,
    clock,
    coverage,
    sampling,
    swap,
    steal,
    frequency,
    drift,
    space,
    overhead,
)
RULES = {rule.NAME: rule for rule in _RULES}
"""Every rule by its name, in the order of the report; one that says nothing is met."""

ORDER: tuple[Severity, ...] = ("invalid", "preliminary", "remark")


def status(said: Sequence[Finding | Unmeasured]) -> Status:
    """Publishable where nothing that was found, or could not be, is worse than a remark."""
    worst = {one.severity for one in said}
    return "invalid" if "invalid" in worst else "preliminary" if "preliminary" in worst else "publishable"


def validity_of(view: RunView) -> Validity:
    """``validity`` of the summary: findings with the gravest first, what is not known in the rules' order."""
    if view.facts.kind == "simulated":
        said: list[Finding | Unmeasured] = [*simulated.check(view)]
    elif view.facts.kind == "imported":
        said = [one for rule in RULES.values() for one in rule.check_import(view)]
    else:
        said = [one for rule in RULES.values() for one in rule.check(view)]
    found = [one for one in said if isinstance(one, Finding)]
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    unknown = [one for one in said if isinstance(one, Unmeasured)]
    return Validity(status=status(said), findings=found, unmeasured=unknown)
