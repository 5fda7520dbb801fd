"""The rules as they apply to an imported run: nobody measured it, and no option of mawl would mend it.

What no file can tell is unmeasured with its reason, so that an import is never publishable by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import msgspec

from mawl.advice.validity import drift, duration, frequency, jobs, repeats, sampling, steal, swap
from mawl.analysis.recordings import NO_JOBS, interval_seconds
from mawl.analysis.series import RunSamples
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Severity, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_instant, format_percent, format_seconds

Said = Sequence[Finding | Unmeasured]

RECORDED = ("host.cpu_user_seconds", "host.cpu_idle_seconds", "host.memory_free_bytes")
"""Series of which any shows when a host was recorded; else any of its devices'."""

LONGEST_STEP_INTERVALS = value_of("validity.sampling.longest_step_intervals")
APART_CURE = (
    "where the clocks of logs and host differ, import again with --timezone KIND=Area/City or "
    "--shift saslog=SECONDS; else give recordings of the time of the jobs"
)


def _unknown(rule: str, reason: str, severity: Severity = "preliminary") -> Callable[[RunView], Said]:
    return lambda _: [Unmeasured(rule=rule, severity=severity, reason=reason)]


def _finding(rule: str, severity: Severity, sentence: str, cure: str) -> Finding:
    return Finding(rule=rule, severity=severity, sentence=sentence, cure=cure)


def _with_cure(said: Said, cure: str) -> Said:
    return [msgspec.structs.replace(one, cure=cure) if isinstance(one, Finding) else one for one in said]


def _with_reason(said: Said, reason: str, reading: RunView) -> Said:
    """Where there are samples, what is absent was not recorded."""
    why = reading.why_not_drawn or reason
    return [msgspec.structs.replace(one, reason=why) if isinstance(one, Unmeasured) else one for one in said]


def _jobs(reading: RunView) -> Said:
    """Logs tell of errors, not of right answers."""
    found = reading.summary.jobs
    if not found.total:
        return [Unmeasured(rule=jobs.NAME, severity="preliminary", reason=NO_JOBS)]
    bad = found.total - found.counted
    if bad:
        sentence = f"{bad} of {found.total} imported jobs failed or are cut short: their time does not count"
        cure = "see their reasons (mawl report lists them), and import the logs of a time when all went well"
        return [_finding(jobs.NAME, "invalid", sentence, cure)]
    if found.unverified:
        reason = f"no log says whether an answer was right; those of {found.unverified} jobs have no ERROR"
        return [Unmeasured(rule=jobs.NAME, severity="preliminary", reason=reason)]
    return []


def _duration(reading: RunView) -> Said:
    if reading.line is not None and reading.line.periods:
        reason = "the files are not of one run: import each period by itself"
        return [Unmeasured(rule=duration.NAME, severity="preliminary", reason=reason)]
    if reading.summary.time.active_seconds is None:
        reason = "no file names the times of jobs or of a host"
        return [Unmeasured(rule=duration.NAME, severity="preliminary", reason=reason)]
    return _with_cure(duration.check(reading), "import the files of a longer time")


def _repeats(_: RunView) -> Said:
    cure = "import other days of the same load as separate runs, and compare them (mawl compare)"
    sentence = f"these are files of one run; {repeats.FEWEST_REPEATS} runs of the same required"
    return [_finding(repeats.NAME, "preliminary", sentence, cure)]


def _sampling(reading: RunView) -> Said:
    """The share of the run that recordings leave open: outside them, and in gaps of three intervals."""
    if reading.samples is None or reading.windows is None or not reading.samples.nodes:
        if reading.samples_damage:
            cure = "import the files again"
            return [_finding(sampling.NAME, "preliminary", reading.samples_damage, cure)]
        sentence = "the import has no recording of a host over time: nothing is known of what it did"
        cure = "give recordings of the same time (nmon, sar, sadf, iostat) together with the logs"
        return [_finding(sampling.NAME, "preliminary", sentence, cure)]
    spans = _spans(reading)
    start, end = spans[0][0], spans[-1][1]
    if apart := _apart(reading.samples, start, end):
        return [_finding(sampling.NAME, "preliminary", apart, APART_CURE)]
    longest_step = max(
        sampling.LONGEST_STEP_SECONDS,
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
    if share <= sampling.MOST_MISSED_RATIO:
        return []
    sentence = (
        f"{format_percent(share)} of the run lies outside the recordings or in gaps of them, the longest of "
        f"{format_seconds(longest)}"
    )
    return [_finding(sampling.NAME, "preliminary", sentence, "record the host throughout, before and after")]


def _spans(reading: RunView) -> list[tuple[float, float]]:
    """First start to last end of the run, of one that is none of each of its periods."""
    line = reading.line
    if line is None:
        return [(reading.windows.edges[0], reading.windows.edges[-1])] if reading.windows else []
    return list(line.periods) or [(line.started_at, line.ended_at)]


def _apart(samples: RunSamples, start: float, end: float) -> str:
    """Where all recordings end before the run begins, or begin after it; empty where any meets it."""
    spans = [
        (float(series.times[0]), float(series.times[-1]))
        for node in samples.nodes
        for name in samples.names(node)
        if (series := samples.series(node, name)) is not None and len(series.times)
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
    names = [name for name in RECORDED if samples.series(node, name) is not None]
    names += [name for name in samples.names(node) if name.startswith("device.")][:1]
    series = samples.series(node, names[0]) if names else None
    return [] if series is None else [time for time in series.times.tolist() if start <= time <= end]


def _swap(reading: RunView) -> Said:
    said = _with_reason(swap.check(reading), "the recordings do not say what was swapped", reading)
    return _with_cure(said, "give the jobs less memory (MEMSIZE), run fewer at once, or add memory")


def _steal(reading: RunView) -> Said:
    reason = "the recordings do not contain the time that a hypervisor gave to others"
    return _with_reason(steal.check(reading), reason, reading)


def _frequency(reading: RunView) -> Said:
    reason = "the recordings do not contain the frequency of the processors"
    return _with_reason(frequency.check(reading), reason, reading)


def _drift(reading: RunView) -> Said:
    reason = "the files do not say how many jobs waited for storage"
    return _with_reason(drift.check(reading), reason, reading)


RULES: dict[str, Callable[[RunView], Said]] = {
    "jobs": _jobs,
    "reach": _unknown("reach", "no file says both what programs asked for and what devices moved"),
    "scale": _unknown("scale", "a load that mawl did not run has no scale"),
    "duration": _duration,
    "repeats": _repeats,
    "residency": _unknown("residency", "no file says what was in the page cache before", "remark"),
    "competition": _unknown("competition", "no file says whether the host did other work"),
    "writeback": _unknown("writeback", "no file says what memory held for the devices", "remark"),
    "clock": _unknown("clock", "the clocks of the files are taken as they are"),
    "coverage": _unknown("coverage", "the files do not count I/O by role", "remark"),
    "sampling": _sampling,
    "swap": _swap,
    "steal": _steal,
    "frequency": _frequency,
    "drift": _drift,
    "space": _unknown("space", "no file says what was free before"),
    "overhead": _unknown("overhead", "no file says what the recorders themselves cost", "remark"),
}
"""Every rule of a measured run, by its name."""
