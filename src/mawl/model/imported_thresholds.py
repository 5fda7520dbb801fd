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
)
