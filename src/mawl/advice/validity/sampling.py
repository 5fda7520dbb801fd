"""sampling: the host was looked at once a second throughout."""

from __future__ import annotations

from itertools import pairwise

from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding
from mawl.model.thresholds import value_of
from mawl.units import format_percent, format_seconds

NAME = "sampling"
LONGEST_STEP_SECONDS = value_of("validity.sampling.longest_step_seconds")
MOST_MISSED_RATIO = value_of("validity.sampling.most_missed_ratio")
CURE = (
    "leave the runner a processor (--cores), keep the run folder off the loaded file systems (--runs), "
    "and do not stop or suspend mawl, which starts no job meanwhile"
)


def check(reading: RunView) -> list[Finding]:
    """Gaps of more than 3 s that together make more than 2 % of the run.

    Where the reader keeps only every n-th sample, a gap counts from n times 3 s on.
    """
    elapsed = reading.summary.time.elapsed_seconds
    if reading.samples is None or reading.windows is None or not elapsed:
        return [
            Finding(
                rule=NAME,
                severity="preliminary",
                sentence=f"{reading.samples_damage or 'the run holds no samples'}: "
                "nothing is known of its course in time",
                cure="run it again; if that repeats, see the remarks of the report",
            )
        ]
    start, end = reading.windows.edges[0], reading.windows.edges[-1]
    missed, longest = 0.0, 0.0
    allowed = LONGEST_STEP_SECONDS * reading.stride
    for node in reading.samples.nodes:
        series = reading.samples.series(node, "jobs_running")
        times = [] if series is None else [time for time in series.times.tolist() if start <= time <= end]
        for before, after in pairwise([start, *times, end]):
            longest = max(longest, after - before)
            missed += after - before if after - before > allowed else 0.0
    share = missed / (elapsed * len(reading.samples.nodes))
    if share <= MOST_MISSED_RATIO:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"{format_percent(share)} of the run lies in gaps between samples, the longest of "
            f"{format_seconds(longest)}",
            cure=CURE,
        )
    ]
