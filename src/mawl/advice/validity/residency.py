"""residency: the input tables were not in memory before the start."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_percent

NAME = "residency"
MOST_RESIDENT_RATIO = value_of("validity.residency.most_resident_ratio")


def check(reading: RunView) -> list[Finding | Unmeasured]:
    """If inputs are in the page cache at the start, jobs read them from memory even the first time."""
    cache = reading.facts.cache
    if cache is None or (cache.input_bytes and cache.resident_bytes is None):
        reason = "it was not measured" if cache is None else cache.reason or "the kernel did not say"
        return [
            Finding(
                rule=NAME,
                severity="remark",
                sentence=f"how much of the inputs was cached before the start is not known: {reason}",
                cure="run with --cache cold",
            ),
            Unmeasured(rule=NAME, severity="remark", reason=reason),
        ]
    resident = cache.resident_bytes or 0
    if cache.mode == "warm" or not cache.input_bytes or resident <= MOST_RESIDENT_RATIO * cache.input_bytes:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"{format_percent(resident / cache.input_bytes)} of the input files were already "
            "cached before the start",
            cure="run with --cache cold, or say that the start was warm (--cache warm)",
        )
    ]


check_import = no_file_says(NAME, "no file says what was in the page cache before", "remark")
