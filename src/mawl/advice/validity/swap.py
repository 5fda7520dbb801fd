"""swap: the system did not swap."""

from __future__ import annotations

from mawl.advice.validity.imported import Said, with_cure, with_reason
from mawl.analysis.view import RunView, weighted_mean
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_bytes

NAME = "swap"
MOST_SWAPPED_BYTES = value_of("validity.swap.most_bytes")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """If the system swaps, jobs wait for a disk when they use memory."""
    rate = weighted_mean([(moment.swap_bytes_per_second, moment.seconds) for moment in reading.moments])
    seconds = sum(moment.seconds for moment in reading.moments)
    if rate is None:
        reason = reading.why_not_drawn or "the samples do not contain what was swapped"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]
    if rate * seconds <= MOST_SWAPPED_BYTES:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"the system swapped {format_bytes(rate * seconds)} during the run",
            cure="choose a smaller memsize, fewer sessions, or more memory, or switch swap off",
        )
    ]


def check_import(reading: RunView) -> Said:
    """The same rule, with what a reader of recordings can do."""
    said = with_reason(check(reading), "the recordings do not say what was swapped", reading)
    return with_cure(said, "give the jobs less memory (MEMSIZE), run fewer at once, or add memory")
