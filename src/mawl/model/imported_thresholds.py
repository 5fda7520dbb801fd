"""The thresholds of imported runs: what is one run, and what a recording of the host tells of its limit."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

HOUR = 3600.0

IMPORTED: tuple[Threshold, ...] = (
    threshold(
        "imported.least_gap_seconds",
        4 * HOUR,
        "seconds",
        "Imported jobs with at least this time between them, in which no job ran, are not one run.",
        f"{CONVENTION}; a night's batch pauses for less, and nights lie further apart",
    ),
    threshold(
        "imported.limit.full_processors_ratio",
        0.9,
        "ratio",
        "Processors of an import are full when this share of their time is neither idle nor iowait.",
        "docs/design/verdict.md, Imports: 20,000 closed systems solved exactly",
    ),
)
