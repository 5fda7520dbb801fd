"""coverage: I/O by role saw what the kernel saw."""

from __future__ import annotations

from mawl.advice.evidence import Finding, Reading
from mawl.units import format_ratio

NAME = "coverage"
LEAST_COVERAGE_RATIO = 0.95


def check(reading: Reading) -> list[Finding]:
    """Below 0.95 of the kernel's bytes, shares and waits by role are of a part only."""
    coverage = reading.summary["io"]["coverage_ratio"]
    if coverage is None:
        why = reading.summary["missing"].get("io.coverage_ratio", "it was not measured")
        return [
            Finding(
                rule=NAME,
                severity="remark",
                sentence=f"I/O by role is not known: {why}",
                cure="install a C compiler, with which mawl builds its counters at first use",
            )
        ]
    if coverage >= LEAST_COVERAGE_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="indicative",
            sentence=f"I/O by role covers {format_ratio(coverage)} of the bytes that the kernel counted",
            cure="see which jobs the remarks name: mapped files, io_uring and static programs are not seen",
        )
    ]
