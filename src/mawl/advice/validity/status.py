"""The status of a run from what the rules found: publishable, preliminary or invalid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mawl.advice.validity.host import CLOCK, COMPETITION, FREQUENCY, OVERHEAD, SAMPLING, STEAL, SWAP
from mawl.advice.validity.storage import COVERAGE, DRIFT, SPACE, WRITEBACK
from mawl.advice.validity.workload import DURATION, JOBS, REACH, REPEATS, RESIDENCY, SCALE, check_simulated
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured, Validity

Status = Literal["publishable", "preliminary", "invalid"]

RULES = {
    rule.name: rule
    for rule in (
        JOBS,
        REACH,
        SCALE,
        DURATION,
        REPEATS,
        RESIDENCY,
        COMPETITION,
        WRITEBACK,
        CLOCK,
        COVERAGE,
        SAMPLING,
        SWAP,
        STEAL,
        FREQUENCY,
        DRIFT,
        SPACE,
        OVERHEAD,
    )
}
"""Every rule by its name, in the order of the report; one that says nothing is met."""

ORDER: tuple[Severity, ...] = ("invalid", "preliminary", "remark")


def status(said: Sequence[Finding | Unmeasured]) -> Status:
    worst = {one.severity for one in said}
    return "invalid" if "invalid" in worst else "preliminary" if "preliminary" in worst else "publishable"


def validity_of(view: RunView) -> Validity:
    """``validity`` of the summary: findings with the gravest first, what is not known in the rules' order."""
    if view.facts.kind == "simulated":
        said: list[Finding | Unmeasured] = [*check_simulated(view)]
    elif view.facts.kind == "imported":
        said = [one for rule in RULES.values() for one in rule.check_import(view)]
    else:
        said = [one for rule in RULES.values() for one in rule.check(view)]
    found = [one for one in said if isinstance(one, Finding)]
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    unknown = [one for one in said if isinstance(one, Unmeasured)]
    return Validity(status=status(said), findings=found, unmeasured=unknown)
