"""repeats: five runs of the same."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding
from mawl.model.thresholds import count_of

NAME = "repeats"
FEWEST_REPEATS = count_of("validity.repeats.fewest_runs")


def check(reading: RunView) -> list[Finding]:
    """One run does not show how far its figures scatter."""
    repeats = reading.facts.repeats
    if repeats >= FEWEST_REPEATS:
        return []
    runs = "a single run" if repeats == 1 else f"one of {repeats} runs"
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"this is {runs} of its workload; {FEWEST_REPEATS} required",
            cure=f"run it {FEWEST_REPEATS} times under the same conditions (mawl run --repeat "
            f"{FEWEST_REPEATS}), and give median and range; a single run is only preliminary",
        )
    ]


def check_import(_: RunView) -> list[Finding]:
    """Files are of one run."""
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"these are files of one run; {FEWEST_REPEATS} runs of the same required",
            cure="import other days of the same load as separate runs, and compare them (mawl compare)",
        )
    ]
