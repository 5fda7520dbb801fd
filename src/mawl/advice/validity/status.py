"""The status of a run from what the rules found: publishable, indicative or invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from mawl.advice.evidence import Finding, Reading, Severity
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
    space,
    steal,
    swap,
)

Status = Literal["publishable", "indicative", "invalid"]

RULES: dict[str, Callable[[Reading], list[Finding]]] = {
    module.NAME: module.check
    for module in (
        jobs,
        reach,
        scale,
        duration,
        repeats,
        residency,
        competition,
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
"""Every rule by its name, in the order of the report."""

ORDER: tuple[Severity, ...] = ("invalid", "indicative", "remark")


def findings(reading: Reading) -> list[Finding]:
    """What every rule found, the gravest first."""
    found = [finding for check in RULES.values() for finding in check(reading)]
    return sorted(found, key=lambda finding: ORDER.index(finding.severity))


def status(found: list[Finding]) -> Status:
    """Publishable where no finding is worse than a remark."""
    worst = {finding.severity for finding in found}
    return "invalid" if "invalid" in worst else "indicative" if "indicative" in worst else "publishable"


def validity_block(reading: Reading) -> dict[str, Any]:
    """``validity`` of the summary."""
    found = findings(reading)
    return {"status": status(found), "findings": [msgspec.to_builtins(finding) for finding in found]}
