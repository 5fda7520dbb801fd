"""space: the file systems under the roles were not nearly full."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_bytes, format_percent

NAME = "space"
LEAST_FREE_RATIO = value_of("validity.space.least_free_ratio")
"""File systems and flash slow down when less than about a tenth is free."""


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Free space at the start, less the space that the plan needs, as a share of the file system."""
    if not reading.facts.free_space:
        reason = "the free space before the start was not measured"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]
    findings = []
    for space in reading.facts.free_space:
        left = space.free_bytes - (space.needed_bytes or 0)
        if space.size_bytes <= 0 or left >= LEAST_FREE_RATIO * space.size_bytes:
            continue
        findings.append(
            Finding(
                rule=NAME,
                severity="preliminary",
                sentence=f"the file system of {', '.join(space.roles)} had {format_bytes(max(left, 0))} to "
                f"spare, {format_percent(max(left, 0) / space.size_bytes)} of its size",
                cure="free space there, or name larger directories with "
                + ", ".join(f"--{role}" for role in space.roles),
            )
        )
    return findings


check_import = no_file_says(NAME, "no file says what was free before")
