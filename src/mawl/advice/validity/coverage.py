"""coverage: I/O by role saw what the kernel saw."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_percent

NAME = "coverage"
LEAST_COVERAGE_RATIO = value_of("validity.coverage.least_ratio")
NO_LIBRARY = "install a C compiler, with which mawl builds its counters at first use"
NOT_SEEN = "see what the jobs' remarks name: mapped files, io_uring, static and set-uid programs are not seen"


def check(reading: RunView) -> list[Finding | Unmeasured]:
    """Below 0.95 of the kernel's bytes, shares and waits by role describe only a part of the I/O."""
    coverage = reading.summary.io.coverage_ratio
    if coverage is None:
        why = reading.summary.missing.get("io.coverage_ratio", "it was not measured")
        return [
            Finding(
                rule=NAME,
                severity="remark",
                sentence=f"I/O by role is not known: {why}",
                cure=NO_LIBRARY if "io.by_role" in reading.facts.missing else NOT_SEEN,
            ),
            Unmeasured(rule=NAME, severity="remark", reason=why),
        ]
    if coverage >= LEAST_COVERAGE_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"I/O by role covers {format_percent(coverage)} of the bytes that the kernel counted",
            cure=NOT_SEEN,
        )
    ]


check_import = no_file_says(NAME, "the files do not count I/O by role", "remark")
