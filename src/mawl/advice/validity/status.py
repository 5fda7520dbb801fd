"""The status of a run from what the rules found: publishable, preliminary or invalid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from mawl.advice.validity.of_host import (
    CLOCK_NAME,
    COMPETITION_NAME,
    FREQUENCY_NAME,
    OVERHEAD_NAME,
    SAMPLING_NAME,
    STEAL_NAME,
    SWAP_NAME,
    check_clock,
    check_competition,
    check_frequency,
    check_import_clock,
    check_import_competition,
    check_import_frequency,
    check_import_overhead,
    check_import_sampling,
    check_import_steal,
    check_import_swap,
    check_overhead,
    check_sampling,
    check_steal,
    check_swap,
)
from mawl.advice.validity.of_storage import (
    COVERAGE_NAME,
    DRIFT_NAME,
    SPACE_NAME,
    WRITEBACK_NAME,
    check_coverage,
    check_drift,
    check_import_coverage,
    check_import_drift,
    check_import_space,
    check_import_writeback,
    check_space,
    check_writeback,
)
from mawl.advice.validity.of_workload import (
    DURATION_NAME,
    JOBS_NAME,
    REACH_NAME,
    REPEATS_NAME,
    RESIDENCY_NAME,
    SCALE_NAME,
    check_duration,
    check_import_duration,
    check_import_jobs,
    check_import_reach,
    check_import_repeats,
    check_import_residency,
    check_import_scale,
    check_jobs,
    check_reach,
    check_repeats,
    check_residency,
    check_scale,
    check_simulated,
)
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Severity, Unmeasured, Validity

Status = Literal["publishable", "preliminary", "invalid"]


Check = Callable[[RunView], Sequence[Finding | Unmeasured]]


class ValidityRule(NamedTuple):
    """A rule: what it says of a measured run, and of one that was imported; nothing where it is met."""

    NAME: str
    check: Check
    check_import: Check


_RULES = (
    ValidityRule(JOBS_NAME, check_jobs, check_import_jobs),
    ValidityRule(REACH_NAME, check_reach, check_import_reach),
    ValidityRule(SCALE_NAME, check_scale, check_import_scale),
    ValidityRule(DURATION_NAME, check_duration, check_import_duration),
    ValidityRule(REPEATS_NAME, check_repeats, check_import_repeats),
    ValidityRule(RESIDENCY_NAME, check_residency, check_import_residency),
    ValidityRule(COMPETITION_NAME, check_competition, check_import_competition),
    ValidityRule(WRITEBACK_NAME, check_writeback, check_import_writeback),
    ValidityRule(CLOCK_NAME, check_clock, check_import_clock),
    ValidityRule(COVERAGE_NAME, check_coverage, check_import_coverage),
    ValidityRule(SAMPLING_NAME, check_sampling, check_import_sampling),
    ValidityRule(SWAP_NAME, check_swap, check_import_swap),
    ValidityRule(STEAL_NAME, check_steal, check_import_steal),
    ValidityRule(FREQUENCY_NAME, check_frequency, check_import_frequency),
    ValidityRule(DRIFT_NAME, check_drift, check_import_drift),
    ValidityRule(SPACE_NAME, check_space, check_import_space),
    ValidityRule(OVERHEAD_NAME, check_overhead, check_import_overhead),
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
        said: list[Finding | Unmeasured] = [*check_simulated(view)]
    elif view.facts.kind == "imported":
        said = [one for rule in RULES.values() for one in rule.check_import(view)]
    else:
        said = [one for rule in RULES.values() for one in rule.check(view)]
    found = [one for one in said if isinstance(one, Finding)]
    found.sort(key=lambda finding: ORDER.index(finding.severity))
    unknown = [one for one in said if isinstance(one, Unmeasured)]
    return Validity(status=status(said), findings=found, unmeasured=unknown)
