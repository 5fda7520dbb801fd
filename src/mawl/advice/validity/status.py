"""The status of a run from what the rules found: publishable, preliminary or invalid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from mawl.advice.validity import (
    clock,
    competition,
    coverage,
    drift,
    duration,
    frequency,
    imported,
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

RULES: dict[str, Callable[[RunView], Sequence[Finding | Unmeasured]]] = {
    module.NAME: module.check
    for module in (
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
}
"""Every rule by its name, in the order of the report; one that says nothing is met."""

ORDER: tuple[Severity, ...] = ("invalid", "preliminary", "remark")


def findings(reading: RunView) -> list[Finding]:
    """What every rule found, the gravest first."""
    return _apart(reading)[0]


def unmeasured(reading: RunView) -> list[Unmeasured]:
    """The rules whose figures the run does not have."""
    return _apart(reading)[1]


def status(said: Sequence[Finding | Unmeasured]) -> Status:
    """Publishable where nothing that was found, or could not be, is worse than a remark."""
    worst = {one.severity for one in said}
    return "invalid" if "invalid" in worst else "preliminary" if "preliminary" in worst else "publishable"


def validity_of(view: RunView) -> Validity:
    """``validity`` of the summary."""
    found, unknown = _apart(view)
    return Validity(status=status([*found, *unknown]), findings=found, unmeasured=unknown)


def _apart(reading: RunView) -> tuple[list[Finding], list[Unmeasured]]:
    """What the rules found, the gravest first, and what they could not tell, in their order."""
    rules = {"imported": imported.RULES, "simulated": simulated.RULES}.get(reading.facts.kind, RULES)
    said = [one for check in rules.values() for one in check(reading)]
    found = [one for one in said if isinstance(one, Finding)]
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    return found, [one for one in said if isinstance(one, Unmeasured)]
