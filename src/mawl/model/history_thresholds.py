"""The thresholds of ``mawl history`` (docs/design/history.md)."""

from __future__ import annotations

from mawl.model.threshold import CONVENTION, Threshold, threshold

_MEASURED = "docs/design/history.md: rates of false alarms and of steps that are found"

HISTORY: tuple[Threshold, ...] = (
    threshold(
        "history.whole_level",
        0.005,
        "ratio",
        "How often a night may look like a change of the whole load where there is none.",
        _MEASURED,
    ),
    threshold(
        "history.part_level",
        0.002,
        "ratio",
        "The same of all programs, places and figures together.",
        _MEASURED,
    ),
    threshold("history.fewest_before", 8, "count", "Nights that a level is known from.", _MEASURED),
    threshold(
        "history.fewest_after",
        2,
        "count",
        "Nights at a new level before it is called one: a single bad night is none.",
        CONVENTION,
    ),
    threshold(
        "history.most_after", 7, "count", "Nights back in which a new change is looked for.", _MEASURED
    ),
    threshold(
        "history.least_gap_seconds",
        14400.0,
        "seconds",
        "Runs that begin within this time after the one before ended are of one night.",
        "as imported.least_gap_seconds",
    ),
)
