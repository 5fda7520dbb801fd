"""Rules on the machine under test: other work, clock, swap, processors, mawl's own cost, and sampling."""

from __future__ import annotations

from itertools import pairwise

from mawl.advice.validity.rule import Breach, Claims, Unknown, ValidityRule, in_recordings
from mawl.advice.validity.workload import FEW_WINDOWS, FEWEST_WINDOWS, thirds
from mawl.base.units import (
    format_bytes,
    format_instant,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.io import foreign_at
from mawl.figures.layers import interval_seconds
from mawl.figures.others import other_programs_of, processor_use
from mawl.figures.series import RunSamples
from mawl.figures.sessions import gauges, rates
from mawl.figures.view import RunView, weighted_mean
from mawl.records.model.node import named
from mawl.records.model.summary.io import Foreign
from mawl.records.model.summary.summary import Summary
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import Role

MOST_FOREIGN_RATIO = value_of("validity.competition.most_cpu_ratio")
"""Share of all processor time that others may use; writeback and reclaim by the kernel are in it."""

MOST_FOREIGN_BYTES_RATIO = value_of("validity.competition.most_foreign_bytes_ratio")
LEAST_FOREIGN_BYTES_PER_SECOND = value_of("validity.competition.least_foreign_bytes_per_second")

COMPETITION_CURE = "end other programs, and run on a machine that does nothing else"


def _check_competition(reading: RunView) -> Claims:
    """Processor time and device bytes of other programs during the run, and load just before it."""
    found = [*competition(reading), *_load_before(reading)]
    reason = None if found else _why_competition_unknown(reading)
    return [Unknown(reason)] if reason else found


def competition(reading: RunView) -> list[Breach]:
    """What other programs used during the run, where it was much."""
    return [*_foreign_processor_time(reading), *_foreign_device_bytes(reading)]


def _why_competition_unknown(reading: RunView) -> str | None:
    before = reading.facts.load_before
    if before is None or before.busy_ratio is None:
        return "the load before the start was not measured"
    if foreign_cpu_ratio(reading) is None:
        return reading.why_not_drawn or "the samples do not say who used the processors"
    return None


def _load_before(reading: RunView) -> list[Breach]:
    before = reading.facts.load_before
    if before is None or before.busy_ratio is None or before.busy_ratio <= MOST_FOREIGN_RATIO:
        return []
    names = f": {'; '.join(before.heavy)}" if before.heavy else ""
    return [
        Breach(
            f"processors were busy for {format_percent(before.busy_ratio)} of the time just before "
            f"the start{names}",
            COMPETITION_CURE,
        )
    ]


def _foreign_processor_time(reading: RunView) -> list[Breach]:
    ratio = foreign_cpu_ratio(reading)
    if ratio is None or ratio <= MOST_FOREIGN_RATIO:
        return []
    return [
        Breach(
            f"others used {format_percent(ratio)} of all processor time during the run"
            + named(sorted(other_programs_of(reading.facts)[0], key=lambda one: -one.cpu_seconds)),
            COMPETITION_CURE,
        )
    ]


def foreign_cpu_ratio(reading: RunView) -> float | None:
    """Share of all processor time that neither the jobs nor mawl used; None where it is not known."""
    if reading.over_time is None:
        return None
    samples, windows = reading.over_time
    use = processor_use(samples, (windows.edges[0], windows.edges[-1]))[0]
    return None if use is None else use.others / use.processors


def foreign_bytes(summary: Summary) -> str | None:
    """What others moved at the devices of the roles, as a sentence; None where it is little, or not known.

    It is also what was written back for earlier programs.
    """
    return _foreign_words(summary.io.foreign, "the roles")


def foreign_bytes_at(reading: RunView, role: Role | None) -> str | None:
    """The same of the devices of one role: the most that it can be; of all roles where it is not known by
    device, or without a role."""
    block = foreign_at(reading, role) if role else None
    if block is None or block is reading.summary.io.foreign:
        return foreign_bytes(reading.summary)
    return _foreign_words(block, str(role), "up to ")


def _foreign_words(block: Foreign | None, whose: str, most: str = "") -> str | None:
    if block is None or block.ratio is None:
        return None
    rate = block.total_bytes_per_second
    if block.ratio <= MOST_FOREIGN_BYTES_RATIO or not rate or rate < LEAST_FOREIGN_BYTES_PER_SECOND:
        return None
    size = (block.read_bytes or 0) + (block.written_bytes or 0)
    return (
        f"other programs moved {most}{format_bytes(size)} at the devices of {whose} ({format_rate(rate)}), "
        f"{most}{100 * block.ratio:.0f} % of all bytes that these devices moved"
    )


def _foreign_device_bytes(reading: RunView) -> list[Breach]:
    sentence = foreign_bytes(reading.summary)
    if sentence is None:
        return []
    moved = [one for one in other_programs_of(reading.facts)[0] if one.moved_bytes]
    most = named(sorted(moved, key=lambda one: -one.moved_bytes))
    sentence += f"; at all devices{most}" if most else ""
    return [Breach(sentence, COMPETITION_CURE)]


COMPETITION = ValidityRule(
    "competition",
    _check_competition,
    Unknown("no file says whether the host did other work"),
)


LEAST_STEP_SECONDS = value_of("validity.clock.least_step_seconds")
MOST_SLEW_RATIO = value_of("validity.clock.most_slew_ratio")
"""A clock that is drawn in is off by half of this at most (adjtimex(2): 500 parts in a million)."""


def _check_clock(reading: RunView) -> Claims:
    """mawl measures durations with a clock that cannot be set. Times of samples and starts use the wall
    clock, so a step of that clock shifts them."""
    both = [
        step for step in (_clock_step_of_run(reading), *_clock_steps_of_jobs(reading)) if step is not None
    ]
    steps = [step for step in both if step]
    if not both:
        reason = "no duration was measured by both clocks"
        return [Unknown(reason)]
    if not steps:
        return []
    largest = max(steps, key=abs)
    return [
        Breach(
            f"the wall clock was set {'forward' if largest > 0 else 'back'} by about "
            f"{format_seconds(abs(largest))} during the run, which shifts samples against jobs",
            "let the clock be drawn in slowly (chrony, ntpd) or leave it alone while a run lasts",
        )
    ]


def _clock_step(wall: float, true: float) -> float:
    """How far two clocks disagree about a duration; 0 within what drawing in may make."""
    off = wall - true
    return off if abs(off) > max(LEAST_STEP_SECONDS, MOST_SLEW_RATIO * true) else 0.0


def _clock_step_of_run(reading: RunView) -> float | None:
    facts = reading.facts
    startup, run = facts.phases.startup_seconds, facts.phases.run_seconds
    if facts.ended_at is None or startup is None or run is None:
        return None
    return _clock_step(facts.ended_at - facts.started_at, startup + run)


def _clock_steps_of_jobs(reading: RunView) -> list[float]:
    return [
        _clock_step(
            job.ended_at - job.started_at, job.usage.real_time_seconds + (job.verify.real_time_seconds or 0.0)
        )
        for job in reading.jobs
        if job.started_at is not None and job.ended_at is not None and job.usage.real_time_seconds is not None
    ]


CLOCK = ValidityRule("clock", _check_clock, Unknown("the clocks of the files are taken as they are"))


MOST_SWAPPED_BYTES = value_of("validity.swap.most_bytes")


def _check_swap(reading: RunView) -> Claims:
    """If the system swaps, jobs wait for a disk when they use memory."""
    rate = weighted_mean([(moment.swap_bytes_per_second, moment.seconds) for moment in reading.moments])
    seconds = sum(moment.seconds for moment in reading.moments)
    if rate is None:
        reason = reading.why_not_drawn or "the samples do not contain what was swapped"
        return [Unknown(reason)]
    if rate * seconds <= MOST_SWAPPED_BYTES:
        return []
    return [
        Breach(
            f"the system swapped {format_bytes(rate * seconds)} during the run",
            "choose a smaller memsize, fewer sessions, or more memory, or switch swap off",
        )
    ]


SWAP = ValidityRule(
    "swap",
    _check_swap,
    in_recordings(
        _check_swap,
        "the recordings do not say what was swapped",
        "give the jobs less memory (MEMSIZE), run fewer at once, or add memory",
    ),
)


MOST_STEAL_RATIO = value_of("validity.steal.most_ratio")


def _check_steal(reading: RunView) -> Claims:
    """If the hypervisor gives processor time to other machines, only steal counts that time."""
    if reading.over_time is None:
        return [Unknown(reading.why_not_drawn or "the samples do not contain the processors' time")]
    samples, windows = reading.over_time
    edges = (windows.edges[0], windows.edges[-1])
    steal, idle, busy = (
        rates(samples, names, edges)[0]
        for names in (
            ["host.cpu_steal_seconds"],
            ["host.cpu_idle_seconds", "host.cpu_iowait_seconds"],
            ["host.cpu_user_seconds", "host.cpu_system_seconds", "host.cpu_interrupt_seconds"],
        )
    )
    if steal is None or idle is None or busy is None:
        return [Unknown(reading.why_not_drawn or "the samples do not contain the processors' time")]
    share = steal / (steal + idle + busy) if steal else 0.0
    if share <= MOST_STEAL_RATIO:
        return []
    return [
        Breach(
            f"the hypervisor gave {format_percent(share)} of this machine's CPU time to others",
            "run on a machine with dedicated processors, or when its neighbours are idle",
        )
    ]


STEAL = ValidityRule(
    "steal",
    _check_steal,
    in_recordings(_check_steal, "the recordings do not contain the time that a hypervisor gave to others"),
)


LEAST_KEPT_RATIO = value_of("validity.frequency.least_kept_ratio")


def _check_frequency(reading: RunView) -> Claims:
    """The mean frequency of the last third of the active phase, divided by that of the first.

    Many virtual machines report no frequency. No fix can change that, so it is only a remark.
    """
    if reading.over_time is None:
        return [Unknown(reading.why_not_drawn or FEW_WINDOWS, "remark")]
    samples, windows = reading.over_time
    found = thirds(gauges(samples, "host.frequency_hertz", windows.active_edges))
    if found is None:
        few = len(windows.active_edges) <= FEWEST_WINDOWS
        return [
            Unknown(
                FEW_WINDOWS if few else "this machine does not report the frequency of its processors",
                "remark",
            )
        ]
    if found[1] >= LEAST_KEPT_RATIO * found[0]:
        return []
    return [
        Breach(
            f"processors ran at {format_ratio(found[1] / 1e9)} GHz in the last third, after "
            f"{format_ratio(found[0] / 1e9)} GHz in the first",
            "see to cooling and power limits, and set the frequency governor to performance",
        )
    ]


FREQUENCY = ValidityRule(
    "frequency",
    _check_frequency,
    in_recordings(_check_frequency, "the recordings do not contain the frequency of the processors"),
)


MOST_OVERHEAD_RATIO = value_of("validity.overhead.most_ratio")


def _check_overhead(reading: RunView) -> Claims:
    """CPU time of runner, collectors and launcher while jobs ran, divided by that of the jobs."""
    overhead = reading.summary.overhead
    own, startup = overhead.cpu_seconds, overhead.startup_cpu_seconds
    jobs = reading.summary.cpu_account.jobs.cpu_seconds
    if own is None or startup is None or not jobs:
        whose = "of the jobs" if not jobs else "of mawl itself"
        return [Unknown(f"the CPU time {whose} is not known")]
    share = max(own - startup, 0.0) / jobs
    if share <= MOST_OVERHEAD_RATIO:
        return []
    return [
        Breach(
            f"mawl itself used {format_percent(share)} of the jobs' CPU time while they ran",
            "choose a larger --scale, so that jobs last longer",
        )
    ]


OVERHEAD = ValidityRule(
    "overhead",
    _check_overhead,
    Unknown("no file says what the recorders themselves cost", "remark"),
)


LONGEST_STEP_SECONDS = value_of("validity.sampling.longest_step_seconds")
MOST_MISSED_RATIO = value_of("validity.sampling.most_missed_ratio")
HOST_SERIES = ("host.cpu_user_seconds", "host.cpu_idle_seconds", "host.memory_free_bytes")
"""Series of which any shows when a host was recorded; else any of its devices'."""

LONGEST_STEP_INTERVALS = value_of("validity.sampling.longest_step_intervals")
ELSEWHERE_CURE = (
    "where the clocks of logs and host differ, import again with --timezone KIND=Area/City or "
    "--shift saslog=SECONDS; else give recordings of the time of the jobs"
)
SAMPLING_CURE = (
    "leave the runner a processor (--cores), keep the run folder off the loaded file systems (--runs), "
    "and do not stop or suspend mawl, which starts no job meanwhile"
)


def _check_sampling(reading: RunView) -> Claims:
    """Gaps of more than 3 s between samples are together at most 2 % of the run.

    If the reader keeps only every n-th sample, a gap counts from n times 3 s on.
    """
    elapsed = reading.summary.time.elapsed_seconds
    if reading.over_time is None or not elapsed:
        sentence = (
            f"{reading.samples_damage or 'the run holds no samples'}: nothing is known of its course in time"
        )
        return [Breach(sentence, "run it again; if that repeats, see the remarks of the report")]
    samples, windows = reading.over_time
    start, end = windows.edges[0], windows.edges[-1]
    missed, longest = 0.0, 0.0
    allowed = LONGEST_STEP_SECONDS * reading.stride
    for node in samples.nodes:
        times = _sample_times(samples, node, "jobs_running", start, end)
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
    return [Breach(sentence, SAMPLING_CURE)]


def _check_import_sampling(reading: RunView) -> Claims:
    """The share of the run that recordings leave open: outside them, and in gaps of three intervals."""
    if reading.samples is None or reading.windows is None or not reading.samples.nodes:
        if reading.samples_damage:
            cure = "import the files again"
            return [Breach(reading.samples_damage, cure)]
        sentence = "the import has no recording of a host over time: nothing is known of what it did"
        cure = "give recordings of the same time (nmon, sar, sadf, iostat) together with the logs"
        return [Breach(sentence, cure)]
    spans = _run_spans(reading)
    start, end = spans[0][0], spans[-1][1]
    if elsewhere := _recordings_elsewhere(reading.samples, start, end):
        return [Breach(elsewhere, ELSEWHERE_CURE)]
    longest_step = max(
        LONGEST_STEP_SECONDS,
        LONGEST_STEP_INTERVALS * interval_seconds(reading.facts, reading.samples),
    )
    missed, longest, nodes = 0.0, 0.0, 0
    for node in reading.samples.nodes:
        nodes += 1
        for start, end in spans:
            times = _recorded_times(reading, node, start, end)
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
    return [Breach(sentence, "record the host throughout, before and after")]


def _run_spans(reading: RunView) -> list[tuple[float, float]]:
    """First start to last end of the run; the same for each period of an import that is not one run."""
    line = reading.line
    if line is None:
        return [(reading.windows.edges[0], reading.windows.edges[-1])] if reading.windows else []
    return list(line.periods) or [(line.started_at, line.ended_at)]


def _recordings_elsewhere(samples: RunSamples, start: float, end: float) -> str:
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


def _recorded_times(reading: RunView, node: str, start: float, end: float) -> list[float]:
    samples = reading.samples
    if samples is None:
        return []
    names = [name for name in HOST_SERIES if samples.times(node, name) is not None]
    names += [name for name in samples.names(node) if name.startswith("device.")][:1]
    return _sample_times(samples, node, names[0], start, end) if names else []


def _sample_times(samples: RunSamples, node: str, name: str, start: float, end: float) -> list[float]:
    times = samples.times(node, name)
    if times is None:
        return []
    within: list[float] = times[(start <= times) & (times <= end)].tolist()
    return within


SAMPLING = ValidityRule("sampling", _check_sampling, _check_import_sampling)
