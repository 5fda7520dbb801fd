"""The status of a run from what the rules found: publishable, preliminary or invalid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

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


Check = Callable[[RunView], Sequence[Finding | Unmeasured]]


class ValidityRule(NamedTuple):
    """A rule: what it says of a measured run, and of one that was imported; nothing where it is met."""

    NAME: str
    check: Check
    check_import: Check


_RULES = (
    ValidityRule(jobs.NAME, jobs.check, jobs.check_import),
    ValidityRule(reach.NAME, reach.check, reach.check_import),
    ValidityRule(scale.NAME, scale.check, scale.check_import),
    ValidityRule(duration.NAME, duration.check, duration.check_import),
    ValidityRule(repeats.NAME, repeats.check, repeats.check_import),
    ValidityRule(residency.NAME, residency.check, residency.check_import),
    ValidityRule(competition.NAME, competition.check, competition.check_import),
    ValidityRule(writeback.NAME, writeback.check, writeback.check_import),
    ValidityRule(clock.NAME, clock.check, clock.check_import),
    ValidityRule(coverage.NAME, coverage.check, coverage.check_import),
    ValidityRule(sampling.NAME, sampling.check, sampling.check_import),
    ValidityRule(swap.NAME, swap.check, swap.check_import),
    ValidityRule(steal.NAME, steal.check, steal.check_import),
    ValidityRule(frequency.NAME, frequency.check, frequency.check_import),
    ValidityRule(drift.NAME, drift.check, drift.check_import),
    ValidityRule(space.NAME, space.check, space.check_import),
    ValidityRule(overhead.NAME, overhead.check, overhead.check_import),
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
