"""Rules on the load (jobs, scale, duration, repeats) and on the storage that it reached."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from mawl.advice.validity.rule import Breach, Claims, Unknown, ValidityRule, in_recordings
from mawl.base.units import format_bytes, format_percent, format_rate, format_ratio, format_seconds
from mawl.figures.io import REACHES_STORAGE_RATIO, cached_directions
from mawl.figures.layers import NO_JOBS
from mawl.figures.open_jobs import bad_jobs, failed
from mawl.figures.view import RunView
from mawl.plan.spec import SCALES
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES


def _check_jobs(reading: RunView) -> Claims:
    """A job that did not finish with a right answer makes the run invalid. An unchecked answer makes it
    preliminary."""
    jobs, facts = reading.summary.jobs, reading.facts
    bad = max(jobs.total, facts.workload.jobs) - jobs.counted
    if facts.outcome == "running":
        return [
            Breach(
                "the run is in progress: its figures cover what ended so far", "wait for its end", "invalid"
            )
        ]
    if bad or facts.outcome != "completed":
        planned = max(jobs.total, facts.workload.jobs)
        sentence = f"the figures lack {bad} of {planned} jobs, which did not finish with a right answer"
        if not bad:
            sentence = f"the run did not complete: {facts.outcome_reason or facts.outcome}"
        return [Breach(sentence, _jobs_cure(reading), "invalid")]
    if jobs.unverified:
        return [
            Breach(
                f"{jobs.unverified} jobs finished with an unchecked answer",
                "run programs of the catalogue, which check theirs",
            )
        ]
    return []


def _jobs_cure(reading: RunView) -> str:
    found = [job for job in bad_jobs(reading.jobs) if failed(job)]
    if not found:
        return "run it again to its end"
    one = found[0]
    place = f"nodes/{one.node}/logs" if reading.facts.node_runs else f"logs/{one.job}.log"
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"fix {one.job}{more} (see {place} in the run folder) and run again"


def _check_import_jobs(reading: RunView) -> Claims:
    """Logs tell of errors, not of right answers."""
    found = reading.summary.jobs
    if not found.total:
        return [Unknown(NO_JOBS)]
    bad = found.total - found.finished
    if bad:
        what = "failed or are cut short: their time does not count"
        if bad == found.counted - found.finished:
            what = "ended with errors: their time counts, their answers do not"
        sentence = f"{bad} of {found.total} imported jobs {what}"
        cure = "see their reasons (mawl report lists them), and import the logs of a time when all went well"
        return [Breach(sentence, cure, "invalid")]
    if found.unverified:
        reason = f"no log says whether an answer was right; those of {found.unverified} jobs have no ERROR"
        return [Unknown(reason)]
    return []


JOBS = ValidityRule("jobs", _check_jobs, _check_import_jobs)


def _check_scale(reading: RunView) -> Claims:
    """Below scale standard, fixed costs and smaller memory options are a part of every time."""
    scale = reading.facts.workload.scale
    if scale is not None and scale >= SCALES["standard"]:
        return []
    standard = plain_scale(SCALES["standard"])
    what = "is not known" if scale is None else f"{plain_scale(scale)} is below standard ({standard})"
    return [Breach(f"the scale {what}", "run with --scale standard or larger")]


def plain_scale(scale: float) -> str:
    """A scale in plain decimals: ``0.00005``, never ``5e-05``."""
    return f"{scale:.12f}".rstrip("0").rstrip(".")


SCALE = ValidityRule("scale", _check_scale, Unknown("a load that mawl did not run has no scale"))


LEAST_ACTIVE_SECONDS = value_of("validity.duration.least_active_seconds")
"""Write caches, burst credits and heat show within minutes, not within seconds."""


def _check_duration(reading: RunView) -> list[Breach]:
    """In a shorter active phase, a write cache, burst credits or a cool machine can hide a limit."""
    active = reading.summary.time.active_seconds
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return []
    lasted = "is not known" if active is None else f"lasted {format_seconds(active)}"
    return [
        Breach(
            f"the active phase {lasted}; {format_seconds(LEAST_ACTIVE_SECONDS)} required",
            "choose a larger --scale or more sessions",
        )
    ]


def _check_import_duration(reading: RunView) -> Claims:
    if reading.line is not None and reading.line.periods:
        return [Unknown("the files are not of one run: import each period by itself")]
    if reading.summary.time.active_seconds is None:
        return [Unknown("no file names the times of jobs or of a host")]
    return [claim._replace(cure="import the files of a longer time") for claim in _check_duration(reading)]


DURATION = ValidityRule("duration", _check_duration, _check_import_duration)


FEWEST_REPEATS = count_of("validity.repeats.fewest_runs")


def _check_repeats(reading: RunView) -> Claims:
    """One run does not show how far its figures scatter."""
    repeats = reading.facts.repeats
    if repeats >= FEWEST_REPEATS:
        return []
    runs = "a single run" if repeats == 1 else f"one of {repeats} runs"
    return [
        Breach(
            f"this is {runs} of its workload; {FEWEST_REPEATS} required",
            f"run it {FEWEST_REPEATS} times under the same conditions (mawl run --repeat "
            f"{FEWEST_REPEATS}), and give median and range; a single run is only preliminary",
        )
    ]


def _check_import_repeats(_: RunView) -> Claims:
    return [
        Breach(
            f"these are files of one run; {FEWEST_REPEATS} runs of the same required",
            "import other days of the same load as separate runs, and compare them (mawl compare)",
        )
    ]


REPEATS = ValidityRule("repeats", _check_repeats, _check_import_repeats)


def _check_simulated(_: RunView) -> Claims:
    """A forecast is an indication, however well it fits."""
    cure = "make the run where it can be made, and hold both together (mawl simulate --against)"
    return [Breach("the run was simulated, not made: its figures are a forecast", cure)]


SIMULATED = ValidityRule("simulated", _check_simulated, _check_simulated)


def _check_reach(reading: RunView) -> Claims:
    """Below a reach of 0.8 in a direction, the page cache and not the storage gave its figures. Direct I/O
    has a reach of 1."""
    io = reading.summary.io
    directions = cached_directions(io)
    if directions:
        shares = " and ".join(
            f"{format_percent(getattr(io.reach, f'{name}_ratio'))} of the bytes {verb}"
            for name, verb in (("read", "read"), ("write", "written"))
            if name in directions
        )
        return [
            Breach(
                f"only {shares} reached a device ({format_percent(REACHES_STORAGE_RATIO)} "
                "required): "
                "the page cache served the rest",
                "run with --cache none, a larger --scale or a lower --memory-limit",
            )
        ]
    for name, moved in (("read", io.application.read_bytes), ("write", io.application.written_bytes)):
        if getattr(io.reach, f"{name}_ratio") is None and moved != 0:
            why = reading.summary.missing.get(f"io.reach.{name}_ratio", "it was not measured")
            return [
                Breach(
                    f"how much of the load reached a device is not known: {why}",
                    "run on local file systems, with a kernel that accounts for I/O "
                    "(CONFIG_TASK_IO_ACCOUNTING)",
                )
            ]
    return []


REACH = ValidityRule(
    "reach",
    _check_reach,
    Unknown("no file says both what programs asked for and what devices moved"),
)


MOST_RESIDENT_RATIO = value_of("validity.residency.most_resident_ratio")


def _check_residency(reading: RunView) -> Claims:
    """If inputs are in the page cache at the start, jobs read them from memory even the first time."""
    cache = reading.facts.cache
    if cache is None or (cache.input_bytes and cache.resident_bytes is None):
        reason = "it was not measured" if cache is None else cache.reason or "the kernel did not say"
        return [
            Breach(
                f"how much of the inputs was cached before the start is not known: {reason}",
                "run with --cache cold",
                "remark",
            ),
            Unknown(reason, "remark"),
        ]
    resident = cache.resident_bytes or 0
    if cache.mode == "warm" or not cache.input_bytes or resident <= MOST_RESIDENT_RATIO * cache.input_bytes:
        return []
    return [
        Breach(
            f"{format_percent(resident / cache.input_bytes)} of the input files were already "
            "cached before the start",
            "run with --cache cold, or say that the start was warm (--cache warm)",
        )
    ]


RESIDENCY = ValidityRule(
    "residency",
    _check_residency,
    Unknown("no file says what was in the page cache before", "remark"),
)


MOST_LEFT_RATIO = value_of("validity.writeback.most_left_ratio")
LEAST_LEFT_BYTES = value_of("validity.writeback.least_left_bytes")


def _check_writeback(reading: RunView) -> Claims:
    """Bytes that are written back for an earlier command do not belong to this run. Bytes of the run that are
    still in memory at its end did not reach a device."""
    dirtied, written = reading.summary.io.dirtied, reading.summary.io.device
    at_gate, left = dirtied.at_gate_bytes, dirtied.still_dirty_bytes
    if at_gate is None or left is None:
        reason = reading.summary.missing.get("io.dirtied.at_gate_bytes", "it was not looked at")
        return [Unknown(reason, "remark")]
    moved = written.written_bytes or 0.0
    least = max(MOST_LEFT_RATIO * moved, LEAST_LEFT_BYTES)
    found = []
    if at_gate > least:
        found.append(
            Breach(
                f"{format_bytes(at_gate)} of earlier writes were still in memory when the gate "
                "opened, and their devices got them during the run",
                "wait until other programs have written, or run on a machine that does nothing else",
            )
        )
    if left > least:
        found.append(
            Breach(
                f"{format_bytes(left)} of what the jobs wrote had reached no device when the last "
                "of them ended",
                "choose a larger --scale or a lower --memory-limit: the load must not fit the cache",
                "remark",
            )
        )
    return found


WRITEBACK = ValidityRule(
    "writeback",
    _check_writeback,
    Unknown("no file says what memory held for the devices", "remark"),
)


FEWEST_WINDOWS = count_of("validity.drift.fewest_windows")
FEW_WINDOWS = f"the active phase has fewer than {FEWEST_WINDOWS} windows"
"""Why there are no thirds."""


def thirds(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Means of the known values of the first and of the last third of the windows.

    None where there are fewer than six windows, or a third without a value.
    """
    if len(values) < FEWEST_WINDOWS:
        return None
    size = len(values) // 3
    first, last = ([value for value in part if value is not None] for part in (values[:size], values[-size:]))
    return (statistics.fmean(first), statistics.fmean(last)) if first and last else None


LEAST_KEPT_RATIO = value_of("validity.drift.least_kept_ratio")
"""Throughput that falls below this share of the first third's."""

LEAST_WAITING_RATIO = value_of("validity.drift.least_waiting_ratio")
"""... while at least as many jobs were blocked in I/O: they asked for as much, and got less."""

LEAST_BLOCKED_JOBS = value_of("validity.drift.least_blocked_jobs")


def _check_drift(reading: RunView) -> Claims:
    """A full write cache, used-up burst credits or heat reduce throughput, but not how many jobs are blocked.

    A mix of programs also changes during a run. If throughput falls because jobs ask for less, fewer jobs
    are blocked, and that is no finding.
    """
    active = reading.active
    moved = thirds([moment.device["total"] for moment in active])
    blocked = thirds(
        [
            None if moment.jobs_blocked is None else sum(moment.jobs_blocked[role] for role in ROLES)
            for moment in active
        ]
    )
    if moved is None or blocked is None:
        lacking = "the bytes at the devices" if moved is None else "what jobs waited for"
        known = FEW_WINDOWS if len(active) < FEWEST_WINDOWS else f"the samples do not contain {lacking}"
        return [Unknown(reading.why_not_drawn or known)]
    if moved[1] >= LEAST_KEPT_RATIO * moved[0] or blocked[1] < LEAST_BLOCKED_JOBS:
        return []
    if blocked[1] < LEAST_WAITING_RATIO * blocked[0]:
        return []
    return [
        Breach(
            f"devices moved {format_rate(moved[1])} in the last third of the active phase, after "
            f"{format_rate(moved[0])} in the first, while {format_ratio(blocked[1])} jobs were blocked "
            f"in I/O (before: {format_ratio(blocked[0])})",
            "run longer, past write caches and burst credits, and give the later part's figure",
        )
    ]


DRIFT = ValidityRule(
    "drift",
    _check_drift,
    in_recordings(_check_drift, "the files do not say how many jobs waited for storage"),
)


LEAST_FREE_RATIO = value_of("validity.space.least_free_ratio")
"""File systems and flash slow down when less than about a tenth is free."""


def _check_space(reading: RunView) -> Claims:
    """Free space at the start, less the space that the plan needs, as a share of the file system."""
    if not reading.facts.free_space:
        reason = "the free space before the start was not measured"
        return [Unknown(reason)]
    findings = []
    for space in reading.facts.free_space:
        left = space.free_bytes - (space.needed_bytes or 0)
        if space.size_bytes <= 0 or left >= LEAST_FREE_RATIO * space.size_bytes:
            continue
        findings.append(
            Breach(
                f"the file system of {', '.join(space.roles)} had {format_bytes(max(left, 0))} to "
                f"spare, {format_percent(max(left, 0) / space.size_bytes)} of its size",
                "free space there, or name larger directories with "
                + ", ".join(f"--{role}" for role in space.roles),
            )
        )
    return findings


SPACE = ValidityRule("space", _check_space, Unknown("no file says what was free before"))


LEAST_COVERAGE_RATIO = value_of("validity.coverage.least_ratio")
NO_LIBRARY_CURE = "install a C compiler, with which mawl builds its counters at first use"
NOT_SEEN_CURE = (
    "see what the jobs' remarks name: mapped files, io_uring, static and set-uid programs are not seen"
)


def _check_coverage(reading: RunView) -> Claims:
    """Below 0.95 of the kernel's bytes, shares and waits by role describe only a part of the I/O."""
    coverage = reading.summary.io.coverage_ratio
    if coverage is None:
        why = reading.summary.missing.get("io.coverage_ratio", "it was not measured")
        return [
            Breach(
                f"I/O by role is not known: {why}",
                NO_LIBRARY_CURE if "io.by_role" in reading.facts.missing else NOT_SEEN_CURE,
                "remark",
            ),
            Unknown(why, "remark"),
        ]
    if coverage >= LEAST_COVERAGE_RATIO:
        return []
    return [
        Breach(
            f"I/O by role covers {format_percent(coverage)} of the bytes that the kernel counted",
            NOT_SEEN_CURE,
        )
    ]


COVERAGE = ValidityRule("coverage", _check_coverage, Unknown("the files do not count I/O by role", "remark"))
