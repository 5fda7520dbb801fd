"""sampling: the host was looked at once a second throughout."""

from __future__ import annotations

from itertools import pairwise

from mawl.analysis.recordings import interval_seconds
from mawl.analysis.series import RunSamples
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding
from mawl.model.thresholds import value_of
from mawl.units import format_instant, format_percent, format_seconds

NAME = "sampling"
LONGEST_STEP_SECONDS = value_of("validity.sampling.longest_step_seconds")
MOST_MISSED_RATIO = value_of("validity.sampling.most_missed_ratio")
RECORDED = ("host.cpu_user_seconds", "host.cpu_idle_seconds", "host.memory_free_bytes")
"""Series of which any shows when a host was recorded; else any of its devices'."""

LONGEST_STEP_INTERVALS = value_of("validity.sampling.longest_step_intervals")
APART_CURE = (
    "where the clocks of logs and host differ, import again with --timezone KIND=Area/City or "
    "--shift saslog=SECONDS; else give recordings of the time of the jobs"
)
CURE = (
    "leave the runner a processor (--cores), keep the run folder off the loaded file systems (--runs), "
    "and do not stop or suspend mawl, which starts no job meanwhile"
)


def check(reading: RunView) -> list[Finding]:
    """Gaps of more than 3 s between samples are together at most 2 % of the run.

    If the reader keeps only every n-th sample, a gap counts from n times 3 s on.
    """
    elapsed = reading.summary.time.elapsed_seconds
    if reading.over_time is None or not elapsed:
        sentence = (
            f"{reading.samples_damage or 'the run holds no samples'}: nothing is known of its course in time"
        )
        return [_finding(sentence, "run it again; if that repeats, see the remarks of the report")]
    samples, windows = reading.over_time
    start, end = windows.edges[0], windows.edges[-1]
    missed, longest = 0.0, 0.0
    allowed = LONGEST_STEP_SECONDS * reading.stride
    for node in samples.nodes:
        times = _sampled(samples, node, "jobs_running", start, end)
        for before, after in pairwise([start, *times, end]):
            longest = max(longest, after - before)
            missed += after - before if after - before > allowed else 0.0
    share = missed / (elapsed * len(samples.nodes))
    if share <= MOST_MISSED_RATIO:
        return []
    sentence = (
        f"{format_percent(share)} of the run lies in gaps between samples, the longest of "
        f"{format_seconds(longest)}"
    )
    return [_finding(sentence, CURE)]


def check_import(reading: RunView) -> list[Finding]:
    """The share of the run that recordings leave open: outside them, and in gaps of three intervals."""
    if reading.samples is None or reading.windows is None or not reading.samples.nodes:
        if reading.samples_damage:
            cure = "import the files again"
            return [_finding(reading.samples_damage, cure)]
        sentence = "the import has no recording of a host over time: nothing is known of what it did"
        cure = "give recordings of the same time (nmon, sar, sadf, iostat) together with the logs"
        return [_finding(sentence, cure)]
    spans = _spans(reading)
    start, end = spans[0][0], spans[-1][1]
    if apart := _apart(reading.samples, start, end):
        return [_finding(apart, APART_CURE)]
    longest_step = max(
        LONGEST_STEP_SECONDS,
        LONGEST_STEP_INTERVALS * interval_seconds(reading.facts, reading.samples),
    )
    missed, longest, nodes = 0.0, 0.0, 0
    for node in reading.samples.nodes:
        nodes += 1
        for start, end in spans:
            times = _times(reading, node, start, end)
            steps = [after - before for before, after in pairwise([start, *times, end])]
            longest = max(longest, *steps)
            missed += sum(step for step in steps if step > longest_step)
    lasted = sum(end - start for start, end in spans)
    share = missed / (lasted * nodes) if lasted > 0 else 0.0
    if share <= MOST_MISSED_RATIO:
        return []
    sentence = (
        f"{format_percent(share)} of the run lies outside the recordings or in gaps of them, the longest of "
        f"{format_seconds(longest)}"
    )
    return [_finding(sentence, "record the host throughout, before and after")]


def _spans(reading: RunView) -> list[tuple[float, float]]:
    """First start to last end of the run; the same for each period of an import that is not one run."""
    line = reading.line
    if line is None:
        return [(reading.windows.edges[0], reading.windows.edges[-1])] if reading.windows else []
    return list(line.periods) or [(line.started_at, line.ended_at)]


def _apart(samples: RunSamples, start: float, end: float) -> str:
    """Where all recordings end before the run begins, or begin after it; empty where any meets it."""
    spans = [
        (float(times[0]), float(times[-1]))
        for node in samples.nodes
        for name in samples.names(node)
        if (times := samples.times(node, name)) is not None and len(times)
    ]
    if not spans or any(first <= end and last >= start for first, last in spans):
        return ""
    recorded = (min(first for first, _ in spans), max(last for _, last in spans))
    ran, was = (
        f"from {format_instant(first)[:19]}Z to {format_instant(last)[:19]}Z"
        for first, last in ((start, end), recorded)
    )
    return f"no recording of the host lies within the time of the jobs: they ran {ran}, it was recorded {was}"


def _times(reading: RunView, node: str, start: float, end: float) -> list[float]:
    samples = reading.samples
    if samples is None:
        return []
    names = [name for name in RECORDED if samples.times(node, name) is not None]
    names += [name for name in samples.names(node) if name.startswith("device.")][:1]
    return _sampled(samples, node, names[0], start, end) if names else []


def _sampled(samples: RunSamples, node: str, name: str, start: float, end: float) -> list[float]:
    """When a series of a node was sampled within a span of time; nothing without the series."""
    times = samples.times(node, name)
    if times is None:
        return []
    within: list[float] = times[(start <= times) & (times <= end)].tolist()
    return within


def _finding(sentence: str, cure: str) -> Finding:
    return Finding(rule=NAME, severity="preliminary", sentence=sentence, cure=cure)
