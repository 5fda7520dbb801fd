"""overhead: mawl itself did not disturb the run."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_percent

NAME = "overhead"
MOST_OVERHEAD_RATIO = value_of("validity.overhead.most_ratio")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """CPU time of runner, collectors and launcher while jobs ran, divided by that of the jobs."""
    overhead = reading.summary.overhead
    own, startup = overhead.cpu_seconds, overhead.startup_cpu_seconds
    jobs = reading.summary.cpu_account.jobs.cpu_seconds
    if own is None or startup is None or not jobs:
        whose = "of the jobs" if not jobs else "of mawl itself"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=f"the CPU time {whose} is not known")]
    share = max(own - startup, 0.0) / jobs
    if share <= MOST_OVERHEAD_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"mawl itself used {format_percent(share)} of the jobs' CPU time while they ran",
            cure="choose a larger --scale, so that jobs last longer",
        )
    ]


check_import = no_file_says(NAME, "no file says what the recorders themselves cost", "remark")
